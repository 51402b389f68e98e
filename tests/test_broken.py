"""Every rule has a broken adapter that fails it for the stated reason, and fails exactly the stated rules."""

from __future__ import annotations

import functools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from llm_conformance.adapter import declarations
from llm_conformance.contract import HttpResponse
from llm_conformance.judging import plan
from llm_conformance.judging.cell_judge import CellJudge
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.judge import known_without_running
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.locations import RULES
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules import shapes
from llm_conformance.rules.catalogue import catalogue, rules_in
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios import canary, core_faults
from llm_conformance.scenarios.scenario import Scenario
from tests.broken import BROKEN
from tests.broken.base import Broken
from tests.broken.round_trip import FaultyRequest
from tests.conftest import WEEKLY

EFFORT = Effort(5, reproducible=True)
SOURCE = r"\b(?:S[0-4]-\d\d|C-\d\d|U-\d\d)\b"
Failures = dict[str, list[Verdict]]
ALL_RULES: list[Rule] = [rule for path in sorted(RULES.glob("test_*.py")) for _, rule in rules_in(path)]


@pytest.fixture(scope="module")
def remembered() -> Iterator[None]:
    """Keep results that depend on nothing but scenarios and returned values: most are the same for all adapters.

    A run remembers less, because it has fewer adapters and may have more scenarios.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canary, "swapped", functools.cache(canary.swapped.__wrapped__))
        patch.setattr(shapes, "_problems", functools.cache(shapes._problems.__wrapped__))
        yield


@pytest.fixture
def runner(remembered: None) -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


def failures(
    adapter: Broken,
    scenarios: Iterable[Scenario],
    runner: Runner,
    effort: Effort = EFFORT,
    is_enough: Callable[[Failures], bool] = lambda _found: False,
) -> Failures:
    """Return all failures by rule. An error in a rule is raised.

    `is_enough` gets the failures so far, after all cells of an API. If it returns True, no further API is judged.

    Cutting all streams would take half of the time: only the streams of one scenario of each API are cut, unless the
    adapter fails STR-4.
    """
    broken = declarations.describe("broken", adapter)
    apis = [api for api in adapter.providers if adapter.touches(api)]
    scenarios = [scenario for scenario in scenarios if str(scenario.api) in apis]
    found: Failures = defaultdict(list)
    cut = {str(scenario.api): scenario for scenario in scenarios if "stream" in scenario.modes}
    cutting, whole = CellJudge(runner, effort), CellJudge(runner, Effort(0))
    for api in apis:
        own = [scenario for scenario in scenarios if str(scenario.api) == api]
        for cell in plan.cells([broken], own, plan.Filters()):
            if not cell.runnable or asks_as_the_reference(adapter, cell, runner):
                continue
            cuts = "STR-4" in adapter.fails or cell.scenario in cut.values()
            for judged in (cutting if cuts else whole).judge(cell, rules_of(cell)):
                if judged.verdict.status == Status.FAIL:
                    found[judged.verdict.rule].append(judged.verdict)
        if is_enough(found):
            break
    return found


_RULES_OF: dict[tuple[Scenario, str, str], list[Rule]] = {}


def rules_of(cell: Cell) -> list[Rule]:
    """Return the rules whose verdict on a cell depends on what the adapter does; no other verdict is a failure.

    Which rules these are depends on scenario, mode and method only, if the adapter has the method.
    """
    key = cell.scenario, cell.mode, cell.method
    if key not in _RULES_OF:
        _RULES_OF[key] = [rule for rule in ALL_RULES if known_without_running(cell, rule) is None]
    return _RULES_OF[key]


def asks_as_the_reference(adapter: Broken, cell: Cell, runner: Runner) -> bool:
    """Return True if the fault is one of requests, and does not show in the request of this cell.

    This is known only for calls without earlier answers, because the adapter itself gives those.
    """
    if not isinstance(adapter, FaultyRequest) or cell.scenario.earlier:
        return False
    return not adapter.asks_otherwise(runner.build_call(cell, "", HttpResponse(200, {}), {}))


def check(broken: type[Broken], found: Mapping[str, Sequence[str]]) -> None:
    """Check that an adapter fails exactly its rules, the first of them for the reason that it states.

    `found` are the scenarios and messages of all failures, by rule.
    """
    surplus = {id: messages[0] for id, messages in found.items() if id not in broken.fails}
    assert surplus == {}
    assert set(found) == set(broken.fails)
    assert says_why(broken, found), found[broken.fails[0]][0]


def says_why(broken: type[Broken], found: Mapping[str, Sequence[str]]) -> bool:
    """Return True if a failure of the first rule has the reason that the adapter states."""
    return any(re.search(broken.says, message) for message in found[broken.fails[0]])


def as_messages(found: Failures) -> dict[str, list[str]]:
    """Return the scenario and the message of each failure, by rule."""
    return {rule: [f"{each.scenario}: {each.message}" for each in failed] for rule, failed in found.items()}


FIRST_OF_EACH_RULE = {broken.fails[0]: broken for broken in reversed(BROKEN)}.values()
"""For each rule, the first broken adapter that fails it. Of the others, one in nine runs always."""


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(each, marks=[] if each in FIRST_OF_EACH_RULE else [pytest.mark.weekly(but_one_in=9)])
        for each in BROKEN
    ],
    ids=lambda broken: broken.__name__,
)
def test_a_broken_adapter_fails_its_own_rules_and_no_other(
    broken: type[Broken], scenarios: list[Scenario], runner: Runner, pytestconfig: pytest.Config
) -> None:
    """Judge without pytest: its own work on each cell would take longer than the rest.

    Judging all APIs takes most of the time, and is done only once a week. Otherwise the test stops after the API with
    which the adapter has failed the last of its rules.
    """

    def is_enough(found: Failures) -> bool:
        return not is_weekly and set(broken.fails) <= set(found) and says_why(broken, as_messages(found))

    is_weekly = pytestconfig.getoption(WEEKLY)
    check(broken, as_messages(failures(broken(), scenarios, runner, is_enough=is_enough)))


AS_A_USER = [
    next(broken for broken in BROKEN if broken.fails[0].startswith(f"{family}-"))
    for family in ("MSG", "STR", "RPL", "ERR")
]
"""The adapters that are judged a second time, as a user does it: in a new process."""
FOR_A_USER = ("zai:chat", "cohere:chat")
"""The APIs that they are judged with then. Each adapter fails all of its rules with each of these APIs."""


def test_a_user_sees_the_failures_that_are_found_without_pytest(
    pytester: pytest.Pytester, scenarios: list[Scenario], runner: Runner
) -> None:
    judged = {f"{broken.__module__}:{broken.__name__}": broken for broken in AS_A_USER}
    path = pytester.path / "report.json"
    result = pytester.runpytest_subprocess(
        str(RULES),
        *(f"--adapter={spec}" for spec in judged),
        *(f"--conformance-provider={api}" for api in FOR_A_USER),
        "--conformance-examples=0",
        "--conformance-probes=judge",
        f"--conformance-report={path}",
        "-q",
        "--tb=no",
        "--no-summary",
    )
    assert result.ret == 1
    report = json.loads(path.read_text("utf-8"))
    in_report = [each for each in report["results"] if each["status"] == "fail"]
    with_core_faults = [each for each in (*scenarios, *core_faults.of(scenarios)) if str(each.api) in FOR_A_USER]
    names = ("rule", "scenario", "mode", "method", "message")
    for adapter in report["adapters"]:
        found = failures(judged[adapter["spec"]](), with_core_faults, runner, Effort(0))
        here = {tuple(getattr(each, name) for name in names) for verdicts in found.values() for each in verdicts}
        assert {tuple(each[name] for name in names) for each in in_report if each["adapter"] == adapter["name"]} == here
        assert set(found) == set(judged[adapter["spec"]].fails)


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
        "--conformance-examples=0",
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
