"""An exchange while it runs. It chooses the recording that answers a request, and keeps what was observed."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping
from typing import Any

from llm_conformance.formats.differences import Difference
from llm_conformance.replay import matching
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction, Mode


class OpenExchange:
    """An exchange from the call of the adapter to its end. The transport and the runner share it.

    Attributes:
        capabilities: The capabilities that the adapter declares. They decide what is compared in its requests.
        base_url: The base URL that the adapter is given.
        hold_s: The longest time, in seconds, for which the last frame of a stream is held back until content is shown.
        way_out: A hint to append to a message, for libraries whose URL cannot be set; "" if there is none.
        mode: The mode of the recording that was replayed; None if no request was answered.
        difference: Where a refused request differs from the call; None if no request was refused.
        request: The body of the request that was answered; None if no request was answered.
        attempts: The number of requests, as far as the transport can count them.
        repeats: The number of these requests that repeat a request with an answer.
        missing_mode: The requested mode, if the scenario has no recording of it.
        foreign_requests: Requests to other hosts, if the transport sees such requests before the network guard does.
        buffered: Whether the last frame had to be sent before any content was shown.
        held_s: How many seconds the last frame was held back.
        content_shown: Set when the adapter shows its first content, and at the end of the exchange.
        silent: Set when the server has sent everything that comes before its silence.
        closed: Set when the exchange is over.
    """

    def __init__(
        self,
        scenario: Scenario,
        base_url: str,
        hold_s: float = 0,
        way_out: str = "",
        capabilities: Collection[str] = (),
    ) -> None:
        self.scenario = scenario
        self.capabilities = capabilities
        self.base_url = base_url
        self.hold_s = hold_s
        self.way_out = way_out
        self.mode: Mode | None = None
        self.difference: Difference | None = None
        self.request: Mapping[str, Any] | None = None
        self.attempts = 0
        self.repeats = 0
        self.missing_mode: Mode | None = None
        self.foreign_requests: list[str] = []
        self.buffered = False
        self.held_s = 0.0
        self.content_shown = threading.Event()
        self.silent = threading.Event()
        self.closed = threading.Event()

    def recording_for(self, target: str, headers: Mapping[str, str], body: bytes) -> Interaction | str:
        """Return the recording that answers a request, or the reason why no recording does.

        Args:
            target: The path and the query that follow the base URL.
            headers: The request's headers; the case of their names does not matter.
            body: The request's body.
        """
        scenario, api = self.scenario, self.scenario.api
        modes = matching.modes_at(target, scenario)
        if not modes:
            url = target if "://" in target else f"{{base_url}}{target}"
            recorded = matching.recorded_requests(scenario)
            return self._refuse(Difference(f"{recorded}{self.way_out}", f"POST {url}"))
        if not matching.has_key(target, headers, api):
            names = " or ".join(api.key_headers)
            return self._refuse(Difference(f"call.api_key in the header {names}", "no call.api_key"))
        try:
            request = api.read_request(json.loads(body))
        except (ValueError, RecursionError):
            return self._refuse(Difference("a JSON object", "a body that is not JSON"))
        if not isinstance(request, dict):
            return self._refuse(Difference("a JSON object", "a body that is JSON, but no object"))
        mode = modes[0] if len(modes) == 1 else "stream" if api.asks_for_stream(request) else "json"
        if mode not in scenario.interactions:
            self.missing_mode = mode
            return f"this scenario has no {mode} recording"
        difference = matching.asks_otherwise(request, scenario, mode, self.capabilities)
        if difference:
            return self._refuse(difference)
        return self._answer(mode, request, scenario.interactions[mode])

    def _answer(self, mode: Mode, request: Mapping[str, Any], interaction: Interaction) -> Interaction:
        outage = self.scenario.outage
        answered_at = 1 if outage is None else 2
        self.repeats += self.attempts > answered_at and request == self.request
        self.mode, self.request = mode, request
        return interaction if outage is None or self.attempts >= answered_at else outage

    def _refuse(self, difference: Difference) -> str:
        self.difference = difference
        return str(difference)
