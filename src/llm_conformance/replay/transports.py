"""Make the transport that the option `transport` names."""

from __future__ import annotations

from llm_conformance.replay.server import ReplayServer
from llm_conformance.replay.transport import Transport


def transport(name: str) -> Transport:
    """Return a new transport: `server` or `vcr`."""
    if name == "server":
        return ReplayServer()
    from llm_conformance.replay.vcr_transport import VcrTransport  # slow to import

    return VcrTransport()
