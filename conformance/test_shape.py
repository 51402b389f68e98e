"""SHP: the response has the canonical shape."""

from __future__ import annotations

from llm_conformance.contract.errors import error_for_status
from llm_conformance.rules import shapes
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import fail

MOST_PROBLEMS = 3
"""How many problems of a response a failure lists."""


@rule("SHP-1", harm="lost")
def test_response_has_the_canonical_shape(exchange: Exchange) -> None:
    """The response validates against schemas/response.schema.json.

    The caller gets no answer, or one that its code cannot read: a field of the wrong type, a missing required field or
    a value outside a closed set. Other rules do not read a field that fails here. If a call raises, hangs or returns
    something that is no response, this rule fails and the others are blocked.

    Source: S0-01, S4-10.
    """
    outage = exchange.scenario.outage
    asked_once = outage is not None and exchange.outcome.attempts == 1
    named = f"{error_for_status(outage.status).__name__} for the {outage.status}, or a second request" if outage else ""
    exchange.expect_no_fault(named if asked_once else "an answer")
    if exchange.streamed and not exchange.events and not exchange.judged_as_stream:
        fail("an answer", "nothing")
    problems = exchange.response.problems
    if problems:
        pointer = f"/{'/'.join(map(str, problems[0][0]))}"
        fail("a valid response", f"one in which {shapes.sentence(problems, MOST_PROBLEMS)}", where=pointer)
