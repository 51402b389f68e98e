"""Ask a server of the tests, and judge it."""

from __future__ import annotations

from llm_conformance.server import plan, run
from llm_conformance.server.apis.known import APIS
from llm_conformance.server.client import client
from llm_conformance.server.conversations import CAPABILITIES
from llm_conformance.server.judge import Judgement, judge
from llm_conformance.server.plan import Target
from llm_conformance.server.recordings import Recording
from tests.servers.reference import CONTEXT, KEY, MODEL, Reference, running

CLAIMS = frozenset(CAPABILITIES)
PATIENCE_S = 5.0


def target_of(url: str, api: str = "chat", claims: frozenset[str] = CLAIMS) -> Target:
    """Return the target of a run. By default, every capability is claimed of the server."""
    return Target(url, api, MODEL, claims, context=CONTEXT)


def recordings_of(
    server: Reference, claims: frozenset[str] = CLAIMS, patience_s: float = PATIENCE_S
) -> tuple[Target, list[Recording]]:
    """Return what a server answers to all conversations."""
    with running(server) as url:
        target = target_of(url, server.api, claims)
        requests = list(plan.requests(target, plan.selected(server.api, ())))
        with client(run.url_of(target), KEY, patience_s, {}, APIS[server.api]) as http:
            return target, run.ask(target, requests, http)


def judged(server: Reference, claims: frozenset[str] = CLAIMS, patience_s: float = PATIENCE_S) -> Judgement:
    """Ask a server all conversations and judge the answers."""
    target, kept = recordings_of(server, claims, patience_s)
    return judge(target, plan.selected(server.api, ()), kept)
