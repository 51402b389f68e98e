"""A check of token counts, for all formats that state a total."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.rules.violation import Vacuous, expect_equal, fail
from llm_conformance.server.apis.answer import count, inner
from llm_conformance.server.exchange import Exchange


def expect_sum(exchange: Exchange, usage: Mapping[str, Any], given_name: str, made_name: str) -> None:
    """Raise a Violation for counts that do not add up.

    A prompt, and an answer with content, must not have 0 tokens. Reasoning tokens must not be more than those of the
    answer. `given_name` is the field with the tokens of the prompt. `made_name` is the field with the tokens of the
    answer, including reasoning. Raises Vacuous if a count is missing.
    """
    given, made, total = (count(usage, name) for name in (given_name, made_name, "total_tokens"))
    if given is None or made is None or total is None:
        raise Vacuous("a count is missing; WIRE-7 or WIRE-8 reports that")
    expect_equal("total_tokens", total, given + made, hint=f"{given} + {made}")
    if given == 0:
        fail("a prompt of at least one token", f"{given_name} 0")
    if made == 0 and any(each.text or each.reasoning or each.calls for each in exchange.answers):
        fail("at least one token for the answer", f"{made_name} 0")
    reasoning = count(inner(usage, f"{made_name}_details"), "reasoning_tokens")
    if reasoning is not None and reasoning > made:
        whole = made_name.removesuffix("_tokens")
        fail(f"at most {made} reasoning tokens, which are a part of the {whole}", str(reasoning))
