"""Every rule has a broken adapter that fails it for the stated reason, and fails exactly the stated rules."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from llm_conformance.adapter import declarations
from llm_conformance.judging import plan
from llm_conformance.judging.cell_judge import CellJudge
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.status import Status
from llm_conformance.locations import RULES
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import catalogue, rules_in
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios.scenario import Scenario
from tests.broken import BROKEN
from tests.broken.base import Broken

EFFORT = Effort(5, reproducible=True)
SOURCE = r"\b(?:S[0-4]-\d\d|C-\d\d|U-\d\d)\b"
ALL_RULES: list[Rule] = [rule for path in sorted(RULES.glob("test_*.py")) for _, rule in rules_in(path)]


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


def failures(adapter: Broken, scenarios: list[Scenario], runner: Runner) -> dict[str, list[str]]:
    """Return the messages of all failures by rule. An error in a rule is raised.

    Cutting all streams would take half of the time: only the streams of one scenario of each API are cut, unless the
    adapter fails STR-4.
    """
    broken = declarations.describe("broken", adapter)
    apis = [api for api in adapter.providers if adapter.touches(api)]
    scenarios = [scenario for scenario in scenarios if str(scenario.api) in apis]
    found: dict[str, list[str]] = defaultdict(list)
    cut = {str(scenario.api): scenario for scenario in scenarios if "stream" in scenario.modes}
    cutting, whole = CellJudge(runner, EFFORT), CellJudge(runner, Effort(0))
    for cell in plan.cells([broken], scenarios, plan.Filters()):
        cuts = "STR-4" in adapter.fails or cell.scenario in cut.values()
        for judged in (cutting if cuts else whole).judge(cell, ALL_RULES):
            if judged.verdict.status == Status.FAIL:
                found[judged.verdict.rule].append(f"{cell}: {judged.verdict.message}")
    return found


def check(broken: type[Broken], found: Mapping[str, list[str]]) -> None:
    """Check that an adapter fails exactly its rules, the first of them for the reason that it states."""
    surplus = {id: messages[0] for id, messages in found.items() if id not in broken.fails}
    assert surplus == {}
    assert set(found) == set(broken.fails)
    assert any(re.search(broken.says, message) for message in found[broken.fails[0]]), found[broken.fails[0]][0]


AS_A_USER = [
    next(broken for broken in BROKEN if broken.fails[0].startswith(f"{family}-"))
    for family in ("MSG", "STR", "RPL", "ERR")
]
"""The adapters that are judged as a user does it, in a new process; the others are judged without pytest."""


def test_the_suite_fails_broken_adapters_in_their_own_rules_and_no_other(pytester: pytest.Pytester) -> None:
    judged = {f"{broken.__module__}:{broken.__name__}": broken for broken in AS_A_USER}
    path = pytester.path / "report.json"
    result = pytester.runpytest_subprocess(
        str(RULES),
        *(f"--adapter={spec}" for spec in judged),
        "--conformance-examples=0",
        f"--conformance-report={path}",
        "-q",
        "--tb=no",
        "--no-summary",
    )
    assert result.ret == 1
    report = json.loads(path.read_text("utf-8"))
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for each in report["results"]:
        if each["status"] == "fail":
            found[each["adapter"]][each["rule"]].append(each["message"])
    for adapter in report["adapters"]:
        check(judged[adapter["spec"]], found[adapter["name"]])


@pytest.mark.parametrize(
    "broken", [each for each in BROKEN if each not in AS_A_USER], ids=lambda broken: broken.__name__
)
def test_a_broken_adapter_fails_its_own_rules_and_no_other(
    broken: type[Broken], scenarios: list[Scenario], runner: Runner
) -> None:
    """Judge without pytest: its own work on each cell would take longer than the rest."""
    check(broken, failures(broken(), scenarios, runner))


def test_every_rule_has_its_own_broken_adapter() -> None:
    assert {broken.fails[0] for broken in BROKEN} == {rule.id for rule in ALL_RULES}


def test_rules_are_documented_and_unique() -> None:
    assert len({rule.id for rule in ALL_RULES}) == len(ALL_RULES)
    for rule in ALL_RULES:
        assert rule.requirement.endswith("."), rule.id
        assert "should" not in rule.requirement
        entry = catalogue()[rule.id]
        assert entry.reason, rule.id
        assert entry.sources, f"{rule.id} names no source"
        assert all(re.fullmatch(SOURCE, source) for source in entry.sources), entry.sources
        assert not re.search(SOURCE, f"{rule.requirement} {entry.reason}"), f"{rule.id} names a source in its text"


def test_the_terminal_shows_the_failure(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess(
        str(RULES),
        f"--adapter={Path(__file__).with_name('broken') / 'message.py'}:TrimmedMessage",
        "--conformance-provider=zai",
        "--tb=short",
        "-q",
    )
    result.stdout.fnmatch_lines(
        [
            "Requirement  MSG-2: `message` is the whole visible answer, code point for code point.",
            "Expected     the message of *",
            "Where        zai/*, json, parse",
            "Reproduce    pytest *--conformance-rule=MSG-2",
            "PARTIAL: *",
        ]
    )
    assert result.ret == 1
