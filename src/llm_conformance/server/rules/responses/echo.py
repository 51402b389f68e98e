"""SRV-66: the settings of the request that a response repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.compare import show
from llm_conformance.rules.violation import Vacuous, fail
from llm_conformance.server.apis.answer import inner, objects
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule


@rule("SRV-66", harm="wrong", apis=("responses",))
def settings_are_those_of_the_request(exchange: Exchange) -> None:
    """A response repeats `tool_choice`, `parallel_tool_calls` and the functions in `tools` of its request.

    Programs keep responses, and read in them what the model was allowed to do.

    Source: https://platform.openai.com/docs/api-reference/responses/object ("tools": "An array of tools the model may
    call while generating a response", "tool_choice": "How the model should select which tool (or tools) to use when
    generating a response", "parallel_tool_calls": "Whether to allow the model to run tool calls in parallel").
    """
    asked = {name: exchange.request[name] for name in _SETTINGS if name in exchange.request}
    responses = [inner(each, "response") if exchange.streamed else each for each in exchange.documents]
    told = [(name, each[name], asked[name]) for each in responses for name in asked if name in each]
    if not told:
        raise Vacuous("the request has none of these settings, or the response repeats none; WIRE-7 reports that")
    for name, repeated, wanted in told:
        if name == "tools":
            wanted = _names(wanted)
            repeated = [each for each in _names(repeated) if each in wanted]  # OpenAI may add tools
        if isinstance(wanted, Mapping) and isinstance(repeated, Mapping):
            repeated = {key: repeated.get(key) for key in wanted}  # further fields are allowed
        if repeated != wanted:
            fail(f"the {name} of the request, {show(wanted)}", show(repeated), name)


_SETTINGS = ("parallel_tool_calls", "tool_choice", "tools")


def _names(tools: Any) -> list[Any]:
    """Return the names of functions. Their schemas are not compared, because OpenAI completes them."""
    return sorted(str(each.get("name")) for each in objects(tools) if each.get("type") == "function")
