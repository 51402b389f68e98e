"""Failing connections: the call ends in time and leaves nothing open."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from llm_conformance.adapter import declarations
from llm_conformance.contract import Call, HttpResponse, Response, ServiceUnavailableError, error_for_status
from llm_conformance.judging.judge import judge_exchange
from llm_conformance.judging.plan import Filters, cells
from llm_conformance.judging.shown.exchange_details import recorded_and_expected
from llm_conformance.locations import CASSETTES
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.replay.vcr_transport import VcrTransport
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios import lint
from llm_conformance.scenarios.scenario import Scenario
from tests.calls import ADAPTERS

REFERENCE = declarations.describe("reference", ADAPTERS)


@pytest.fixture
def runner() -> Iterator[Runner]:
    new_runner = Runner(10, ReplayServer())
    yield new_runner
    new_runner.close()


@pytest.fixture(scope="module")
def faulty(scenarios: list[Scenario]) -> list[Scenario]:
    return [scenario for scenario in scenarios if scenario.fault]


def left_open() -> tuple[int, int]:
    return len(os.listdir("/proc/self/fd")), threading.active_count()


def is_left(before: tuple[int, int]) -> bool:
    """Return True if no more is open than before. Less may be open, because a thread may have ended since."""
    return all(now <= then for now, then in zip(left_open(), before, strict=True))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files where the system lists them")
def test_a_thousand_broken_connections_leave_nothing_open(runner: Runner, faulty: list[Scenario]) -> None:
    closing = [
        Cell(REFERENCE, each, "json", "complete") for each in faulty if each.fault and each.fault.kind != "silence"
    ]
    for cell in closing:
        runner.run(cell)
    before = left_open()
    for _ in range(1000 // len(closing)):
        for cell in closing:
            assert runner.run(cell).outcome.raised
    until = time.monotonic() + 5
    while not is_left(before) and time.monotonic() < until:
        time.sleep(0.05)
    assert is_left(before), left_open()


class Patient:
    """Waits for longer than `call.timeout_s`."""

    providers = ("deepseek",)

    def complete(self, call: Call) -> Response:
        time.sleep(5)
        return ADAPTERS.complete(call)


def test_a_client_without_timeout_is_given_up(runner: Runner, faulty: list[Scenario]) -> None:
    patient = declarations.describe("patient", Patient())
    silent = [each for each in faulty if each.fault and each.fault.kind == "silence"]
    started = time.monotonic()
    for each in silent:
        fault = runner.run(Cell(patient, each, "json", "complete")).outcome.fault
        assert fault == "did not come back within 3 s; call.timeout_s was 1, which is the limit for all attempts"
    assert time.monotonic() - started < 5 * len(silent)


class OnceOnly:
    """Sends one request and raises the error of its status."""

    providers = ("openai:chat",)

    def complete(self, call: Call) -> Response:
        answer = httpx.post(
            call.base_url + call.path, json=dict(call.request), headers={"authorization": f"Bearer {call.api_key}"}
        )
        if answer.status_code >= 400:
            raise error_for_status(answer.status_code)(answer.text)
        return ADAPTERS.parse(HttpResponse(answer.status_code, {}, answer.content), call)


class AnotherModel(OnceOnly):
    """Repeats a failed request with another model, which is refused."""

    def complete(self, call: Call) -> Response:
        try:
            return super().complete(call)
        except ServiceUnavailableError:
            return super().complete(replace(call, request={**call.request, "model": "gpt-3"}))


@pytest.fixture(scope="module")
def outage() -> Scenario:
    (found,) = lint.load_all(
        [CASSETTES], lambda path: path.name.startswith("answer-after-an-outage.") and path.parent.name == "openai"
    )
    return found


def test_a_request_need_not_be_repeated(runner: Runner, outage: Scenario) -> None:
    once = declarations.describe("once", OnceOnly())
    outcome = runner.run(Cell(once, outage, "json", "complete")).outcome
    assert outcome.unsupported == "the adapter does not ask again after a 503, and need not"


def test_without_the_capability_errors_any_error_may_report_the_failure(runner: Runner, outage: Scenario) -> None:
    class Undeclared(Unread):
        capabilities = ("streaming",)

    outcome = runner.run(Cell(declarations.describe("undeclared", Undeclared()), outage, "json", "complete")).outcome
    assert outcome.unsupported == "the adapter does not ask again after a 503, and need not"


def test_another_request_after_a_failure_is_refused_with_an_explanation(runner: Runner, outage: Scenario) -> None:
    other = declarations.describe("other", AnotherModel())
    outcome = runner.run(Cell(other, outage, "json", "complete")).outcome
    assert outcome.unsupported is None
    assert str(outcome.difference) == 'the adapter sent /model = "gpt-3"; recorded was /model = "gpt-4o-mini"'


class Unread(OnceOnly):
    """Raises an error of its client for a status."""

    def complete(self, call: Call) -> Response:
        try:
            return super().complete(call)
        except ServiceUnavailableError:
            raise LookupError("the body was not read") from None


def test_a_failure_says_that_the_first_request_was_not_answered(runner: Runner, outage: Scenario) -> None:
    unread = declarations.describe("unread", Unread())
    exchange = runner.run(Cell(unread, outage, "json", "complete"))
    judgement = judge_exchange(catalogue()["SHP-1"].rule, exchange)
    assert (judgement.message or "").startswith(
        "expected ServiceUnavailableError for the 503, or a second request; it raised LookupError"
    )
    assert "map it, alone or with a status, in the adapter's `errors`" in (judgement.message or "")
    shown = recorded_and_expected(outage, "json")["outage"]
    assert shown.startswith("the first request is answered with 503 ")
    assert "outage" not in recorded_and_expected(replace(outage, outage=None), "json")


def test_methods_without_requests_have_no_connection_faults(faulty: list[Scenario]) -> None:
    assert {cell.method for cell in cells([REFERENCE], faulty, Filters())} == {"complete", "stream"}


def test_no_connection_fails_in_the_vcr_transport(faulty: list[Scenario]) -> None:
    runner = Runner(10, VcrTransport())
    outcome = runner.run(Cell(REFERENCE, faulty[0], "json", "complete")).outcome
    runner.close()
    assert outcome.unsupported == "no connection and no attempt can fail in this transport"
