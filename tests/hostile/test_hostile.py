"""Whatever an adapter does, its call ends with a verdict of its own, and the next call with the expected one."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from llm_conformance.adapter import loader
from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.judging.judge import Judgement, judge
from llm_conformance.judging.status import Status
from llm_conformance.locations import RULES
from llm_conformance.replay import runner
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import rules_in
from llm_conformance.rules.exchange import Exchange
from llm_conformance.scenarios import build, load
from llm_conformance.scenarios.scenario import Scenario
from tests import miniature
from tests.hostile.expected import BATTERY, Hostile

HERE = Path(__file__).parent
ALL_RULES = [rule for path in sorted(RULES.glob("test_*.py")) for _, rule in rules_in(path)]
LIMIT_S, GRACE_S = 0.5, 0.5
MODES = {"parse": "json", "complete": "json", "parse_stream": "stream", "stream": "stream"}


class Battery:
    """Runs calls of the hostile adapter in its own process."""

    def __init__(self, runner: Runner, adapter: AdapterUnderTest, scenario: Scenario) -> None:
        self._runner = runner
        self._adapter = adapter
        self._scenario = scenario

    def call(self, name: str, method: str) -> tuple[Exchange, dict[str, Judgement]]:
        """Return the exchange of a call, and what each rule says of it."""
        scenario = replace(self._scenario, id=f"hostile/{name}")
        cell = Cell(self._adapter, scenario, MODES[method], method)  # type: ignore[arg-type]
        exchange = self._runner.exchange(cell)
        return exchange, {rule.id: judge(cell, rule, lambda: exchange) for rule in ALL_RULES}

    def renew(self) -> None:
        """End the adapter's process, so that the next call has a new one."""
        self._adapter.close()


@pytest.fixture(scope="module")
def battery(tmp_path_factory: pytest.TempPathFactory, interruptible: None) -> Iterator[Battery]:
    directory = tmp_path_factory.mktemp("hostile")
    scenario = build.build(load.read(miniature.write(directory)), directory)
    adapter = loader.load(str(HERE / "adapter.py"), HERE, (), "namespace")
    with (
        mock.patch.object(runner, "GRACE_S", GRACE_S),
        mock.patch.object(runner, "HANGS_UNTIL_GIVEN_UP", 10_000),
    ):
        made = Runner(LIMIT_S, ReplayServer())
        yield Battery(made, adapter, scenario)
        made.close()
    adapter.close()


importlib.import_module("tests.hostile.adapter")


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("name", BATTERY)
def test_a_hostile_call_has_a_verdict_of_its_own_and_the_next_call_is_healthy(battery: Battery, name: str) -> None:
    hostile = BATTERY[name]
    exchange, judgements = battery.call(name, hostile.method)
    after, then = battery.call("healthy", hostile.method)
    if hostile.renews or hostile.spoils:
        battery.renew()
    assert_judged(hostile, exchange, judgements)
    spoilt = frozenset({"SHP-1"} if hostile.spoils else ())
    assert_judged(replace(hostile, fault=hostile.spoils, broken=spoilt), after, then)


def assert_judged(expected: Hostile, exchange: Exchange, judgements: dict[str, Judgement]) -> None:
    """Check that the expected rules fail, that the fault is the expected one, and that something was judged."""
    failed = {rule: each.message for rule, each in judgements.items() if each.status == Status.FAIL}
    statuses = Counter(each.status for each in judgements.values())
    assert expected.fault in (exchange.outcome.fault or ""), exchange.outcome.fault
    assert bool(expected.fault) == bool(exchange.outcome.fault), exchange.outcome.fault
    assert set(failed) == expected.broken, failed
    if not expected.broken:
        passed = {rule for rule, each in judgements.items() if each.status == Status.PASS}
        assert passed >= {"SHP-1", "MSG-2", "RSN-1", "USE-3", "FIN-1", "PRV-2", "PRV-3"}
        assert not statuses[Status.BLOCKED]
