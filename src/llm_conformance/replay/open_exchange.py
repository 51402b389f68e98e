"""One exchange while it runs: it picks the recording that answers a request, and keeps what was observed."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from llm_conformance.replay import matching
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction, Mode


class OpenExchange:
    """An exchange from the call of the adapter to its end. The transport and the attempt share it.

    Attributes:
        base_url: The base URL that the adapter is given.
        hold_s: For how many seconds at most the last frame of a stream is held back until content has been shown.
        way_out: What to do if the library does not let its users set the URL, to follow a message; "" for nothing.
        mode: The mode of the recording that was replayed; None if no request was answered.
        mismatch: Why a request was refused; None if none was.
        request: The body of the request that was answered; None if none was.
        attempts: How many requests there were, as far as the transport can count them.
        repeats: How many of them repeat a request that was already answered.
        missing_mode: The mode that was requested although the scenario has no recording of it.
        foreign_requests: Requests to other hosts, if the transport sees them before the network guard does.
        buffered: Whether the last frame had to be sent before any content was shown.
        held_s: For how many seconds the last frame was held back.
        content_shown: Set by the worker when the adapter shows its first content.
        closed: Set when the exchange is over.
    """

    def __init__(self, scenario: Scenario, base_url: str, hold_s: float = 0, way_out: str = "") -> None:
        self.scenario = scenario
        self.base_url = base_url
        self.hold_s = hold_s
        self.way_out = way_out
        self.mode: Mode | None = None
        self.mismatch: str | None = None
        self.request: Mapping[str, Any] | None = None
        self.attempts = 0
        self.repeats = 0
        self.missing_mode: Mode | None = None
        self.foreign_requests: list[str] = []
        self.buffered = False
        self.held_s = 0.0
        self.content_shown = threading.Event()
        self.closed = threading.Event()

    def recording_for(self, target: str, headers: Mapping[str, str], body: bytes) -> Interaction | str:
        """Return the recording that answers a request, or the reason why none does.

        Args:
            target: Path and query behind the base URL.
            headers: The request's headers; the case of their names does not matter.
            body: The request's body.
        """
        scenario, api = self.scenario, self.scenario.api
        modes = matching.modes_at(target, scenario)
        if not modes:
            url = target if "://" in target else f"{{base_url}}{target}"
            recorded = matching.recorded_requests(scenario)
            return self._refuse(f"the adapter asked for POST {url}; recorded was {recorded}{self.way_out}")
        if not matching.has_key(target, headers, api):
            names = " or ".join(api.key_headers)
            return self._refuse(f"the adapter sent no call.api_key; the provider wants it in the header {names}")
        try:
            request = api.read_request(json.loads(body))
        except (ValueError, RecursionError):
            return self._refuse("the adapter sent a body that is not JSON")
        if not isinstance(request, dict):
            return self._refuse("the adapter sent a body that is not a JSON object")
        mode = modes[0] if len(modes) == 1 else "stream" if api.asks_for_stream(request) else "json"
        if mode not in scenario.interactions:
            self.missing_mode = mode
            return f"this scenario has no {mode} recording"
        interaction = scenario.interactions[mode]
        # If the recorded body has no model, or the path has one, the model is in the path, which matched.
        has_model = interaction.request.get("model") == scenario.model and not api.names_model_in_path
        pointers = ("/model", *scenario.match) if has_model else scenario.match
        difference = matching.difference(request, interaction.request, pointers)
        if difference:
            return self._refuse(difference)
        return self._answer(mode, request, interaction)

    def _answer(self, mode: Mode, request: Mapping[str, Any], interaction: Interaction) -> Interaction:
        outage = self.scenario.outage
        answered_at = 1 if outage is None else 2
        self.repeats += self.attempts > answered_at and request == self.request
        self.mode, self.request = mode, request
        return interaction if outage is None or self.attempts >= answered_at else outage

    def _refuse(self, reason: str) -> str:
        self.mismatch = reason
        return reason
