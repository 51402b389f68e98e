"""TOOL: the tool calls that the client must answer come back as the model made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from llm_conformance.compare import as_json
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import in_response, rule
from llm_conformance.rules.violation import Blocked, expect_equal, expect_text, fail
from llm_conformance.scenarios.expected import Expected, ExpectedToolCall
from llm_conformance.wire.interaction import Mode


def _states_tool_calls(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "tool_calls" in expected.stated


def _states_ids(expected: Expected, _mode: Mode) -> bool:
    return bool(expected.tool_calls)


@rule("TOOL-1", harm="wrong", capability="tools", shown=in_response("tool_calls"), when=_states_tool_calls)
def test_tool_calls_come_back_as_made(exchange: Exchange) -> None:
    """Tool calls keep their number, order, names and arguments, in both modes; empty arguments become `{}`.

    The client runs a tool that the model did not call, runs a tool with the wrong arguments, or skips a call. Calls may
    be parallel, with their argument pieces interleaved, and a call without arguments is still a call. Calls of the
    provider's hosted tools are not for the client. But the client runs some tools that the provider defines, such as a
    shell. The arguments of such a call are the object that says what to do, or an object that contains this object.

    Source: S3-39, S4-08.
    """
    actual, expected = exchange.response.tool_calls, exchange.expected.tool_calls
    names = [call.name for call in actual]
    expect_equal("the names of the tool calls", names, list(_expected_names(expected, names)))
    for number, (call, expected_call) in enumerate(zip(actual, expected, strict=True)):
        where = f"tool call {number}"
        if expected_call.has_object:
            _expect_object(call.arguments, expected_call.arguments, where)
        elif exchange.scenario.api.tool_arguments == "object":
            expect_equal("arguments", as_json(call.arguments), as_json(expected_call.arguments), where=where)
        else:
            expect_text("the arguments", call.arguments, expected_call.arguments, where=where)


@rule("TOOL-2", harm="refused next turn", capability="tools", shown=in_response("tool_calls"), when=_states_ids)
def test_tool_calls_keep_their_ids(exchange: Exchange) -> None:
    """A tool call has the provider's id; if the provider sends none, the id is None or a new one that is unique.

    The provider refuses the tool's result, because the result belongs to no call of the answer. Or the provider takes
    it for the result of another call.

    Source: S3-39.
    """
    actual, expected = exchange.response.tool_calls, exchange.expected.tool_calls
    if len(actual) != len(expected):
        raise Blocked("tool calls are missing or made up; TOOL-1 reports that")
    for number, (call, expected_call) in enumerate(zip(actual, expected, strict=True)):
        if expected_call.id is not None:
            expect_equal("id", call.id, expected_call.id, where=f"tool call {number}")
    ids = Counter(call.id for call in actual if call.id is not None)
    repeated = [id for id, count in ids.items() if count > 1]
    if repeated:
        fail("unique ids of tool calls", f"{repeated[0]!r} more than once")


def _expected_names(calls: Sequence[ExpectedToolCall], actual: Sequence[str]) -> Iterator[str]:
    """Yield the expected name of each call. If several names are correct and one of them came back, yields that one."""
    for call, name in zip_longest(calls, actual[: len(calls)]):
        yield name if name in call.other_names else call.name


def _expect_object(actual: str, expected: str, where: str) -> None:
    found, wanted = as_json(actual), as_json(expected)
    if not (isinstance(found, Mapping) and wanted in found.values()):
        expect_equal("arguments", found, wanted, where=where)
