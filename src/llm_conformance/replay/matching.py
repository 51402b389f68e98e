"""Compare a request with the recorded ones: path, key and body."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.pointers import at_pointer
from llm_conformance.scenarios.round_trip import matches
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import MODES, Mode
from llm_conformance.wire.providers.api import Api

_COMMON_PREFIXES = ("/v1", "/v1beta", "/api", "/api/v1", "/openai", "/openai/v1", "/openai/deployments/{model}")
"""What libraries add to the base URL for servers that are compatible with another provider's API."""

_OWN_PREFIX = re.compile(r"^/(?:v\d\w*|api)(?=/)")
"""A prefix that an API's path begins with, and that some libraries count as a part of the base URL."""

_TOOL_POINTER = re.compile(r"/tools/\d+(?P<declaration>/functionDeclarations/\d+)?(?P<rest>/.*)?")


def modes_at(target: str, scenario: Scenario) -> list[Mode]:
    """Return the modes that a path and query may request. Most APIs have the same path for both.

    Where no documented path matches, a path behind another prefix does: see `paths_with_other_prefixes`.
    """
    api, model = scenario.api, scenario.model
    for paths_of in (accepted_paths, paths_with_other_prefixes):
        modes = [mode for mode in MODES if any(_is_at(target, path) for path in paths_of(api, mode, model))]
        if modes:
            return modes
    return []


def accepted_paths(api: Api, mode: Mode, model: str) -> Iterator[str]:
    """Yield what may follow the base URL: the API's paths, also with the rest of a longer documented base (`/v1`)."""
    shortest = api.base_urls[0]
    prefixes = [base.removeprefix(shortest) for base in api.base_urls if base.startswith(shortest)]
    for path in api.paths(mode == "stream"):
        for prefix in prefixes:
            yield prefix + path.replace("{model}", model)


def paths_with_other_prefixes(api: Api, mode: Mode, model: str) -> Iterator[str]:
    """Yield what libraries request that add a prefix of their own to the base URL, or leave the API's own out.

    A library may hard-code `/v1`, or a part of the provider's base URL, so that it is there twice or not at all. Only
    the base URL of the replay makes it wrong.
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
    """Return True if a request has the call's API key where the provider reads it, or the provider reads none."""
    in_query = f"key={CANARY_KEY}" in target.partition("?")[2].split("&")
    sent = {name.lower(): str(value) for name, value in headers.items()}
    return in_query or not api.key_headers or any(CANARY_KEY in sent.get(name, "") for name in api.key_headers)


def difference(sent: Mapping[str, Any], recorded: Mapping[str, Any], pointers: tuple[str, ...]) -> str | None:
    """Describe the first JSON pointer at which a request body differs from the recorded one; None if there is none."""
    for pointer in pointers:
        actual, expected = at_pointer(sent, pointer), at_pointer(recorded, pointer)
        equal = actual == expected or matches(actual, expected) or _has_all_words(actual, expected)
        if not equal and not _is_in_any_tool(sent, pointer, expected):
            return f"the adapter sent {pointer} = {json.dumps(actual)[:200]}; recorded was {json.dumps(expected)[:200]}"
    return None


def _is_at(target: str, path: str) -> bool:
    """Return True if a target has this path, and the query of it; `{project}` is any one segment."""
    target_path, _, target_query = target.partition("?")
    path, _, query = path.partition("?")
    if "{" in path:
        pattern = "[^/]+".join(map(re.escape, re.split(r"\{\w+\}", path)))
        has_path = re.fullmatch(pattern, unquote(target_path)) is not None
    else:
        has_path = unquote(target_path) == path
    return has_path and set(filter(None, query.split("&"))) <= set(target_query.split("&"))


def _has_all_words(sent: Any, recorded: Any) -> bool:
    """Return True if a list of strings (`include`, `modalities`) has all of the recorded ones; it may have more."""
    lists = isinstance(sent, list) and isinstance(recorded, list)
    return lists and all(isinstance(word, str) and word in sent for word in recorded)


def _is_in_any_tool(sent: Mapping[str, Any], pointer: str, expected: Any) -> bool:
    """Return True if a pointer into a tool has the expected value for any tool: their order is free."""
    match = _TOOL_POINTER.fullmatch(pointer)
    tools = sent.get("tools")
    if not match or not isinstance(tools, list):
        return False
    if match["declaration"]:
        lists = (tool.get("functionDeclarations") for tool in tools if isinstance(tool, dict))
        tools = [tool for declarations in lists if isinstance(declarations, list) for tool in declarations]
    return any(matches(at_pointer(tool, match["rest"] or ""), expected) for tool in tools)
