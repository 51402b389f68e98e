"""Replay within the process, for libraries whose base URL cannot be changed: `--conformance-transport=vcr`.

vcrpy replaces the connections of the HTTP library (httpx, httpx2, requests, urllib3, aiohttp, http.client). So an
adapter gets the provider's real base URL, and still no request leaves the process. A stream arrives in one piece, so
the suite cannot observe whether deltas arrive early.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

import vcr
from vcr import stubs
from vcr.record_mode import RecordMode
from vcr.request import Request

from llm_conformance.calling.place import Network
from llm_conformance.replay.open_exchange import OpenExchange
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction

_MODE_HEADER = "x-llm-conformance-mode"


class _Response(stubs.VCRHTTPResponse):  # type: ignore[misc]
    """A response that may be used in a `with` block.

    vcrpy's `close` returns True. `io.IOBase.__exit__` would return this value, too, and suppress exceptions of the
    block.
    """

    def close(self) -> None:
        super().close()


class VcrTransport:
    """A transport that answers requests to the provider's real URL, between `open` and `close`."""

    ports: tuple[int, ...] = ()
    hands_over_pieces = False

    def __init__(self) -> None:
        self._cassettes: dict[int, contextlib.ExitStack] = {}
        self._given_up: set[int] = set()

    def open(
        self,
        scenario: Scenario,
        hold_s: float = 0,
        capabilities: Collection[str] = (),
        network: Network | None = None,
        base_url: str | None = None,
    ) -> OpenExchange:
        """Answer requests for a scenario in this process.

        `hold_s` has no effect, because streams are sent whole. `base_url` has none, because it is the provider's own.
        """
        interaction = next(iter(scenario.interactions.values()))
        place = scenario.api.place(interaction.uri)
        own_url = place.base_url if place else scenario.api.base_urls[0]
        exchange = OpenExchange(scenario, own_url, capabilities=capabilities)
        recorder = vcr.VCR(
            record_mode=RecordMode.NONE, custom_patches=((stubs, stubs.VCRHTTPResponse.__name__, _Response),)
        )
        recorder.register_persister(_ScenarioPersister(scenario))
        recorder.register_matcher("conformance", lambda request, recorded: self._match(exchange, request, recorded))
        stack = contextlib.ExitStack()
        stack.enter_context(recorder.use_cassette(scenario.id, match_on=("conformance",), allow_playback_repeats=True))
        self._cassettes[id(exchange)] = stack
        return exchange

    def close(self, exchange: OpenExchange) -> None:
        """Stop answering requests."""
        exchange.content_shown.set()
        self._cassettes.pop(id(exchange)).close()

    def give_up(self, thread: int) -> None:
        """Refuse all further requests of a thread, because they would be matched against the next exchange."""
        self._given_up.add(thread)

    def shutdown(self) -> None:
        """Do nothing, because `close` releases everything."""

    def _match(self, exchange: OpenExchange, request: Request, recorded: Request) -> None:
        if threading.get_ident() in self._given_up:
            raise AssertionError("the call of this request was given up")
        _match(exchange, request, recorded)


class _ScenarioPersister:
    """A persister for vcrpy that loads the interactions of a scenario and saves nothing."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario

    def load_cassette(self, _path: str, serializer: Any) -> tuple[list[Request], list[dict[str, Any]]]:
        """Return requests and responses; a header of each request names its mode."""
        interactions = self._scenario.interactions.items()
        requests = [Request("POST", interaction.uri, b"", {_MODE_HEADER: mode}) for mode, interaction in interactions]
        return requests, [_response(interaction) for _, interaction in interactions]

    def save_cassette(self, _path: str, cassette_dict: Mapping[str, Any], serializer: Any) -> None:
        """Save nothing."""


def _response(interaction: Interaction) -> dict[str, Any]:
    return {
        "status": {"code": interaction.status, "message": ""},
        "headers": {name: [value] for name, value in interaction.headers.items()},
        "body": {"string": interaction.body},
    }


def _match(exchange: OpenExchange, request: Request, recorded: Request) -> None:
    """Raise AssertionError, as vcrpy demands, unless this recording answers the request."""
    place = exchange.scenario.api.place(request.uri)
    if place is None and _host(request.uri) not in (_host(exchange.base_url), _host(recorded.uri)):
        foreign = f"{request.method} {request.uri.partition('?')[0]}"
        if foreign not in exchange.foreign_requests:  # vcrpy compares with every recording, some twice
            exchange.foreign_requests.append(foreign)
        raise AssertionError(f"{foreign} was refused: no request may leave the replay")
    if request.method.upper() != "POST":
        raise AssertionError(f"only recorded POST requests are replayed, not {request.method}")
    if request.uri.startswith(f"{exchange.base_url}/"):
        target = request.uri.removeprefix(exchange.base_url)
    else:
        target = place.path if place else request.uri
    body = request.body if isinstance(request.body, bytes) else b"".join(request.body or ())
    recording = exchange.recording_for(target, request.headers, body)
    if isinstance(recording, str):
        raise AssertionError(recording)
    if recorded.headers[_MODE_HEADER] != exchange.mode:
        raise AssertionError("the request is for the recording of the other mode")


def _host(uri: str) -> str:
    return urlsplit(uri).netloc.lower()
