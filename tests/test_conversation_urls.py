"""The calls of one conversation have one base URL: libraries send ids of earlier answers only to their own server."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.contract import Call, Response
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.scenarios.scenario import Scenario

FOLLOWS = "deepseek/reasoning-goes-back-in-a-later-question"


class Noted(ReferenceAdapters):
    """Notes the base URL of each call, and hangs in calls with as many messages as `hangs_at`."""

    def __init__(self, hangs_at: int = 0) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.hangs_at = hangs_at
        self.released = threading.Event()

    def complete(self, call: Call) -> Response:
        self.urls.append(call.base_url)
        if len(call.messages) == self.hangs_at:
            self.released.wait()
        return super().complete(call)


@pytest.fixture
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """Return a runner whose calls may take as many seconds as a test says, or else ten."""
    made = Runner(getattr(request, "param", 10), ReplayServer())
    yield made
    made.close()


@pytest.fixture
def scenario(scenarios: list[Scenario]) -> Scenario:
    return next(each for each in scenarios if each.id == FOLLOWS)


def run(runner: Runner, adapter: Noted, scenario: Scenario) -> None:
    runner.run(Cell(declarations.describe("noted", adapter), scenario, "json", "complete"))


def test_the_calls_of_a_conversation_share_their_base_url(runner: Runner, scenario: Scenario) -> None:
    adapter = Noted()
    run(runner, adapter, scenario)
    first, *others = adapter.urls
    assert others == [first] * len(scenario.earlier)
    run(runner, adapter, next(iter(scenario.earlier.values())))
    assert adapter.urls[-1] != first


@pytest.mark.parametrize("runner", [1], indirect=True)  # the test waits until a call has hung
def test_a_base_url_that_a_hung_call_may_still_use_is_used_for_nothing_else(runner: Runner, scenario: Scenario) -> None:
    adapter = Noted(hangs_at=len(scenario.messages))
    run(runner, adapter, scenario)
    hung = adapter.urls[-1]
    assert hung == adapter.urls[0]
    adapter.hangs_at = 0
    run(runner, adapter, scenario)
    adapter.released.set()
    assert adapter.urls[-1] != hung
