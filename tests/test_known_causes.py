"""A known cause neither ends a search nor blinds it: other faults of the same adapter are found, and made smaller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from llm_conformance.adapter import declarations
from llm_conformance.contract import Call, Response
from llm_conformance.judging import search
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.example_judge import ExampleJudge
from llm_conformance.judging.search import find_failures
from llm_conformance.judging.status import Status
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.rule import Rule
from llm_conformance.rules.violation import Violation
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.table import table
from tests.broken.base import FaultyResponse
from tests.draws import theme_named
from tests.test_broken import ALL_RULES

EFFORT = Effort(60, reproducible=True)
ANSWERS = theme_named("answers")
ZAI = table()["zai", "chat"]


class TwoFaults(FaultyResponse):
    """Dies of most answers, and of those with tool calls for another reason."""

    apis = ("zai:chat",)

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def alter(self, response: Response, call: Call) -> Response:
        self.calls += 1
        if response.tool_calls:
            raise LookupError("tool calls")
        if response.message:
            raise KeyError("message")
        return response


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


def judged(
    runner: Runner, *known: str, shrinks: bool = True, effort: Effort = EFFORT
) -> tuple[ExampleJudge, list[Scenario], TwoFaults]:
    """Search; return the judge, all scenarios that were drawn, and the adapter. `known` are exceptions."""

    def positions(_rule: Rule, violation: Violation) -> Sequence[int] | None:
        return [0] if any(each in violation.cause for each in known) else None

    instance = TwoFaults()
    adapter = declarations.describe("two", instance)
    judge = ExampleJudge(runner, ALL_RULES, positions)
    scenarios: list[Scenario] = []

    def cell(scenario: Scenario) -> Cell:
        scenarios.append(scenario)
        return Cell(adapter, scenario, "json", "parse")

    find_failures(judge, "faults in turn", ANSWERS.scenarios(ZAI, "json"), cell, effort, shrinks=shrinks)
    return judge, scenarios, instance


def exceptions(judge: ExampleJudge) -> set[str]:
    return {cause.partition(" ")[0] for _, cause in judge.new}


def test_one_fault_does_not_hide_another(runner: Runner) -> None:
    judge, _, _ = judged(runner)
    assert exceptions(judge) == {"KeyError", "LookupError"}
    (shape,) = (result for rule, result in judge.results.items() if rule.id == "SHP-1")
    assert [each is shape.counterexample for each in shape.new] == [True, False]


def test_a_known_cause_does_not_hide_another(runner: Runner) -> None:
    judge, scenarios, _ = judged(runner, "KeyError")
    assert exceptions(judge) == {"LookupError"}
    assert len(scenarios) > EFFORT.examples  # the other cause was made smaller
    (shape,) = (result for rule, result in judge.results.items() if rule.id == "SHP-1")
    assert shape.status == Status.FAIL
    assert "LookupError" in str(shape.shown and shape.shown.violation)


def test_what_is_known_is_not_made_smaller_and_costs_no_further_call(runner: Runner) -> None:
    judge, scenarios, adapter = judged(runner, "KeyError", "LookupError")
    assert not judge.new
    assert len(scenarios) == EFFORT.examples
    assert adapter.calls <= 2 * EFFORT.examples  # a rule may ask for the same answer in other pieces


def test_what_is_drawn_does_not_depend_on_what_is_known(runner: Runner) -> None:
    _, everything, _ = judged(runner, "KeyError", "LookupError")
    _, one, _ = judged(runner, "KeyError")
    _, nothing, _ = judged(runner, shrinks=False)
    bodies = [[each.interactions["json"].body for each in run[: EFFORT.examples]] for run in (everything, one, nothing)]
    assert bodies[0] == bodies[1] == bodies[2]
    assert len(nothing) == EFFORT.examples


@pytest.mark.parametrize("most", [3, 8])
def test_the_calls_that_make_failures_smaller_are_limited(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(search, "MOST", most)
    _, scenarios, _ = judged(runner)
    assert len(scenarios) - EFFORT.examples == most


def test_failures_are_made_smaller(runner: Runner) -> None:
    few = Effort(4, reproducible=True)  # among many, the smallest may be as small as can be
    judge, _, _ = judged(runner, effort=few)
    as_drawn, _, _ = judged(runner, shrinks=False, effort=few)
    assert judge.new.keys() == as_drawn.new.keys()
    assert all(judge.new[failure].size <= found.size for failure, found in as_drawn.new.items())
    assert sum(each.size[0] for each in judge.new.values()) < sum(each.size[0] for each in as_drawn.new.values())
