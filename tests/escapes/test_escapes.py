"""Ways out to the network, tried in each isolation: a server that no call may reach counts who has reached it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from llm_conformance.adapter import loader
from llm_conformance.adapter.declarations import AdapterUnderTest, Isolation
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.outcome import Outcome
from llm_conformance.scenarios import build, load
from llm_conformance.scenarios.scenario import Scenario
from tests import miniature
from tests.escapes.ways import WAYS

HERE = Path(__file__).parent
AFTER_S = 0.05
"""How long is waited for a packet that may still be on its way."""


class Outside:
    """A server that is not the replay, for connections and for packets."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("", 0))
        self.port = self._listening.getsockname()[1]
        self._packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._packets.bind(("", self.port))
        self._packets.setblocking(False)
        self._reached = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def was_reached(self, packets: bool) -> bool:
        """Return whether somebody has reached it since this was last asked."""
        if packets:
            try:
                return bool(self._packets.recv(100))
            except BlockingIOError:
                return False
        reached = self._reached.wait(AFTER_S)
        self._reached.clear()
        return reached

    def close(self) -> None:
        """Free the port."""
        self._listening.close()
        self._packets.close()

    def _serve(self) -> None:
        while True:
            try:
                made, _ = self._listening.accept()
            except OSError:
                return
            self._reached.set()
            made.close()


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    made = Outside()
    yield made
    made.close()


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    directory = tmp_path_factory.mktemp("escapes")
    return build.build(load.read(miniature.write(directory)), directory)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


def adapter_in(isolation: Isolation) -> AdapterUnderTest:
    return loader.load(str(HERE / "adapter.py"), HERE, (), isolation)


@pytest.fixture(scope="module")
def in_namespace() -> Iterator[AdapterUnderTest]:
    made = adapter_in("namespace")
    yield made
    made.close()


@pytest.fixture(scope="module")
def in_process() -> Iterator[AdapterUnderTest]:
    made = adapter_in("process")
    yield made
    made.close()


def outcome(runner: Runner, adapter: AdapterUnderTest, scenario: Scenario, name: str, port: int) -> Outcome:
    """Return what comes of a call that takes a way out; its identifier tells the adapter which, and to where."""
    cell = Cell(adapter, replace(scenario, id=f"{name}/{port}"), "json", "parse")
    return runner.run(cell).outcome


@pytest.mark.parametrize("name", WAYS)
def test_nothing_leaves_a_network_of_its_own(
    runner: Runner, in_namespace: AdapterUnderTest, scenario: Scenario, outside: Outside, name: str
) -> None:
    if in_namespace.program and in_namespace.program.refused:
        pytest.skip(f"the system gives no network of its own: {in_namespace.program.refused}")
    found = outcome(runner, in_namespace, scenario, name, outside.port)
    assert found.response
    assert not outside.was_reached(WAYS[name].packets)


@pytest.mark.parametrize("name", WAYS)
def test_the_audit_hook_sees_what_python_does_and_nothing_else(
    runner: Runner, in_process: AdapterUnderTest, scenario: Scenario, outside: Outside, name: str
) -> None:
    way = WAYS[name]
    found = outcome(runner, in_process, scenario, name, outside.port)
    assert found.response
    assert outside.was_reached(way.packets) is not way.seen_by_hook
    if way.seen_by_hook and way.is_named:
        assert found.connections
        assert "ways.py:" in found.connections[0]
