"""Give a bare recording the call that its request makes, so that `complete` and `stream` can be judged.

A bare recording has no scenario file. Its request repeats the earlier answers of the model. An answer that is plain
text stays a message; in some formats, so does an answer with tool calls. For any other earlier answer, the suite first
calls the adapter, and sends it this answer in the provider's form. The object that the adapter returns then goes into
the call. No rule judges these first calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from llm_conformance.formats.chat import calls as chat
from llm_conformance.formats.cohere import calls as cohere
from llm_conformance.formats.cohere_v1 import calls as cohere_v1
from llm_conformance.formats.completions import calls as completions
from llm_conformance.formats.converse import calls as converse
from llm_conformance.formats.gemini import calls as gemini
from llm_conformance.formats.interactions import calls as interactions
from llm_conformance.formats.messages import calls as messages
from llm_conformance.formats.ollama import calls as ollama
from llm_conformance.formats.recorded_call import CannotAskError, EarlierAnswer, RecordedCall
from llm_conformance.formats.responses import calls as responses
from llm_conformance.formats.workers_ai import calls as workers_ai
from llm_conformance.pointers import at_pointer
from llm_conformance.scenarios.bare_expected import Undecided, expected_from_bytes, think_profile
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api

_Read = Callable[[Mapping[str, Any]], RecordedCall]
_Answer = Callable[[Sequence[Any], str], Mapping[str, Any]]

_CALLS: Mapping[str, tuple[_Read, _Answer, str]] = {
    "chat": (chat.read, chat.answer, chat.HISTORY),
    "cohere": (cohere.read, cohere.answer, cohere.HISTORY),
    "cohere_v1": (cohere_v1.read, cohere_v1.answer, cohere_v1.HISTORY),
    "completions": (completions.read, completions.answer, completions.HISTORY),
    "converse": (converse.read, converse.answer, converse.HISTORY),
    "gemini": (gemini.read, gemini.answer, gemini.HISTORY),
    "interactions": (interactions.read, interactions.answer, interactions.HISTORY),
    "messages": (messages.read, messages.answer, messages.HISTORY),
    "ollama": (ollama.read, ollama.answer, ollama.HISTORY),
    "responses": (responses.read, responses.answer, responses.HISTORY),
    "workers_ai": (workers_ai.read, workers_ai.answer, workers_ai.HISTORY),
}
"""Maps a wire format to (reader of calls, writer of earlier answers, field of a request with the history)."""

_MALFORMED = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What readers raise for requests that are not of the documented form. Requests are untrusted input."""


def recorded_call(request: Mapping[str, Any], wire: str) -> RecordedCall:
    """Return the call that a request of the format `wire` makes. Raises CannotAskError."""
    read, _, _ = _CALLS[wire]
    try:
        return read(request)
    except _MALFORMED as error:
        raise CannotAskError(f"the request is not of the documented form: {type(error).__name__}") from error


def asked(scenario: Scenario) -> Scenario:
    """Return a bare recording with the call that its request makes, or with the reason why it makes none."""
    ((mode, interaction),) = scenario.interactions.items()
    if scenario.cannot_be_asked:
        return scenario
    if not interaction.request:
        return replace(scenario, cannot_be_asked="the request was not recorded")
    api = scenario.api
    request = api.read_request(interaction.request)
    try:
        call = recorded_call(request, api.wire)
        earlier = _earlier(scenario, request, call)
    except CannotAskError as reason:
        return replace(scenario, cannot_be_asked=str(reason))
    switches = {pointer: at_pointer(request, pointer) for pointer in api.switches}
    return replace(
        scenario,
        messages=tuple(map(_stated, call.messages)),
        tools=tuple(call.tools),
        params={mode: call.params},
        earlier=earlier,
        expected={mode: replace(scenario.expected[mode], switches=switches)},
    )


def _stated(message: Mapping[str, Any] | EarlierAnswer) -> Mapping[str, Any]:
    return message.message if isinstance(message, EarlierAnswer) else message


def _earlier(scenario: Scenario, request: Mapping[str, Any], call: RecordedCall) -> Mapping[int, Scenario]:
    """Map the index of each earlier answer to its scenario.

    In that scenario, `earlier` has the answers before this one.
    """
    found: dict[int, Scenario] = {}
    for position, message in enumerate(call.messages):
        if isinstance(message, EarlierAnswer):
            found[position] = _call_for(message, position, scenario, request, call, dict(found))
    return found


def _call_for(
    answer: EarlierAnswer,
    position: int,
    scenario: Scenario,
    request: Mapping[str, Any],
    call: RecordedCall,
    before: Mapping[int, Scenario],
) -> Scenario:
    api, model = scenario.api, scenario.model
    _, write, history = _CALLS[api.wire]
    body = json.dumps(write(answer.items, model), ensure_ascii=False).encode()
    until = {name: value for name, value in request.items() if name not in ("stream", "stream_options")}
    until |= {history: list(request[history][: answer.at]), **api.stream_field(streamed=False)}
    interaction = Interaction(_plain_uri(api, model), until, 200, {"content-type": "application/json"}, body)
    profile = think_profile(interaction, api, model)
    expected = expected_from_bytes(interaction, api, model, profile)
    if isinstance(expected, Undecided):
        raise CannotAskError(f"an earlier answer cannot be made from the request: {expected.why}")
    return replace(
        scenario,
        id=f"{scenario.id}@{answer.at}",
        think_profile=profile,
        messages=tuple(map(_stated, call.messages[:position])),
        tools=tuple(call.tools),
        params={"json": {name: value for name, value in call.params.items() if name != "stream_options"}},
        interactions={"json": interaction},
        expected={"json": expected},
        earlier=before,
    )


def _plain_uri(api: Api, model: str) -> str:
    return re.sub(r"\{\w+\}", "0", api.base_urls[0]) + api.path_for(streamed=False, model=model)
