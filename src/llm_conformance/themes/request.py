"""The requests of generated conversations, in the form of their APIs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.formats.generators import GENERATORS
from llm_conformance.formats.requests import request_of
from llm_conformance.pointers import at_pointer, placed
from llm_conformance.scenarios.round_trip import matches
from llm_conformance.themes.conversation import Conversation
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.tool_names import with_tool_names


def params_of(api: Api, mode: Mode, conversation: Conversation) -> Mapping[str, Any]:
    """Return the parameters of a call, including those that the API needs."""
    only_in_streams = conversation.stream_params if mode == "stream" else {}
    return {**api.needed_params, **conversation.params, **only_in_streams}


def request_for(api: Api, mode: Mode, conversation: Conversation) -> dict[str, Any]:
    """Return the body of the request that makes a call, with all of its earlier answers."""
    answers = {
        position: [(each.id, each.name) for each in before.expected.tool_calls]
        for position, before in conversation.before.items()
    }
    messages = list(with_tool_names(conversation.messages, answers))
    call = {
        "model": conversation.model,
        "messages": messages,
        "tools": conversation.tools,
        "params": params_of(api, mode, conversation),
    }
    if not conversation.turns:
        return request_of(api, call, mode)
    history = GENERATORS[api.wire].history
    asked: list[Any] = []
    start = 0
    for position, turn in sorted(conversation.turns.items()):
        asked += request_of(api, call | {"messages": messages[start:position]}, mode)[history]
        asked += turn
        start = position + 1
    last = request_of(api, call | {"messages": messages[start:]}, mode)
    request = {**last, history: [*asked, *last[history]]}
    round_trip = conversation.expected.round_trip
    for pointer, value in (round_trip.sent if round_trip else {}).items():
        if not matches(at_pointer(request, pointer), value):
            request = placed(request, pointer, value)
    return request
