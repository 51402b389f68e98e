"""A fault that many conversations show, each with another value that is missing, is one cause and so one finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.contract import Call, LLMError, Response, StreamEvent, Usage
from llm_conformance.judging.causes import Cause, cause_of, kinds_of
from llm_conformance.judging.cell_judge import CellJudge
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.status import Status
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.api import PARTS
from tests.broken.base import FaultyResponse
from tests.broken.usage import FaultyUsage

LOST_FINISH = "expected a finish_reason; got null"
LOST_COUNT = "expected a token count; got null"
HIDDEN = 'expected an error, raised or as response.error; got response.completed with finish_reason "stop"'


class FinishReasonNeverRead(FaultyResponse):
    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, finish_reason=None)


class FilterTakenForAnEnd(FaultyResponse):
    def alter(self, response: Response, call: Call) -> Response:
        if response.finish_reason in {"stop", "content_filter"}:
            return replace(response, finish_reason="stop")
        return replace(response, finish_reason=None)


class DetailsLost(FaultyUsage):
    def count(self, usage: Usage) -> Usage:
        details: dict[str, Any] = dict.fromkeys(PARTS)
        return replace(usage, **details)


class CacheLostAndReasoningDoubled(FaultyUsage):
    def count(self, usage: Usage) -> Usage:
        reasoning = None if usage.reasoning_tokens is None else 2 * usage.reasoning_tokens
        return replace(usage, cached_tokens=None, reasoning_tokens=reasoning)


class ErrorsHidden(ReferenceAdapters):
    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Iterator[StreamEvent]:
        try:
            yield from super().parse_stream(chunks, call)
        except LLMError:
            answer = Response(message="", provider=call.provider, model=call.model, finish_reason="stop", usage=None)
            yield StreamEvent("response.completed", response=answer)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


def causes(
    adapter: ReferenceAdapters, rule: str, scenarios: list[Scenario], runner: Runner
) -> dict[str, tuple[str, ...]]:
    """Return the kinds of the failures of a rule in the scenarios of OpenAI's chat completions, by cause."""
    described, judge = declarations.describe("own", adapter), CellJudge(runner, Effort(0))
    found: dict[str, list[Cause]] = {}
    for scenario in scenarios:
        if str(scenario.api) != "openai:chat" or scenario.over_http:
            continue
        for mode in scenario.modes:
            cell = Cell(described, scenario, mode, "parse" if mode == "json" else "parse_stream")
            for each in judge.judge(cell, [catalogue()[rule].rule]):
                if each.verdict.status == Status.FAIL:
                    cause = cause_of(each.verdict.to_dict())
                    found.setdefault(cause.text, []).append(cause)
    return {text: kinds_of(alike) for text, alike in found.items()}


def test_a_finish_reason_that_is_never_read_is_one_cause_for_all_words(
    scenarios: list[Scenario], runner: Runner
) -> None:
    words = ('"content_filter"', '"length"', '"stop"', '"stop"/"tool_calls"', '"tool_calls"')
    assert causes(FinishReasonNeverRead(), "FIN-1", scenarios, runner) == {LOST_FINISH: words}


def test_a_wrong_word_is_another_cause(scenarios: list[Scenario], runner: Runner) -> None:
    found = causes(FilterTakenForAnEnd(), "FIN-1", scenarios, runner)
    wrong = 'expected finish_reason "content_filter"; got "stop"'
    assert found == {LOST_FINISH: ('"length"', '"tool_calls"'), wrong: ()}


def test_details_of_the_token_counts_that_are_all_lost_are_one_cause(scenarios: list[Scenario], runner: Runner) -> None:
    assert causes(DetailsLost(), "USE-5", scenarios, runner) == {LOST_COUNT: tuple(sorted(PARTS))}


def test_a_wrong_count_is_another_cause_than_a_lost_one(scenarios: list[Scenario], runner: Runner) -> None:
    found = causes(CacheLostAndReasoningDoubled(), "USE-5", scenarios, runner)
    assert found == {
        LOST_COUNT: ("cached_tokens",),
        "expected cached_tokens N, reasoning_tokens N; got cached_tokens null, reasoning_tokens N": (),
    }


def test_hidden_errors_are_one_cause_for_all_classes(scenarios: list[Scenario], runner: Runner) -> None:
    found = causes(ErrorsHidden(), "STR-6", scenarios, runner)
    assert found.keys() == {HIDDEN}
    assert len(found[HIDDEN]) > 3
