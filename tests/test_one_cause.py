"""A fault that many conversations show, each with other values, is one cause and so one finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.contract import Call, LLMError, Response, StreamEvent, Usage
from llm_conformance.judging.cell_judge import CellJudge
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.status import Status
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.reports.findings import cause_of
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.api import PARTS
from tests.broken.base import FaultyResponse
from tests.broken.usage import FaultyUsage

LOST_FINISH = "expected a finish_reason; got null"
LOST_CACHE = "expected cached_tokens N; got cached_tokens null"
HIDDEN = 'expected an error, raised or as response.error; got response.completed with finish_reason "stop"'


class FinishReasonNeverRead(FaultyResponse):
    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, finish_reason=None)


class FilterTakenForAnEnd(FaultyResponse):
    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, finish_reason="stop" if response.finish_reason == "content_filter" else None)


class DetailsLost(FaultyUsage):
    def count(self, usage: Usage) -> Usage:
        details: dict[str, Any] = dict.fromkeys(PARTS)
        return replace(usage, **details)


class ErrorsHidden(ReferenceAdapters):
    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Iterator[StreamEvent]:
        try:
            yield from super().parse_stream(chunks, call)
        except LLMError:
            answer = Response(message="", provider=call.provider, model=call.model, finish_reason="stop", usage=None)
            yield StreamEvent("response.completed", response=answer)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


def causes(adapter: ReferenceAdapters, rule: str, scenarios: list[Scenario], runner: Runner) -> dict[str, set[str]]:
    """Return the messages of the failures of a rule in the scenarios of OpenAI's chat completions, by cause."""
    described, judge = declarations.describe("own", adapter), CellJudge(runner, Effort(0))
    found: dict[str, set[str]] = {}
    for scenario in scenarios:
        if str(scenario.api) != "openai:chat" or scenario.over_http:
            continue
        for mode in scenario.modes:
            cell = Cell(described, scenario, mode, "parse" if mode == "json" else "parse_stream")
            for each in judge.judge(cell, [catalogue()[rule].rule]):
                if each.verdict.status == Status.FAIL:
                    found.setdefault(cause_of(each.verdict.to_dict()), set()).add(each.verdict.message or "")
    return found


def test_a_finish_reason_that_is_never_read_is_one_cause_for_all_words(
    scenarios: list[Scenario], runner: Runner
) -> None:
    found = causes(FinishReasonNeverRead(), "FIN-1", scenarios, runner)
    assert found.keys() == {LOST_FINISH}
    assert len(found[LOST_FINISH]) > 3


def test_a_wrong_word_is_another_cause(scenarios: list[Scenario], runner: Runner) -> None:
    found = causes(FilterTakenForAnEnd(), "FIN-1", scenarios, runner)
    assert found.keys() == {LOST_FINISH, 'expected finish_reason "content_filter"; got "stop"'}


def test_details_of_the_token_counts_that_are_all_lost_are_one_cause(scenarios: list[Scenario], runner: Runner) -> None:
    found = causes(DetailsLost(), "USE-5", scenarios, runner)
    assert found.keys() == {LOST_CACHE}
    assert len(found[LOST_CACHE]) > 3


def test_hidden_errors_are_one_cause_for_all_classes(scenarios: list[Scenario], runner: Runner) -> None:
    found = causes(ErrorsHidden(), "STR-6", scenarios, runner)
    assert found.keys() == {HIDDEN}
    assert len(found[HIDDEN]) > 3
