"""The counts of summaries may be added to those of the answer, or left out."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from conformance import test_usage
from llm_conformance.contract import Usage
from llm_conformance.rules.violation import Violation
from llm_conformance.scenarios.derive import normalised_with_compactions
from llm_conformance.wire.providers.table import table

MESSAGES = table()["anthropic", "messages"]
ANSWER = {"type": "message", "input_tokens": 638, "output_tokens": 46, "cache_read_input_tokens": 5}
SUMMARY = {"type": "compaction", "input_tokens": 60391, "output_tokens": 214, "cache_read_input_tokens": 7}
ADVISOR = {"type": "advisor_message", "input_tokens": 2534, "output_tokens": 41}
COUNTS = {"input_tokens": 638, "output_tokens": 46, "cache_read_input_tokens": 5}


@pytest.mark.parametrize(
    ("iterations", "summed"),
    [
        ([SUMMARY, ANSWER], (638 + 5 + 60391 + 7, 46 + 214, 12)),
        ([SUMMARY, ANSWER, ADVISOR], (638 + 5 + 60391 + 7, 46 + 214, 12)),
        ([ANSWER, ADVISOR], None),
        ([ANSWER], None),
        (None, None),
    ],
)
def test_summaries_alone_are_added(iterations: Any, summed: tuple[int, int, int] | None) -> None:
    usage = normalised_with_compactions({**COUNTS, "iterations": iterations}, MESSAGES)
    assert (usage and (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)) == summed


@pytest.mark.parametrize(
    ("prompt", "completion", "cached", "wrong"),
    [
        (643, 46, 5, ()),
        (61041, 260, 12, ()),
        (61041, 46, 5, ("USE-3",)),
        (643, 260, 5, ("USE-3",)),
        (61041, 260, 5, ("USE-5",)),
        (643, 46, 12, ("USE-5",)),
    ],
)
def test_all_counts_have_the_summaries_or_none(
    prompt: int, completion: int, cached: int, wrong: tuple[str, ...]
) -> None:
    raw = {**COUNTS, "iterations": [SUMMARY, ANSWER]}
    expected = SimpleNamespace(
        usage=MESSAGES.normalise(raw), usage_with_compactions=normalised_with_compactions(raw, MESSAGES)
    )
    usage = Usage(prompt_tokens=prompt, completion_tokens=completion, total_tokens=None, cached_tokens=cached)
    adapter = SimpleNamespace(capabilities=frozenset({"usage_details"}))
    exchange: Any = SimpleNamespace(
        expected=expected,
        response=SimpleNamespace(usage=usage),
        adapter=adapter,
        scenario=SimpleNamespace(api=MESSAGES),
        streamed=False,
    )
    rules = {
        "USE-3": test_usage.test_prompt_and_completion_are_the_providers,
        "USE-5": test_usage.test_parts_are_the_providers,
    }
    for name, judge in rules.items():
        with pytest.raises(Violation) if name in wrong else nullcontext():
            judge(exchange)
