"""Rules that compare an exchange with a second one: if the second one fails, they are blocked and say so."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.contract import Call, HttpResponse
from llm_conformance.judging.judge import Judgement, judge
from llm_conformance.judging.status import Status
from llm_conformance.replay import runner as runner_module
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.rules.outcome import Outcome
from llm_conformance.scenarios import canary
from llm_conformance.scenarios.scenario import Scenario, recut

CANARY = "the same recording with canary tokens in place of the reasoning, to compare with: "
PLAIN = "the plain response with the same content, to compare with: "
WHOLE = "the same stream in whole frames, to compare with: "
PARTNERS = {"MSG-1": CANARY, "RSN-1": CANARY, "STR-4": WHOLE, "STR-8": PLAIN}
"""Every rule that compares an exchange with another one, and how it names that."""
CUTS = (7,)


def crash() -> Any:
    raise ValueError("in the partner")


def hang() -> Any:
    time.sleep(60)


def give_something_invalid() -> Any:
    return {"provider": "deepseek", "message": 7, "reasoning": 7}


WAYS: dict[Callable[[], Any], str] = {
    crash: "the call failed: raised ValueError: in the partner",
    hang: "the call failed: did not come back within ",
}


class FailsInThePartner(ReferenceAdapters):
    """Answers the exchange that is judged, and does something else in the one that it is compared with."""

    def __init__(self, fails: Callable[[], Any], is_partner: Callable[[Any], bool]) -> None:
        super().__init__()
        self.providers = ("deepseek",)
        self._fails = fails
        self._is_partner = is_partner

    def parse(self, http: HttpResponse, call: Call) -> Any:
        return self._fails() if self._is_partner(http.body) else super().parse(http, call)

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Any:
        pieces = list(chunks)
        if self._is_partner(pieces):
            yield self._fails()
        else:
            yield from super().parse_stream(pieces, call)


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    monkeypatch.setattr(runner_module, "GRACE_S", 0.0)
    made = Runner(1, ReplayServer())
    yield made
    made.close()


@pytest.fixture
def scenario(scenarios: list[Scenario]) -> Scenario:
    return next(each for each in scenarios if each.same_content and each.id == "deepseek/reasoning-beside-content")


def judged(rule: str, fails: Callable[[], Any], scenario: Scenario, runner: Runner) -> Judgement:
    """Return what a rule says of an exchange whose partner fails."""
    entry = catalogue()[rule].rule
    is_partner: Callable[[Any], bool]
    method, mode = ("parse_stream", "stream") if rule.startswith("STR") else ("parse", "json")
    if rule == "STR-4":
        whole, scenario = scenario, recut(scenario, CUTS)
        frames = list(whole.pieces(whole.interactions["stream"]))
        is_partner = lambda given: given == frames  # noqa: E731
    elif rule == "STR-8":
        is_partner = lambda given: isinstance(given, bytes)  # noqa: E731
    else:
        is_partner = lambda given: canary.TOKEN.encode() in given  # noqa: E731
    adapter = declarations.describe("partner", FailsInThePartner(fails, is_partner))
    cell = Cell(adapter, scenario, mode, method)  # type: ignore[arg-type]
    return judge(cell, entry, lambda: runner.exchange(cell))


@pytest.mark.parametrize("rule", PARTNERS)
@pytest.mark.parametrize("fails", WAYS, ids=lambda way: way.__name__)
def test_a_partner_that_fails_blocks_the_rule_and_is_named(
    rule: str, fails: Callable[[], Any], scenario: Scenario, runner: Runner
) -> None:
    found = judged(rule, fails, scenario, runner)
    assert found.status == Status.BLOCKED, found.message
    assert (found.message or "").startswith(f"{PARTNERS[rule]}{WAYS[fails]}")


@pytest.mark.parametrize("rule", ["MSG-1", "RSN-1", "STR-8"])
def test_a_field_of_the_partner_that_cannot_be_read_blocks_the_rule(
    rule: str, scenario: Scenario, runner: Runner
) -> None:
    found = judged(rule, give_something_invalid, scenario, runner)
    field = "reasoning" if rule == "RSN-1" else "message"
    assert found.message == f"{PARTNERS[rule]}`{field}` is not valid; SHP-1 reports that"
    assert found.status == Status.BLOCKED


@pytest.mark.parametrize(
    "outcome", [Outcome(unsupported="not to be had"), Outcome(blocked="not to be had")], ids=["unsupported", "blocked"]
)
def test_a_partner_that_was_not_had_blocks_the_rule(outcome: Outcome, scenario: Scenario, runner: Runner) -> None:
    adapter = declarations.describe("partner", ReferenceAdapters())
    cell = Cell(adapter, scenario, "stream", "parse_stream")
    plain = replace(runner.exchange(Cell(adapter, scenario, "json", "parse")), outcome=outcome)
    related = mock.Mock(other_mode=lambda: plain)
    found = judge(cell, catalogue()["STR-8"].rule, lambda: replace(runner.exchange(cell), related=related))
    assert (found.status, found.message) == (Status.BLOCKED, f"{PLAIN}not to be had")


def test_no_other_rule_compares_two_exchanges() -> None:
    comparing = {id for id, entry in catalogue().items() if ".related." in inspect.getsource(entry.rule.check)}
    assert comparing == set(PARTNERS)
