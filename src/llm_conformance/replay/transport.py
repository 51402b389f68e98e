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
        hands_over_pieces: Whether a stream reaches the adapter in pieces, and not as a whole.
    """

    ports: tuple[int, ...]
    hands_over_pieces: bool

    def open(
        self,
        scenario: Scenario,
        hold_s: float = 0,
        capabilities: Collection[str] = (),
        network: Network | None = None,
    ) -> OpenExchange:
        """Start to answer requests of an adapter with these capabilities for a scenario, in its own network if any.

        A transport that hands over pieces holds back the last frame of a stream until content has been shown, for
        `hold_s` seconds at most.
        """

    def close(self, exchange: OpenExchange) -> None:
        """Stop to answer them."""

    def give_up(self, thread: int) -> None:
        """Answer no more requests of a thread (by its identifier) whose call has hung."""

    def shutdown(self) -> None:
        """Release all resources."""


def new_transport(name: str) -> Transport:
    """Return a new transport, by the value of the option `transport`: `server` or `vcr`."""
    if name == "server":
        return ReplayServer()
    from llm_conformance.replay.vcr_transport import VcrTransport  # slow to import

    return VcrTransport()
