"""What is judged if an adapter promises no errors of its own for streams and connections that fail."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.contract import (
    AuthenticationError,
    Call,
    HttpResponse,
    LLMError,
    ServiceUnavailableError,
    StreamEvent,
)
from llm_conformance.judging.cell_judge import CellJudge
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.status import Status
from llm_conformance.locations import CASSETTES
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios import build, core_faults, load
from llm_conformance.scenarios.scenario import Scenario

RULES = ("ERR-2", "ERR-5", "ERR-8", "STR-2", "STR-6", "STR-9")
PROMISES = ("lost_connections", "unreadable_bodies", "incomplete_streams")
CUT_STREAM, CUT_BODY, ERROR_IN_STREAM = "stream-cut-in-the-text", "body-cut-short", "error-frame-before-done"
PAGE = "core-chat-stream-html"
LIMIT_S = 2


class Quiet(ReferenceAdapters):
    """Ends a stream that fails as if nothing had happened, and lets the exceptions of a parser through."""

    finish_reason: str | None = None

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Iterator[Any]:
        try:
            yield from super().parse_stream(chunks, call)
        except LLMError:
            answer = {"provider": call.provider, "model": call.model, "message": "", "usage": None}
            yield StreamEvent("response.completed", response={**answer, "finish_reason": self.finish_reason})  # type: ignore[arg-type]

    def parse(self, http: HttpResponse, call: Call) -> Any:
        return json.loads(http.body)


class Answers(ReferenceAdapters):
    """Ends a stream that fails with these events."""

    events: tuple[Mapping[str, Any], ...] = ()

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Iterator[Any]:
        list(chunks)
        yield from self.events


def completed(**fields: Any) -> Mapping[str, Any]:
    answer = {"provider": "deepseek", "model": "m", "message": "", "finish_reason": None, "usage": None}
    return {"event_type": "response.completed", "response": {**answer, **fields}}


def delta(text: str) -> Mapping[str, Any]:
    return {"event_type": "response.output_text.delta", "delta": text}


class Hangs(ReferenceAdapters):
    def parse(self, http: HttpResponse, call: Call) -> Any:
        time.sleep(60)


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(LIMIT_S, ReplayServer())
    yield made
    made.close()


def scenario_named(name: str) -> Scenario:
    if name == PAGE:
        paths = (CASSETTES / "deepseek").glob("*.scenario.yaml")
        every = core_faults.of(build.build(load.read(path), CASSETTES) for path in paths)
        return next(each for each in every if each.id == f"deepseek/{PAGE}")
    return build.build(load.read(CASSETTES / "deepseek" / f"{name}.scenario.yaml"), CASSETTES)


def judged(adapter: ReferenceAdapters, name: str, runner: Runner, *undeclared: str) -> Mapping[str, Status]:
    """Return the statuses of RULES, without those that have nothing to judge."""
    scenario = scenario_named(name)
    (mode,) = scenario.modes
    everything = declarations.describe("own", adapter)
    described = replace(everything, capabilities=everything.capabilities - set(undeclared))
    cell = Cell(described, scenario, mode, "parse" if mode == "json" else "parse_stream")
    rules = [catalogue()[id].rule for id in RULES]
    verdicts = [each.verdict for each in CellJudge(runner, Effort(0)).judge(cell, rules)]
    return {each.rule: Status(each.status) for each in verdicts if each.status != Status.VACUOUS}


def test_an_adapter_that_promises_an_error_has_to_raise_one(runner: Runner) -> None:
    assert judged(Quiet(), CUT_STREAM, runner)["STR-9"] == Status.FAIL
    assert judged(Quiet(), CUT_BODY, runner)["ERR-2"] == Status.FAIL


@pytest.mark.parametrize("name", [CUT_STREAM, PAGE])
def test_what_the_documentation_recommends_leaves_nothing_open(runner: Runner, name: str) -> None:
    found = judged(Quiet(), name, runner, "incomplete_streams")
    assert found["STR-9"] == Status.UNSUPPORTED
    assert set(found.values()) <= {Status.PASS, Status.UNSUPPORTED}


def test_a_stream_may_be_without_events_if_callers_have_to_notice_its_end(runner: Runner) -> None:
    found = judged(Answers(), PAGE, runner, *PROMISES)
    assert set(found.values()) <= {Status.UNSUPPORTED}
    found = judged(Answers(), PAGE, runner, "streaming", *PROMISES)
    assert set(found.values()) <= {Status.UNSUPPORTED}


def test_callers_may_have_to_see_that_no_terminal_event_came(runner: Runner) -> None:
    adapter = Answers()
    adapter.events = (delta("Die"),)
    assert set(judged(adapter, CUT_STREAM, runner, *PROMISES).values()) <= {Status.UNSUPPORTED}
    assert judged(adapter, CUT_STREAM, runner)["STR-9"] == Status.FAIL


CALL = {"id": "1", "type": "function", "name": "delete_all", "arguments": "{}"}


@pytest.mark.parametrize("fields", [{"message": "<html>"}, {"tool_calls": [CALL]}, {"message": 5}])
def test_content_that_nobody_sent_fails_whatever_is_declared(runner: Runner, fields: Mapping[str, Any]) -> None:
    adapter = Answers()
    adapter.events = (completed(**fields),)
    assert judged(adapter, PAGE, runner, *PROMISES)["STR-9"] == Status.FAIL


@pytest.mark.parametrize("nothing", [None, [], "<html>"])
def test_something_that_is_no_response_fails_whatever_is_declared(runner: Runner, nothing: object) -> None:
    class Returns(ReferenceAdapters):
        def parse(self, http: HttpResponse, call: Call) -> Any:
            return nothing

    assert judged(Returns(), CUT_BODY, runner, "errors", *PROMISES)["ERR-2"] == Status.FAIL


def test_an_end_of_the_process_fails_whatever_is_declared(runner: Runner) -> None:
    class Exits(ReferenceAdapters):
        def parse(self, http: HttpResponse, call: Call) -> Any:
            sys.exit(3)

    assert judged(Exits(), CUT_BODY, runner, *PROMISES)["ERR-2"] == Status.FAIL


@pytest.mark.parametrize("finish_reason", [None, "error"])
def test_callers_may_have_to_see_that_a_stream_is_incomplete(runner: Runner, finish_reason: str | None) -> None:
    adapter = Quiet()
    adapter.finish_reason = finish_reason
    assert judged(adapter, CUT_STREAM, runner, "incomplete_streams")["STR-9"] == Status.UNSUPPORTED


def test_a_finish_reason_that_is_made_up_fails_whatever_is_declared(runner: Runner) -> None:
    adapter = Quiet()
    adapter.finish_reason = "stop"
    assert judged(adapter, CUT_STREAM, runner, *PROMISES)["STR-9"] == Status.FAIL


def test_an_error_of_the_provider_is_never_left_to_the_callers(runner: Runner) -> None:
    found = judged(Quiet(), ERROR_IN_STREAM, runner, *PROMISES)
    assert found["STR-6"] == Status.FAIL
    assert "STR-9" not in found


def test_exceptions_of_a_client_are_no_failure_of_a_library_that_hands_them_on(runner: Runner) -> None:
    found = judged(Quiet(), CUT_BODY, runner, "unreadable_bodies")
    assert (found["ERR-2"], found["ERR-8"]) == (Status.UNSUPPORTED, Status.PASS)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ServiceUnavailableError, Status.UNSUPPORTED),
        (LLMError, Status.UNSUPPORTED),
        (AuthenticationError, Status.FAIL),
    ],
)
def test_an_error_that_misleads_fails_whatever_is_declared(
    runner: Runner, error: type[LLMError], status: Status
) -> None:
    class Raises(ReferenceAdapters):
        def parse(self, http: HttpResponse, call: Call) -> Any:
            raise error("no answer")

    assert judged(Raises(), CUT_BODY, runner)["ERR-2"] == Status.FAIL
    assert judged(Raises(), CUT_BODY, runner, "unreadable_bodies")["ERR-2"] == status


def test_a_call_has_to_come_back_whatever_is_declared(runner: Runner) -> None:
    assert judged(Hangs(), CUT_BODY, runner, *PROMISES)["ERR-2"] == Status.FAIL
