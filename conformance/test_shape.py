"""SHP: what comes back has the shape of the canonical response."""

from __future__ import annotations

from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import fail


@rule("SHP-1")
def test_response_has_the_canonical_shape(exchange: Exchange) -> None:
    """What comes back validates against schemas/response.schema.json.

    Callers read fields, so a field of another type, a missing required one or a value outside a closed set is a
    failure even where its content could be guessed. Other rules do not read a field that fails here (S0-01, S4-10).
    """
    problems = exchange.response.problems
    if problems:
        where, message = problems[0]
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        fail("a valid response", f"{message}{more}", where=f"/{'/'.join(map(str, where))}")
