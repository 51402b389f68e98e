"""Compare a request with the recorded requests: the path, the key, and what the body asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.formats.differences import Difference, Scope, asked_capabilities, difference
from llm_conformance.formats.requests import request_of
from llm_conformance.formats.switches import capability_at
from llm_conformance.pointers import at_pointer
from llm_conformance.scenarios.round_trip import matches
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import MODES, Mode
from llm_conformance.wire.providers.api import Api

_COMMON_PREFIXES = ("/v1", "/v1beta", "/api", "/api/v1", "/openai", "/openai/v1", "/openai/deployments/{model}")
"""Prefixes that libraries add to the base URL, for servers that are compatible with another provider's API."""

_OWN_PREFIX = re.compile(r"^/(?:v\d\w*|api)(?=/)")
"""A prefix of an API's path that some libraries take for a part of the base URL."""


_CONVERSATION = frozenset({"messages", "input", "contents", "system", "instructions", "systemInstruction", "documents"})
"""Fields that are always compared as a conversation, even if a scenario names pointers into them."""
_TOOL_POINTER = re.compile(r"/tools/\d+(?P<declaration>/functionDeclarations/\d+)?(?P<rest>/.*)?")


def modes_at(target: str, scenario: Scenario) -> list[Mode]:
    """Return the modes that a path and query may request. Most APIs have the same path for both.

    If no documented path matches, paths with other prefixes are tried (`paths_with_other_prefixes`).
    """
    api, model = scenario.api, scenario.model
    for paths_of in (accepted_paths, paths_with_other_prefixes):
        modes = [mode for mode in MODES if any(_is_at(target, path) for path in paths_of(api, mode, model))]
        if modes:
            return modes
    return []


def accepted_paths(api: Api, mode: Mode, model: str) -> Iterator[str]:
    """Yield the paths that may follow the base URL: the API's paths, alone and after a part of a base URL (`/v1`)."""
    shortest = api.base_urls[0]
    prefixes = [base.removeprefix(shortest) for base in api.base_urls if base.startswith(shortest)]
    for path in api.paths(mode == "stream"):
        for prefix in prefixes:
            yield prefix + path.replace("{model}", model)


def paths_with_other_prefixes(api: Api, mode: Mode, model: str) -> Iterator[str]:
    """Yield the paths of libraries that add a prefix to the base URL or leave out the API's own prefix.

    A library may hard-code `/v1` or a part of the provider's base URL. The path then has this part twice or not at all.
    Such a library is right about the provider's URL, and wrong only about the URL of the replay.
    """
    documented = dict.fromkeys(run for base in api.base_urls for run in _runs_of_segments(base))
    for template in api.paths(mode == "stream"):
        path = template.replace("{model}", model)
        without_own = _OWN_PREFIX.sub("", path)
        yield without_own
        for prefix in (*documented, *_COMMON_PREFIXES):
            yield prefix.replace("{model}", model) + path
        for prefix in documented:
            yield prefix + without_own


def _runs_of_segments(base_url: str) -> Iterator[str]:
    """Yield each run of segments of a base URL's path: `/openai/v1`, `/openai` and `/v1`."""
    segments = base_url.partition("://")[2].split("/")[1:]
    for start in range(len(segments)):
        for end in range(start + 1, len(segments) + 1):
            yield "".join(f"/{segment}" for segment in segments[start:end])


def recorded_requests(scenario: Scenario) -> str:
    """Describe the requests that have a recorded response."""
    paths = (path for mode in scenario.modes for path in accepted_paths(scenario.api, mode, scenario.model))
    return " or ".join(f"POST {{base_url}}{path}" for path in dict.fromkeys(paths))


def has_key(target: str, headers: Mapping[str, str], api: Api) -> bool:
    """Return True if a request has the call's API key where the provider reads it, or if the provider needs no key."""
    in_query = f"key={CANARY_KEY}" in target.partition("?")[2].split("&")
    sent = {name.lower(): str(value) for name, value in headers.items()}
    return in_query or not api.key_headers or any(CANARY_KEY in sent.get(name, "") for name in api.key_headers)


def asks_otherwise(
    sent: Mapping[str, Any], scenario: Scenario, mode: Mode, capabilities: Collection[str]
) -> Difference | None:
    """Return where the body of a request differs from the call; None if the recorded answer fits the request.

    The body may ask for the same as the call, or for the same as the recorded request, which may ask for more.
    `capabilities` are those that the adapter declares.
    """
    recorded, api = scenario.interactions[mode].request, scenario.api
    # If the recorded body has no model or the path has one, the model was already matched with the path.
    has_model = recorded.get("model") == scenario.model and not api.names_model_in_path
    if has_model and sent.get("model") != scenario.model:
        return _different_value(sent, recorded, "/model", api)
    scope = _scope(scenario, mode, capabilities)
    found = None
    for reference in _references(scenario, mode):
        other = difference(sent, reference, api, scope)
        if other is None:
            break
        found = found or other
    else:
        return found
    pointers = (pointer for pointer in scenario.match if pointer.split("/")[1] not in _CONVERSATION)
    return next(filter(None, (_different_value(sent, recorded, pointer, api) for pointer in pointers)), None)


def needed_capabilities(scenario: Scenario, request: Mapping[str, Any]) -> frozenset[str]:
    """Return the capabilities that an adapter may need to make the call."""
    earlier = {"round_trip"} if scenario.earlier else set()
    return frozenset(earlier | set(asked_capabilities(request, scenario.api)))


def _scope(scenario: Scenario, mode: Mode, capabilities: Collection[str]) -> Scope:
    """Return what is compared.

    If the adapter declares `round_trip`, RPL-1, RPL-2 and RPL-3 judge it. What they judge is then not compared here.
    """
    expected = scenario.expected[mode]
    round_trip, declared = expected.round_trip, "round_trip" in capabilities
    return Scope(
        answers=round_trip is None or not declared,
        follows_answers=bool(scenario.earlier),
        answer_texts=not any(map(_may_move_text, scenario.earlier.values()))
        and not (round_trip and round_trip.allowed),
        thinking=not declared,
        usage=mode == "stream" and expected.usage is not None,
    )


def _may_move_text(answer: Scenario) -> bool:
    """Return True if an earlier answer is of a bare recording, and its text may have reasoning.

    Adapters may send this reasoning back in another place.
    """
    (expected,) = answer.expected.values() if answer.is_bare else (None,)
    return expected is not None and (expected.reasoning_source == "tag" or "message" not in expected.stated)


def _references(scenario: Scenario, mode: Mode) -> Iterator[Mapping[str, Any]]:
    """Yield requests that ask the same as the call: the recorded request, then those written from the call's fields.

    The recorded request comes first, because nearly all requests fit it.
    """
    yield scenario.interactions[mode].request
    if not scenario.earlier:
        yield from _written(scenario, mode)


def _written(scenario: Scenario, mode: Mode) -> Iterator[Mapping[str, Any]]:
    """Yield the requests written from the call's fields. Messages with parts in the provider's form give no request."""
    params = scenario.params[mode]
    call = {
        "model": scenario.model,
        "messages": scenario.messages,
        "tools": scenario.tools,
        "params": params,
    }
    try:
        written = request_of(scenario.api, call, mode)
        conversation = request_of(scenario.api, call | {"params": {}}, mode)
    except (KeyError, TypeError):
        return
    tools = [*_list(conversation.get("tools")), *_list(params.get("tools"))]
    own = {"tools": tools} if tools else {}
    yield written | own
    yield {**written, **conversation, **own}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _different_value(sent: Mapping[str, Any], recorded: Mapping[str, Any], pointer: str, api: Api) -> Difference | None:
    """Return the difference at a JSON pointer into a request body; None if there is none."""
    actual, expected = at_pointer(sent, pointer), at_pointer(recorded, pointer)
    equal = actual == expected or matches(actual, expected) or _has_all_words(actual, expected)
    is_name = pointer.startswith("/tools/") and pointer.rpartition("/")[2] in ("name", "type")
    if equal or is_name or _is_in_any_tool(sent, pointer, expected):
        return None
    here, there = (f"{pointer} = {json.dumps(value)[:200]}" for value in (actual, expected))
    return Difference(there, here, capability_at(pointer, expected, api))


def _is_at(target: str, path: str) -> bool:
    """Return True if a target has this path and its query. A `{project}` in the path fits any single segment."""
    target_path, _, target_query = target.partition("?")
    path, _, query = path.partition("?")
    if "{" in path:
        pattern = "[^/]+".join(map(re.escape, re.split(r"\{\w+\}", path)))
        has_path = re.fullmatch(pattern, unquote(target_path)) is not None
    else:
        has_path = unquote(target_path) == path
    return has_path and set(filter(None, query.split("&"))) <= set(target_query.split("&"))


def _has_all_words(sent: Any, recorded: Any) -> bool:
    """Return True if a list of strings (`include`, `modalities`) has at least the recorded strings."""
    lists = isinstance(sent, list) and isinstance(recorded, list)
    return lists and all(isinstance(word, str) and word in sent for word in recorded)


def _is_in_any_tool(sent: Mapping[str, Any], pointer: str, expected: Any) -> bool:
    """Return True if the pointer leads to the expected value in any of the tools.

    The order of tools does not matter.
    """
    match = _TOOL_POINTER.fullmatch(pointer)
    tools = sent.get("tools")
    if not match or not isinstance(tools, list):
        return False
    if match["declaration"]:
        lists = (tool.get("functionDeclarations") for tool in tools if isinstance(tool, dict))
        tools = [tool for declarations in lists if isinstance(declarations, list) for tool in declarations]
    return any(matches(at_pointer(tool, match["rest"] or ""), expected) for tool in tools)
