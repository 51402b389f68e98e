"""Switches: fields of a request that ask for thinking, citations, sound, JSON, several answers or token counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.formats.turns import objects
from llm_conformance.pointers import at_pointer
from llm_conformance.wire.providers.api import Api

Request = Mapping[str, Any]

_OFF = ("off", "none", "disabled", "minimal", "false")
"""Words that turn thinking off, or nearly off."""


@dataclass(frozen=True)
class Switch:
    """Something that a field of a request asks for.

    Attributes:
        name: Its name in messages.
        capability: The capability that an adapter needs to ask for it; None if every adapter must be able to.
        read: Returns what a request asks for; an empty set if it does not ask.
    """

    name: str
    capability: str | None
    read: Callable[[Request], frozenset[str]]


def missing_switch(sent: Request, recorded: Request, api: Api, *, thinking: bool, usage: bool) -> Switch | None:
    """Return the first switch that the recorded request sets and the sent one does not; None if there is none.

    `thinking` tells whether to compare thinking switches; `usage`, whether to compare the switch for the counts of a
    stream.
    """
    switches = [each for each in _switches_of(api) if thinking or each.capability != "reasoning"]
    if usage:
        switches.append(_COUNTS)
    return next((each for each in switches if not each.read(recorded) <= each.read(sent)), None)


def set_switches(request: Request, api: Api) -> list[Switch]:
    """Return the switches that a request sets, except the one for token counts."""
    return [each for each in _switches_of(api) if each.read(request)]


def _switches_of(api: Api) -> list[Switch]:
    return [*_SWITCHES, Switch("thinking", "reasoning", lambda request: _thinking(request, api))]


def _at(name: str, capability: str | None, reading: Callable[[Any], frozenset[str]], *pointers: str) -> Switch:
    """Return a switch that may be at any of the `pointers`."""
    return Switch(
        name, capability, lambda request: frozenset[str]().union(*(reading(at_pointer(request, p)) for p in pointers))
    )


def capability_at(pointer: str, value: Any, api: Api) -> str | None:
    """Return the capability that an adapter needs for the part of a request at a pointer; None if it needs none."""
    if pointer in api.switches or any(place.startswith(f"{pointer}/") for place in api.switches):
        return "reasoning"
    if "reasoning.encrypted_content" in (value if isinstance(value, list) else ()):
        return "round_trip"
    return next((capability for part, capability in _CAPABILITIES.items() if part in pointer), None)


_CAPABILITIES = {
    **{"/citation": "annotations", "/document": "annotations", "/searchResult": "annotations"},
    **{"/web_search_options": "annotations", "/plugins": "annotations", "enable_web": "annotations"},
    **{"/modalities": "audio", "odalities/": "audio", "/audio": "audio"},
    **{"/tools/": "tools", "/functions/": "tools", "/mcp_servers/": "tools", "/tool_c": "tools", "/toolC": "tools"},
}
"""Maps a part of a JSON pointer into a request to a capability."""

_ASKED = frozenset({"asked"})
_NOT_ASKED = frozenset[str]()


def _true(value: Any) -> frozenset[str]:
    return _ASKED if value else _NOT_ASKED


def _given(value: Any) -> frozenset[str]:
    """Return whether a value asks for something. Even an empty object does: `web_search_options: {}`."""
    return _NOT_ASKED if value is None or value is False else _ASKED


def _several(value: Any) -> frozenset[str]:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return frozenset({str(value)}) if is_number and value > 1 else _NOT_ASKED


def _media(value: Any) -> frozenset[str]:
    words = value if isinstance(value, list) else []
    return frozenset(str(word).lower() for word in words) - {"text"}


def _json(value: Any) -> frozenset[str]:
    """Return whether a value asks for JSON, in any form: `json_object`, `json_schema`, a schema, or a MIME type."""
    kind = value.get("type", "json") if isinstance(value, Mapping) else value or ""
    return _ASKED if "json" in str(kind) or kind == "object" else _NOT_ASKED


def _citations(request: Request) -> frozenset[str]:
    """Return whether any document or search result of Anthropic and Bedrock asks for citations."""
    for message in objects(request.get("messages")):
        for block in objects(message.get("content")):
            for place in (block, *(each for each in block.values() if isinstance(each, Mapping))):
                if at_pointer(place, "/citations/enabled"):
                    return _ASKED
    return _NOT_ASKED


def _thinking(request: Request, api: Api) -> frozenset[str]:
    """Return whether any thinking switch of the API is on. RPL-3 compares their values."""
    values = (at_pointer(request, pointer) for pointer in api.switches)
    return _ASKED if any(value and str(value).lower() not in _OFF for value in values) else _NOT_ASKED


_SWITCHES = (
    _at("sound or images in the answer", "audio", _media, "/modalities", "/response_modalities"),
    _at("sound or images in the answer", "audio", _media, "/generationConfig/responseModalities"),
    _at("a voice", "audio", _given, "/audio"),
    Switch("citations", "annotations", _citations),
    _at("citations", "annotations", _given, "/citation_options"),
    _at("a web search", "annotations", _given, "/web_search_options", "/plugins", "/search_parameters"),
    _at("a web search", "annotations", _true, "/enable_search", "/venice_parameters/enable_web_search"),
    _at("servers with tools", "tools", _true, "/mcp_servers"),
    _at(
        "JSON",
        None,
        _json,
        *("/response_format", "/text/format", "/format", "/output_format", "/output_config/format"),
        *("/generationConfig/responseMimeType", "/generationConfig/responseSchema"),
        *("/generationConfig/responseJsonSchema", "/response_mime_type"),
    ),
    _at("several answers", None, _several, "/n", "/generationConfig/candidateCount"),
    _at("log probabilities", None, _true, "/logprobs", "/generationConfig/responseLogprobs"),
    _at("an answer in the background", None, _true, "/background"),
    _at("a guardrail", None, _true, "/guardrailConfig"),
)
_COUNTS = _at("token counts of the stream (stream_options.include_usage)", None, _true, "/stream_options/include_usage")
