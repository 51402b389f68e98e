"""How recorded responses reach an adapter: over HTTP (`server`), or within the process (`vcr_transport`)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from llm_conformance.calling.place import Network
from llm_conformance.replay.open_exchange import OpenExchange
from llm_conformance.replay.server import ReplayServer
from llm_conformance.scenarios.scenario import Scenario


class Transport(Protocol):
    """Answers the requests of one exchange at a time.

    Attributes:
        ports: The only loopback ports to which the network guard allows connections.
        hands_over_pieces: Whether a stream reaches the adapter in pieces, not as a whole.
    """

    ports: tuple[int, ...]
    hands_over_pieces: bool

    def open(
        self,
        scenario: Scenario,
        hold_s: float = 0,
        capabilities: Collection[str] = (),
        network: Network | None = None,
        base_url: str | None = None,
    ) -> OpenExchange:
        """Start to answer requests for a scenario.

        The adapter has these `capabilities`, and may have its own `network`.

        With `base_url`, this exchange continues the conversation that has this base URL.

        A transport that hands over pieces holds back the last frame of a stream until content is shown, but for at most
        `hold_s` seconds.
        """

    def close(self, exchange: OpenExchange) -> None:
        """Stop answering the requests of an exchange."""

    def give_up(self, thread: int) -> None:
        """Answer no more requests of the thread with this identifier, because its call has hung."""

    def shutdown(self) -> None:
        """Release all resources."""


def new_transport(name: str) -> Transport:
    """Return a new transport, by the value of the option `transport`: `server` or `vcr`."""
    if name == "server":
        return ReplayServer()
    from llm_conformance.replay.vcr_transport import VcrTransport  # slow to import

    return VcrTransport()
