"""A total that the provider does not report may be missing; one that it reports may not."""

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
