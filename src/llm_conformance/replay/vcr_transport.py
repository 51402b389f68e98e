"""Replay in the process itself, for libraries that let nobody change their URL: `--conformance-transport vcr`.

vcrpy stands in for the HTTP library (httpx, httpx2, requests, urllib3, aiohttp, http.client), so an adapter is given
the provider's real base URL and nothing leaves. A stream comes in one piece, so whether deltas arrive early cannot be
seen.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import vcr
from vcr.record_mode import RecordMode
from vcr.request import Request
from vcr.stubs import VCRHTTPResponse

from llm_conformance.replay.matching import Serving
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction

# Its `close` returns True, which at the end of a `with` hides what was raised inside.
VCRHTTPResponse.__exit__ = lambda response, *_: response.close() and None

_MARK = "x-llm-conformance-mode"


class VcrTransport:
    """Plays a scenario's recordings to whatever asks for the provider's URL, between `open` and `close`."""

    ports: tuple[int, ...] = ()
    hands_over_pieces = False

    def __init__(self) -> None:
        self._playing: dict[int, contextlib.ExitStack] = {}
        self._given_up: set[int] = set()

    def open(self, scenario: Scenario, holds: bool = False) -> Serving:
        """Start to play; nothing can be held back here, so `holds` is not kept."""
        interaction = next(iter(scenario.interactions.values()))
        place = scenario.api.place(interaction.uri)
        serving = Serving(scenario, place.base_url if place else scenario.api.base_urls[0], holds=False)
        recorder = vcr.VCR(record_mode=RecordMode.NONE)
        recorder.register_persister(_Shelf(scenario))
        recorder.register_matcher("conformance", lambda asked, recorded: self._match(serving, asked, recorded))
        stack = contextlib.ExitStack()
        stack.enter_context(recorder.use_cassette(scenario.id, match_on=("conformance",), allow_playback_repeats=True))
        self._playing[id(serving)] = stack
        return serving

    def close(self, serving: Serving) -> None:
        """Stop playing."""
        serving.content_seen.set()
        self._playing.pop(id(serving)).close()

    def give_up(self, thread: int) -> None:
        """Refuse a thread's requests, which come with the next exchange's, to the end of the process."""
        self._given_up.add(thread)

    def shutdown(self) -> None:
        """Nothing is left open."""

    def _match(self, serving: Serving, asked: Request, recorded: Request) -> None:
        if threading.get_ident() in self._given_up:
            raise AssertionError("nobody waits for this call any more")
        _match(serving, asked, recorded)


class _Shelf:
    """A persister of vcrpy's that has the scenario's interactions and writes nothing."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario

    def load_cassette(self, _path: str, serializer: Any) -> tuple[list[Request], list[dict[str, Any]]]:
        """Return requests and responses, each request marked with its mode."""
        recorded = self._scenario.interactions.items()
        requests = [Request("POST", each.uri, b"", {_MARK: mode}) for mode, each in recorded]
        return requests, [_response(each) for _, each in recorded]

    def save_cassette(self, _path: str, cassette_dict: Mapping[str, Any], serializer: Any) -> None:
        """Write nothing."""


def _response(interaction: Interaction) -> dict[str, Any]:
    return {
        "status": {"code": interaction.status, "message": ""},
        "headers": {name: [value] for name, value in interaction.headers.items()},
        "body": {"string": interaction.body},
    }


def _match(serving: Serving, asked: Request, recorded: Request) -> None:
    """Raise AssertionError, as vcrpy wants it, unless this is the recording to answer the request with."""
    place = serving.scenario.api.place(asked.uri)
    if place is None and _host(asked.uri) not in (_host(serving.base_url), _host(recorded.uri)):
        stray = f"{asked.method} {asked.uri.partition('?')[0]}"
        if stray not in serving.strays:  # it is held against every recording, and again to say what was wrong
            serving.strays.append(stray)
        raise AssertionError(f"{stray} was refused: no request may leave the replay")
    if asked.method.upper() != "POST":
        raise AssertionError(f"only recorded POST requests are played, not {asked.method}")
    if asked.uri.startswith(f"{serving.base_url}/"):
        target = asked.uri.removeprefix(serving.base_url)
    else:
        target = place.path if place else asked.uri
    body = asked.body
    chosen = serving.choose(target, asked.headers, body if isinstance(body, bytes) else b"".join(body or ()))
    if isinstance(chosen, str):
        raise AssertionError(chosen)
    if recorded.headers[_MARK] != serving.mode:
        raise AssertionError("the other recording is meant")


def _host(uri: str) -> str:
    return urlsplit(uri).netloc.lower()
