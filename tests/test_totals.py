"""A total that the provider does not report may be missing; one that contradicts its counts may be the sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from llm_conformance.adapter import declarations
from llm_conformance.contract import Call, HttpResponse, Response
from llm_conformance.judging.judge import judge_exchange
from llm_conformance.judging.status import Status
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios.scenario import Scenario
from tests.calls import ADAPTERS


class WithoutTotal:
    """The reference adapters, without totals."""

    providers = ("ollama", "openai")

    def parse(self, http: HttpResponse, call: Call) -> Response:
        response = ADAPTERS.parse(http, call)
        return replace(response, usage=response.usage and replace(response.usage, total_tokens=None))


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


@pytest.mark.parametrize(
    ("id", "status"), [("ollama/counts-stand-in-the-last-line", Status.PASS), ("openai/choices-two", Status.FAIL)]
)
def test_a_total_may_be_missing_where_none_is_reported(
    scenarios: list[Scenario], runner: Runner, id: str, status: Status
) -> None:
    scenario = next(each for each in scenarios if each.id == id)
    cell = Cell(declarations.describe("less", WithoutTotal()), scenario, "json", "parse")
    assert judge_exchange(catalogue()["USE-1"].rule, runner.run(cell)).status == status


@pytest.mark.parametrize(("off_by", "status"), [(0, Status.PASS), (1, Status.FAIL)])
def test_the_sum_is_right_where_the_provider_s_total_is_not_the_sum(
    scenarios: list[Scenario], runner: Runner, off_by: int, status: Status
) -> None:
    scenario = next(each for each in scenarios if each.id == "openai/choices-two")
    expected = scenario.expected["json"]
    assert expected.usage
    counted = replace(expected.usage, total_tokens=7)
    odd = replace(scenario, expected={**scenario.expected, "json": replace(expected, usage=counted)})

    class Adding:
        providers = ("openai",)

        def parse(self, http: HttpResponse, call: Call) -> Response:
            response = ADAPTERS.parse(http, call)
            assert response.usage
            assert response.usage.total_tokens
            total = response.usage.total_tokens + off_by
            return replace(response, usage=replace(response.usage, total_tokens=total))

    cell = Cell(declarations.describe("adding", Adding()), odd, "json", "parse")
    assert judge_exchange(catalogue()["USE-1"].rule, runner.run(cell)).status == status
