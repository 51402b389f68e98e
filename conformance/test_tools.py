"""TOOL: the tool calls that the client must answer come back as the model made them."""

from __future__ import annotations

from collections import Counter

from llm_conformance.compare import as_json
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import rule
from llm_conformance.rules.violation import expect_equal, expect_text, fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode


def _states_tool_calls(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "tool_calls" in expected.stated


@rule("TOOL-1", capability="tools", when=_states_tool_calls)
def test_tool_calls_come_back_as_made(exchange: Exchange) -> None:
    """Tool calls keep count, order, id, name and arguments, in both modes; empty arguments become `{}`.

    The client runs what these calls say. They may be parallel, with their argument pieces interleaved, and a call
    without arguments is still a call. If the provider sends no id, the id is None or a unique new one. Calls of the
    provider's hosted tools are not for the client.

    Source: S3-39, S4-08.
    """
    actual, expected = exchange.response.tool_calls, exchange.expected.tool_calls
    expect_equal("the names of the tool calls", [call.name for call in actual], [call.name for call in expected])
    for number, (call, expected_call) in enumerate(zip(actual, expected, strict=True)):
        where = f"tool call {number}"
        if expected_call.id is not None:
            expect_equal("id", call.id, expected_call.id, where=where)
        if exchange.scenario.api.tool_arguments == "object":
            expect_equal("arguments", as_json(call.arguments), as_json(expected_call.arguments), where=where)
        else:
            expect_text("the arguments", call.arguments, expected_call.arguments, where=where)
    ids = Counter(call.id for call in actual if call.id is not None)
    repeated = [id for id, count in ids.items() if count > 1]
    if repeated:
        fail("unique ids of tool calls", f"{repeated[0]!r} more than once")
