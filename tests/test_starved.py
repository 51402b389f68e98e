"""A machine that is too busy to run the suite is no fault of an adapter."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.calling import fair_time
from llm_conformance.calling.fair_time import FairWait
from llm_conformance.contract import Call, Response, TimeoutError
from llm_conformance.locations import CASSETTES
from llm_conformance.replay import runner
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.outcome import Outcome
from llm_conformance.scenarios import build, core_faults, load
from llm_conformance.scenarios.scenario import Scenario
from tests import miniature

Judging = Callable[[ReferenceAdapters], Outcome]

STOPPED_S = 1.5
LIMIT_S = 0.5


def stop_command(seconds: float) -> str:
    """Return a command that keeps the system from running the process that calls it, as a busy machine would."""
    return f"kill -STOP $PPID; sleep {seconds}; kill -CONT $PPID"


def stop_this_process(seconds: float) -> None:
    subprocess.run(["sh", "-c", stop_command(seconds)], check=True)


class OnABusyMachine(ReferenceAdapters):
    """Is right, but reports a time-out if its own clock shows that the time is over."""

    def __init__(self, busy_calls: int) -> None:
        super().__init__()
        self.busy_calls = busy_calls
        self.limits: list[float] = []

    def complete(self, call: Call) -> Response:
        since = time.monotonic()
        self.limits.append(call.timeout_s)
        if len(self.limits) <= self.busy_calls:
            stop_this_process(STOPPED_S)
        if time.monotonic() - since > call.timeout_s:
            raise TimeoutError("no answer in time")
        return super().complete(call)


class StoppedAndRight(ReferenceAdapters):
    """Is not run for longer than a call may take, and does not know it."""

    def complete(self, call: Call) -> Response:
        stop_this_process(STOPPED_S)
        return super().complete(call)


class Hanging(ReferenceAdapters):
    """Does nothing for longer than a call may take."""

    def complete(self, call: Call) -> Response:
        time.sleep(3)
        return super().complete(call)


class LateToAsk(ReferenceAdapters):
    """Does not send its request before its short time is over, as happens on a busy machine."""

    def __init__(self) -> None:
        super().__init__()
        self.limits: list[float] = []

    def complete(self, call: Call) -> Response:
        self.limits.append(call.timeout_s)
        if len(self.limits) == 1:
            raise TimeoutError("no answer in time")
        return super().complete(call)


@pytest.fixture
def outcome_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Judging]:
    monkeypatch.setattr(runner, "STARVED_S", 0.9)
    monkeypatch.setattr(runner, "GRACE_S", 0.2)
    made = Runner(LIMIT_S, ReplayServer())

    def run(adapter: ReferenceAdapters) -> Outcome:
        scenario = build.build(
            load.read(CASSETTES / "deepseek/logprobs-of-text-and-reasoning.scenario.yaml"), CASSETTES
        )
        return made.run(Cell(declarations.describe("own", adapter), scenario, "json", "complete")).outcome

    yield run
    made.close()


def test_time_in_which_the_process_is_not_run_does_not_count(outcome_of: Judging) -> None:
    outcome = outcome_of(StoppedAndRight())
    assert not outcome.hung
    assert outcome.fault is None


def test_a_time_out_on_a_busy_machine_is_no_failure(outcome_of: Judging) -> None:
    adapter = OnABusyMachine(busy_calls=1)
    assert outcome_of(adapter).fault is None
    assert adapter.limits == [LIMIT_S, 10 * LIMIT_S]


def test_a_call_that_is_never_given_its_time_is_not_judged(
    outcome_of: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "TIMES_THE_LIMIT", (1, 1, 1))
    adapter = OnABusyMachine(busy_calls=3)
    outcome = outcome_of(adapter)
    assert len(adapter.limits) == 3
    assert outcome.fault is None
    assert (outcome.blocked or "").startswith(f"{fair_time.TOO_BUSY}: it did not run the process for 1.")


def test_the_summary_says_what_could_not_be_judged(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "STARVED_S", 0.3)
    monkeypatch.setattr(runner, "TIMES_THE_LIMIT", (1, 1))
    pytester.makepyfile(
        starving=f"""
        import subprocess

        class Adapter:
            providers = ["deepseek"]

            def parse(self, http, call):
                subprocess.run(["sh", "-c", {stop_command(0.5)!r}], check=True)
                raise OSError("no answer in time")

        conformance_adapter = Adapter
        """
    )
    result, report = miniature.run(pytester, "--adapter=starving.py", "--conformance-rule=SHP-1", apart=False)
    assert [each["status"] for each in report["results"] if each["method"] == "parse"] == ["blocked"]
    assert "NOT JUDGED, as this machine is too busy: 1 call, the first for mini/spider parse" in result.stdout.str()
    assert result.ret == 1


def test_a_call_that_ends_before_the_server_falls_silent_has_more_time(scenarios: list[Scenario]) -> None:
    faulty = core_faults.of(each for each in scenarios if each.api.provider == "deepseek")
    silent = next(each for each in faulty if each.fault and each.fault.kind == "silence" and "json" in each.modes)
    made, adapter = Runner(LIMIT_S, ReplayServer()), LateToAsk()
    try:
        outcome = made.run(Cell(declarations.describe("own", adapter), silent, "json", "complete")).outcome
    finally:
        made.close()
    assert adapter.limits == [runner.SHORT_SILENCE_TIMEOUT_S, 10 * runner.SHORT_SILENCE_TIMEOUT_S]
    assert outcome.request is not None
    assert outcome.raised is not None
    assert outcome.raised.contract_type == "TimeoutError"


def test_a_call_that_hangs_is_not_repeated(outcome_of: Judging) -> None:
    since = time.monotonic()
    outcome = outcome_of(Hanging())
    assert outcome.hung
    assert time.monotonic() - since < 3


def test_a_wait_leaves_out_what_the_other_thread_waits_for_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    started = time.monotonic()
    ready_half_of_the_time = lambda _thread: (time.monotonic() - started) / 2  # noqa: E731
    monkeypatch.setattr(fair_time, "_ready_s", ready_half_of_the_time)
    waiting = FairWait()
    assert not waiting.wait(threading.Event(), 0.5)
    assert time.monotonic() - started > 0.8
    assert waiting.starved_s > 0.3


def test_a_wait_ends_even_if_the_other_thread_is_never_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_time, "_ready_s", lambda _thread: time.monotonic())
    assert not FairWait().wait(threading.Event(), 0.05)


def test_time_before_the_waiting_thread_runs_again_does_not_count() -> None:
    is_done = threading.Event()
    is_done.set()
    waiting = FairWait()
    time.sleep(0.4)  # the work ends before the waiting thread is run again
    assert waiting.wait(is_done, 0.1)
    assert waiting.starved_s > 0.3
