"""What becomes of the verdicts if an adapter asks something else than what was recorded, or cannot ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.adapter.declarations import Method
from llm_conformance.contract import Call, Response
from llm_conformance.judging.judge import judge_exchange
from llm_conformance.judging.status import Status
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.scenarios.scenario import Scenario
from tests.test_broken import ALL_RULES


@pytest.fixture(scope="module")
def scenarios(scenarios: list[Scenario]) -> dict[str, Scenario]:
    return {scenario.id: scenario for scenario in scenarios}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    new_runner = Runner(10, ReplayServer())
    yield new_runner
    new_runner.close()


class Asks(ReferenceAdapters):
    """The reference adapter with calls that `change` alters, and without the capabilities in `undeclared`."""

    def __init__(self, change: Callable[[Call], Call], *undeclared: str) -> None:
        super().__init__()
        self.change = change
        declared = tuple(each for each in ReferenceAdapters.capabilities if each not in undeclared)
        self.capabilities = declared  # type: ignore[assignment]

    def complete(self, call: Call) -> Response:
        return super().complete(self.change(call))


def statuses(
    runner: Runner, scenario: Scenario, adapter: Any, method: Method = "complete"
) -> dict[Status, dict[str, str | None]]:
    """Return the messages of all rules that judge a scenario, by status and rule."""
    exchange = runner.run(Cell(declarations.describe("asks", adapter), scenario, "json", method))
    found: dict[Status, dict[str, str | None]] = {}
    for rule in ALL_RULES:
        if rule.applies(scenario.expected["json"], "json"):
            judgement = judge_exchange(rule, exchange)
            found.setdefault(judgement.status, {})[rule.id] = judgement.message
    return found


def without_tools(call: Call) -> Call:
    return replace(call, tools=(), params={key: value for key, value in call.params.items() if key != "tools"})


def without_documents(call: Call) -> Call:
    def texts(content: Any) -> Any:
        return content if isinstance(content, str) else [part for part in content if part["type"] == "text"]

    return replace(call, messages=tuple({**each, "content": texts(each["content"])} for each in call.messages))


def of_another_model(call: Call) -> Call:
    return replace(call, model="another", path=call.path.replace(call.model, "another"))


def without_key(call: Call) -> Call:
    return replace(call, api_key="another")


def at_another_path(call: Call) -> Call:
    return replace(call, path=f"/v9{call.path}")


REAL = [
    ("openai/custom-tool-call", without_tools, "tools", "the tool"),
    ("anthropic/citations-after-emoji", without_documents, "annotations", "the document"),
    ("openai/custom-tool-call", of_another_model, None, '/model = "another"'),
    ("openai/custom-tool-call", without_key, None, "no call.api_key"),
    ("openai/custom-tool-call", at_another_path, None, "/v9/chat/completions"),
]


@pytest.mark.parametrize(("id", "change", "capability", "message"), REAL)
def test_a_difference_is_one_failure_and_blocks_all_other_rules(
    runner: Runner,
    scenarios: dict[str, Scenario],
    id: str,
    change: Callable[[Call], Call],
    capability: str | None,
    message: str,
) -> None:
    found = statuses(runner, scenarios[id], Asks(change))
    assert set(found) == {Status.FAIL, Status.BLOCKED}
    assert set(found[Status.FAIL]) == {"RPL-4"}
    assert message in str(found[Status.FAIL]["RPL-4"])
    assert {"SHP-1", "MSG-2", "PRV-3", "ERR-4"} <= set(found[Status.BLOCKED])
    if capability is not None:
        undeclared = statuses(runner, scenarios[id], Asks(change, capability))
        assert set(undeclared) == {Status.UNSUPPORTED}
        assert all(
            str(each).startswith(f"`{capability}` is not declared: ")
            for each in undeclared[Status.UNSUPPORTED].values()
        )


def test_an_adapter_says_what_its_library_cannot_ask(runner: Runner, scenarios: dict[str, Scenario]) -> None:
    class NoCustomToolsError(NotImplementedError):
        pass

    def refuse(_call: Call) -> Call:
        raise NoCustomToolsError("no custom tools")

    def break_down(_call: Call) -> Call:
        raise RuntimeError("no custom tools")

    scenario = scenarios["openai/custom-tool-call"]
    found = statuses(runner, scenario, Asks(refuse))
    assert set(found) == {Status.UNSUPPORTED}
    message = "the adapter cannot make this call: NoCustomToolsError: no custom tools"
    assert set(found[Status.UNSUPPORTED].values()) == {message}
    failed = statuses(runner, scenario, Asks(break_down))
    assert set(failed[Status.FAIL]) == {"SHP-1"}
    undeclared = statuses(runner, scenario, Asks(break_down, "tools"))
    assert set(undeclared) == {Status.UNSUPPORTED}


def test_a_plain_text_can_be_asked_by_any_library_but_not_a_users_name(
    runner: Runner, scenarios: dict[str, Scenario]
) -> None:
    def refuse(_call: Call) -> Call:
        raise NotImplementedError("no names")

    scenario = replace(scenarios["openai/answer-empty"], params={"json": {}, "stream": {}})
    assert set(statuses(runner, scenario, Asks(refuse))[Status.FAIL]) == {"SHP-1"}
    named = replace(scenario, messages=({**scenario.messages[0], "name": "Ann"},))
    assert set(statuses(runner, named, Asks(refuse))) == {Status.UNSUPPORTED}


class RefusesAnswers(ReferenceAdapters):
    """Asks, and then cannot read the answer."""

    def complete(self, call: Call) -> Response:
        super().complete(call)
        raise NotImplementedError("this answer")


def test_an_answer_that_cannot_be_read_is_a_failure(runner: Runner, scenarios: dict[str, Scenario]) -> None:
    found = statuses(runner, scenarios["openai/custom-tool-call"], RefusesAnswers())
    assert set(found[Status.FAIL]) == {"SHP-1"}


def test_an_earlier_answer_that_is_not_sent_is_reported_once(runner: Runner, scenarios: dict[str, Scenario]) -> None:
    scenario = scenarios["openai/custom-call-goes-back"]

    def forget(call: Call) -> Call:
        return replace(call, messages=tuple(each for each in call.messages if getattr(each, "get", None)))

    declared = statuses(runner, scenario, Asks(forget))
    assert set(declared[Status.FAIL]) == {"RPL-1"}
    assert Status.BLOCKED not in declared
    undeclared = statuses(runner, scenario, Asks(forget, "round_trip"))
    assert set(undeclared) == {Status.UNSUPPORTED}
    assert "`round_trip` is not declared" in str(undeclared[Status.UNSUPPORTED]["SHP-1"])
