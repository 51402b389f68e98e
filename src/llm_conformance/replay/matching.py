"""One exchange as the replay sees it: which recording a request is answered with, or why with none.

The request decides between the JSON and the streamed recording. A request that is not the recorded one is refused with
an explanation.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Protocol
from urllib.parse import unquote

from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.pointers import at_pointer
from llm_conformance.scenarios.round_trip import holds
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import MODES, Interaction, Mode
from llm_conformance.wire.providers.api import Api


class Serving:
    """What is known of an exchange while it runs.

    Attributes:
        base_url: What the adapter is given.
        holds: Whether the last frame of a stream is to be held back until content has been shown.
        mode: The mode of the recording that was served, None if none was.
        mismatch: Why a request was refused, None if none was.
        sent: The body of the request that was served, None if none was.
        requests: How many requests there were, as far as the transport can tell them.
        repeats: How many of them asked again what was answered already.
        lacking: The mode that was asked for and that the scenario does not have.
        strays: Requests to other hosts, where the transport sees them instead of the network guard.
        buffered: Whether the last frame of a stream had to be sent before any content had been shown.
        content_seen: Set by the driver when the adapter shows its first content.
        over: Set when the exchange is closed.
    """

    def __init__(self, scenario: Scenario, base_url: str, holds: bool) -> None:
        self.scenario = scenario
        self.base_url = base_url
        self.holds = holds
        self.mode: Mode | None = None
        self.mismatch: str | None = None
        self.sent: Mapping[str, Any] | None = None
        self.requests = 0
        self.repeats = 0
        self.lacking: Mode | None = None
        self.strays: list[str] = []
        self.buffered = False
        self.content_seen = threading.Event()
        self.over = threading.Event()

    def choose(self, target: str, headers: Mapping[str, str], body: bytes) -> Interaction | str:
        """Return the recording to answer a request with, or why there is none.

        Args:
            target: What follows the base URL, query included.
            headers: The request's headers, their names read without regard to case.
            body: The request's body.
        """
        api, model = self.scenario.api, self.scenario.model
        modes = [mode for mode in MODES if any(_is_at(target, path) for path in accepted_paths(api, mode, model))]
        if not modes:
            asked = target if "://" in target else f"{{base_url}}{target}"
            return self._refuse(f"the adapter asked for POST {asked}; recorded was {self.recorded}")
        if not _has_key(target, headers, api):
            wanted = " or ".join(api.key_headers)
            return self._refuse(f"the adapter sent no call.api_key; the provider wants it in the header {wanted}")
        try:
            sent = api.read_request(json.loads(body))
        except (ValueError, RecursionError):
            return self._refuse("the adapter sent a body that is not JSON")
        if not isinstance(sent, dict):
            return self._refuse("the adapter sent a body that is not a JSON object")
        mode = modes[0] if len(modes) == 1 else "stream" if api.asks_for_stream(sent) else "json"
        if mode not in self.scenario.interactions:
            self.lacking = mode
            return f"this scenario has no {mode} recording"
        interaction = self.scenario.interactions[mode]
        named = interaction.request.get("model") == model  # else the path names it, in the recorded request
        pointers = ("/model", *self.scenario.match) if named else self.scenario.match
        difference = _difference(sent, interaction.request, pointers)
        if difference:
            return self._refuse(difference)
        outage = self.scenario.outage
        answered = 1 if outage is None else 2  # which request is answered as recorded
        self.repeats += self.requests > answered and sent == self.sent
        self.mode, self.sent = mode, sent
        return interaction if outage is None or self.requests >= answered else outage

    @property
    def recorded(self) -> str:
        """The requests that there are answers to, in words."""
        scenario = self.scenario
        paths = (path for mode in scenario.modes for path in accepted_paths(scenario.api, mode, scenario.model))
        return " or ".join(f"POST {{base_url}}{path}" for path in dict.fromkeys(paths))

    def _refuse(self, why: str) -> str:
        self.mismatch = why
        return why


class Transport(Protocol):
    """How an adapter comes by the recordings.

    `ports` of the loopback are all that the guard lets connections through to. `hands_over_pieces`: whether a stream
    comes in pieces, or in one.
    """

    ports: tuple[int, ...]
    hands_over_pieces: bool

    def open(self, scenario: Scenario, holds: bool = False) -> Serving:
        """Start to answer requests for a scenario; `holds` back the last frame of a stream if it can."""

    def close(self, serving: Serving) -> None:
        """Stop to answer them."""

    def give_up(self, thread: int) -> None:
        """Answer nothing that a thread still asks for whose call hung."""

    def shutdown(self) -> None:
        """Let go of everything."""


def accepted_paths(api: Api, mode: Mode, model: str) -> Iterator[str]:
    """Yield what may follow base_url: the API's paths, also behind a longer documented base (`/v1`)."""
    default = api.base_urls[0]
    longer = [base.removeprefix(default) for base in api.base_urls if base.startswith(default)]
    for path in api.paths(mode == "stream"):
        for prefix in longer:
            yield prefix + path.replace("{model}", model)


def _has_key(target: str, headers: Mapping[str, str], api: Api) -> bool:
    in_query = f"key={CANARY_KEY}" in target.partition("?")[2].split("&")
    sent = {name.lower(): str(value) for name, value in headers.items()}
    return in_query or not api.key_headers or any(CANARY_KEY in sent.get(name, "") for name in api.key_headers)


def _is_at(target: str, path: str) -> bool:
    """Whether a request goes to a path, with at least the query that it has; `{project}` is any one segment."""
    asked, _, query = target.partition("?")
    wanted, _, needed = path.partition("?")
    segments = "[^/]+".join(map(re.escape, re.split(r"\{\w+\}", wanted)))
    is_there = re.fullmatch(segments, unquote(asked)) is not None
    return is_there and set(filter(None, needed.split("&"))) <= set(query.split("&"))


def _has_all(sent: Any, recorded: Any) -> bool:
    """Whether a list of words (what to include, which modalities) has all of the recorded one; more does no harm."""
    lists = isinstance(sent, list) and isinstance(recorded, list)
    return lists and all(isinstance(each, str) and each in sent for each in recorded)


_OF_A_TOOL = re.compile(r"/tools/\d+(/functionDeclarations/\d+)?(/.*)?")


def _has_tool(sent: Mapping[str, Any], pointer: str, wanted: Any) -> bool:
    """Whether what is wanted of a tool is there of any tool: they may stand in any order."""
    found = _OF_A_TOOL.fullmatch(pointer)
    tools = sent.get("tools")
    if not found or not isinstance(tools, list):
        return False
    if found[1]:
        lists = (tool.get("functionDeclarations") for tool in tools if isinstance(tool, dict))
        tools = [tool for declared in lists if isinstance(declared, list) for tool in declared]
    return any(holds(at_pointer(tool, found[2] or ""), wanted) for tool in tools)


def _difference(sent: Mapping[str, Any], recorded: Mapping[str, Any], pointers: tuple[str, ...]) -> str | None:
    for pointer in pointers:
        ours, theirs = at_pointer(sent, pointer), at_pointer(recorded, pointer)
        alike = ours == theirs or holds(ours, theirs) or _has_all(ours, theirs)
        if not alike and not _has_tool(sent, pointer, theirs):
            return f"the adapter sent {pointer} = {json.dumps(ours)[:200]}; recorded was {json.dumps(theirs)[:200]}"
    return None
