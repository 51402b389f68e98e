"""Core faults: every API is judged by the same ones, and each of them fails an adapter that hides it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.adapter import declarations
from llm_conformance.contract import Call, HttpResponse, LLMError
from llm_conformance.judging import plan
from llm_conformance.judging.cell_judge import CellJudge
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.status import Status
from llm_conformance.locations import CASSETTES, RULES
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.reports import files
from llm_conformance.rules.catalogue import rules_in
from llm_conformance.scenarios import core_faults, load
from llm_conformance.scenarios.core_faults import CORE_FAULTS
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire import answers
from llm_conformance.wire.providers import table
from tests import inline, miniature
from tests.calls import ADAPTERS

OF_ERRORS = [rule for name in ("errors", "streaming") for _, rule in rules_in(RULES / f"test_{name}.py")]
ONE_OF_EACH_FORMAT = ("openai:chat", "openai:responses", "anthropic:messages", "gemini:generate", "bedrock:converse")


def test_every_api_has_one_scenario_for_them(scenarios: list[Scenario]) -> None:
    chosen = Counter(str(each.api) for each in scenarios if each.has_core_faults)
    assert chosen == Counter({str(each.api) for each in scenarios})


def test_every_api_has_all_of_them_in_both_modes(scenarios: list[Scenario]) -> None:
    modes = {str(each.api): set(each.modes) for each in scenarios if each.has_core_faults}
    asked = Counter(str(each.api) for each in core_faults.of(scenarios))
    assert asked == {api: len(CORE_FAULTS) * len(of) for api, of in modes.items()}


def test_every_stream_shows_some_text_before_its_fault_and_does_not_end(scenarios: list[Scenario]) -> None:
    for each in core_faults.of(scenarios):
        answer = each.interactions.get("stream")
        if each.fault is not None and each.fault.after and answer is not None:
            assert each.fault.after < len(answer.body)
            facts = answers.derive(replace(answer, body=answer.body[: each.fault.after]), each.api)
            assert facts.text, each.id
            assert not facts.finish, each.id


def test_the_ids_are_known_without_reading_yaml(scenarios: list[Scenario]) -> None:
    ids = {id for path in load.find(CASSETTES)[0] for id in core_faults.ids_in(path)}
    assert {each.id for each in core_faults.of(scenarios)} == ids


def test_every_api_has_an_error_status_in_its_own_form(scenarios: list[Scenario]) -> None:
    with_status = {str(each.api) for each in scenarios for mode in each.modes if each.interactions[mode].status >= 400}
    assert with_status == {str(each.api) for each in scenarios}


def test_the_table_says_of_every_api_what_an_error_inside_a_stream_is(scenarios: list[Scenario]) -> None:
    failing = {str(each.api) for each in scenarios if each.grounds != "probe" and _has_error_in_stream(each)}
    for api in table.table().values():
        known = [note for note in api.notes if "error inside a stream" in note]
        assert len(known) == 1, f"{api}: one note says what an error inside a stream is, or that no source shows one"
        if known[0].startswith("An error inside a stream is "):
            assert str(api) in failing, f"{api}: no scenario has the error that the table describes"


def _has_error_in_stream(scenario: Scenario) -> bool:
    answer, expected = scenario.interactions.get("stream"), scenario.expected.get("stream")
    return bool(answer and expected and answer.status < 400 and expected.error and not expected.fault)


SORRY = {"message": "sorry", "finish_reason": "stop"}


class Hiding:
    """Returns a response, whatever happens."""

    name = "hiding"
    providers = ADAPTERS.providers

    def parse(self, http: HttpResponse, call: Call) -> Any:
        try:
            return ADAPTERS.parse(http, call)
        except LLMError:
            return SORRY

    def complete(self, call: Call) -> Any:
        try:
            return ADAPTERS.complete(call)
        except LLMError:
            return SORRY

    def stream(self, call: Call) -> Iterator[Any]:
        try:
            yield from ADAPTERS.stream(call)
        except LLMError:
            yield {"event_type": "response.completed", "response": SORRY}


@pytest.mark.parametrize("api", ONE_OF_EACH_FORMAT)
def test_an_adapter_that_hides_them_fails(api: str, scenarios: list[Scenario]) -> None:
    faults = [each for each in core_faults.of(scenarios) if str(each.api) == api]
    runner = Runner(10, ReplayServer())
    judge = CellJudge(runner, Effort(0))
    try:
        for cell in plan.cells([declarations.describe("hiding", Hiding())], faults, plan.Filters()):
            statuses = {judged.verdict.status for judged in judge.judge(cell, OF_ERRORS)}
            assert Status.FAIL in statuses, f"{cell}"
    finally:
        runner.close()


def test_only_an_answer_can_have_core_faults(tmp_path: Path) -> None:
    failing = miniature.SCENARIO[: miniature.SCENARIO.index("expected:")] + "expected: {error: RateLimitError}\n"
    miniature.write(tmp_path, scenario=failing.replace("api: chat\n", "api: chat\ncore_faults: true\n"))
    problem = "spider.scenario.yaml:4: core faults need the answer to a first request, without an outage"
    assert problem in miniature.problems(tmp_path)


def test_no_scenario_file_may_be_named_like_one(tmp_path: Path) -> None:
    miniature.write(tmp_path, "core-chat-json-html")
    assert miniature.problems(tmp_path) == [
        "core-chat-json-html.scenario.yaml:1: the names of core faults begin with core-; rename the scenario"
    ]


def test_a_filter_on_its_id_runs_a_core_fault_alone(pytester: pytest.Pytester) -> None:
    report = pytester.path / "report.json"
    wanted = ("--conformance-scenario=zai/core-chat-json-html", "--conformance-examples=0")
    result = inline.run(pytester, RULES, "--adapter=adapters", *wanted, f"--conformance-report={report}")
    assert result.ret == 0
    results = files.read(report)["results"]
    assert {(each["scenario"], each["grounds"]) for each in results} == {("zai/core-chat-json-html", "report")}
