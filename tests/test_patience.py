"""STR-7 accuses an adapter that waits for the end of a stream, and no adapter that is only slow."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.contract import Call
from llm_conformance.judging.judge import judge_exchange
from llm_conformance.judging.status import Status
from llm_conformance.locations import CASSETTES
from llm_conformance.replay import patience
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios import build, load

STR_7 = catalogue()["STR-7"].rule


class Counting(ReferenceAdapters):
    """Counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0


class Slow(Counting):
    """Needs a while before its first event, and streams."""

    seconds = 0.4

    def stream(self, call: Call) -> Iterator[Any]:
        self.calls += 1
        for number, event in enumerate(super().stream(call)):
            if number == 0:
                time.sleep(self.seconds)
            yield event


class Buffering(Counting):
    """Yields its events when the stream has ended."""

    def stream(self, call: Call) -> Iterator[Any]:
        self.calls += 1
        yield from list(super().stream(call))


class BufferingWithItsOwnTimeout(Buffering):
    """Gives up earlier than the call's time limit says."""

    def stream(self, call: Call) -> Iterator[Any]:
        since = time.monotonic()
        events = list(super().stream(call))
        if time.monotonic() - since > 0.5:
            raise OSError("no answer in time")
        yield from events


class Silent(Counting):
    """Shows no piece of the stream, only the whole response."""

    def stream(self, call: Call) -> Iterator[Any]:
        self.calls += 1
        yield from (event for event in super().stream(call) if event.event_type == "response.completed")


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    monkeypatch.setattr(patience, "SHORT_HOLD_S", 0.1)
    made = Runner(2.5, ReplayServer())
    yield made
    made.close()


def streams() -> list[str]:
    """Return the ids of three streams of one API that have text before their last frame."""
    found = []
    for path in sorted((CASSETTES / "openai").glob("*.scenario.yaml")):
        file = load.read(path)
        if str(file.api) == "openai:chat" and "stream" in file.modes and not file.outage:
            scenario = build.build(file, CASSETTES)
            expected = scenario.expected["stream"]
            if expected.error is None and "text" in expected.shows_early and scenario.cuts is None:
                found.append(scenario.id)
    return found[:3]


def status(adapter: ReferenceAdapters, id: str, runner: Runner) -> tuple[Status, str | None]:
    scenario = build.build(load.read(CASSETTES / f"{id}.scenario.yaml"), CASSETTES)
    cell = Cell(declarations.describe("own", adapter), scenario, "stream", "stream")
    judgement = judge_exchange(STR_7, runner.exchange(cell))
    return judgement.status, judgement.message


def test_a_slow_adapter_that_streams_is_asked_again_and_passes(runner: Runner) -> None:
    slow = Slow()
    assert [status(slow, id, runner)[0] for id in streams()] == [Status.PASS] * 3
    assert slow.calls == 4  # the first stream twice; then it is known how long the adapter needs


def test_an_adapter_that_waits_is_accused_and_asked_again_once(runner: Runner) -> None:
    buffering = Buffering()
    since = time.monotonic()
    found = [status(buffering, id, runner) for id in streams()]
    assert [status for status, _ in found] == [Status.FAIL] * 3
    assert "the adapter waited for the end of the stream" in (found[0][1] or "")
    assert buffering.calls == 4
    assert time.monotonic() - since < 0.8 * 2.5 + 3 * 0.1 + 2  # one long hold, three short ones


def test_a_longer_hold_is_not_blamed_on_the_adapter(runner: Runner) -> None:
    buffering = BufferingWithItsOwnTimeout()
    scenario = build.build(load.read(CASSETTES / f"{streams()[0]}.scenario.yaml"), CASSETTES)
    exchange = runner.exchange(Cell(declarations.describe("own", buffering), scenario, "stream", "stream"))
    assert exchange.outcome.fault is None
    assert exchange.outcome.buffered


def test_an_adapter_that_shows_no_content_is_not_accused_of_waiting(runner: Runner) -> None:
    silent = Silent()
    found = [status(silent, id, runner) for id in streams()]
    assert [status for status, _ in found] == [Status.VACUOUS] * 3
    assert "shows nothing of what comes before the last frame" in (found[0][1] or "")
    assert silent.calls == 3


def test_three_seconds_before_the_first_delta_are_not_red() -> None:
    class VerySlow(Slow):
        seconds = 3.0

    runner = Runner(10, ReplayServer())
    try:
        assert status(VerySlow(), streams()[0], runner)[0] == Status.PASS
    finally:
        runner.close()


@pytest.mark.parametrize(("adapter", "expected"), [(Buffering, Status.FAIL), (Slow, Status.PASS)])
def test_reasoning_between_tags_counts_as_content(adapter: type[Counting], expected: Status, runner: Runner) -> None:
    assert status(adapter(), "huggingface/think-tag-never-closed", runner)[0] == expected
