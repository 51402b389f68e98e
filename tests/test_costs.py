"""What would make every run slow, and could come back unnoticed."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters import ReferenceAdapters
from llm_conformance import schema
from llm_conformance.adapter import declarations
from llm_conformance.adapter.declarations import Method
from llm_conformance.calling import network_guard
from llm_conformance.judging import cut_search
from llm_conformance.judging.effort import Effort
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.transport import new_transport
from llm_conformance.rules import shapes
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios import build, core_faults, load
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes import contents, cuts
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import MODES
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from tests import inline, miniature


@pytest.mark.parametrize("api", table().values(), ids=str)
def test_hypothesis_describes_what_it_draws_from_without_the_row(api: Api) -> None:
    """If a strategy filters what it has drawn, Hypothesis describes it again and again while it draws."""
    assert str(api) in repr(contents._blocks(api))
    assert len(repr(contents._blocks(api))) < 200


def test_all_network_guards_share_one_audit_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python calls all hooks for every file that is opened, every import and every `id()`."""
    added: list[Callable[..., Any]] = []
    monkeypatch.setattr(sys, "addaudithook", added.append)
    install = functools.cache(network_guard._install_hook.__wrapped__)
    monkeypatch.setattr(network_guard, "_install_hook", install)
    for _ in range(3):
        with network_guard.Guard([1]).watching():
            pass
    assert added == [network_guard._hook]


def test_a_stream_is_cut_again_with_the_strategies_of_the_first_time() -> None:
    """Hypothesis takes longer to check a new strategy than to draw from it."""
    body = b"data: {}\n\n" * 9
    weak = cuts._weak_places(body)
    assert cuts._ways(len(body), len(weak)) is cuts._ways(len(body), len(weak))


def test_the_weak_places_of_a_stream_are_where_a_cut_hurts() -> None:
    body = "é\r\n\n\\u00e9 \\n data: x <think></think> <table>".encode()
    cut = [(body[:at][-2:], body[at:][:2]) for at in cuts._weak_places(body)]

    assert cut == [
        (b"\xc3", b"\xa9\r"),
        (b"\xa9\r", b"\n\n"),
        (b"\r\n", b"\n\\"),
        (b"\n\\", b"u0"),
        (b" \\", b"n "),
        (b"ta", b": "),
        (b" <", b"th"),
        (b"nk", b"><"),
        (b"><", b"/t"),
        (b"nk", b"> "),
        (b" <", b"ta"),
    ]


def test_the_same_value_is_validated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    validated: list[tuple[str, object]] = []

    def problems(name: str, value: object) -> list[tuple[tuple[str, ...], str]]:
        validated.append((name, value))
        return [((), name)]

    monkeypatch.setattr(schema, "problems", problems)
    event = {"event_type": "a type of this test only"}
    assert shapes.problems("stream-event", event) == shapes.problems("stream-event", dict(event))
    assert validated == [("stream-event", event)]


@pytest.mark.parametrize(
    "value",
    [[], (), 1, 1.0, True, "1", b"1", {"1": 1}, {1: 1}, object()],
    ids=lambda value: repr(value).partition(" at ")[0],
)
def test_what_is_known_of_a_value_is_not_said_of_one_of_another_type(value: object) -> None:
    event = {"event_type": value}
    assert list(shapes.problems("stream-event", event)) == list(schema.problems("stream-event", event))


def test_a_scenario_that_is_only_listed_derives_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    derived: list[object] = []

    def counted(*given: Any) -> Any:
        derived.append(given)
        return answers.derive_if_readable(*given)

    monkeypatch.setattr(build, "derive_if_readable", counted)
    scenario = build.build(load.read(miniature.write(tmp_path)), tmp_path)

    assert ([*scenario.expected], derived) == ([*MODES], [])
    assert scenario.expected["json"] is scenario.expected["json"]
    assert len(derived) == len(MODES)


def test_the_garbage_collector_is_as_before_after_a_run(pytester: pytest.Pytester) -> None:
    frozen = gc.get_freeze_count()
    pytester.makeconftest(
        """
        import gc
        def pytest_runtest_setup():
            assert gc.isenabled() and gc.get_freeze_count() > 10_000
        """
    )
    scenario = "--conformance-scenario=zai/content-begins-with-newline"
    ran = inline.run(pytester, str(miniature.RULES), "--adapter=adapters", scenario, "--conformance-examples=1", "-q")
    assert ran.ret == 0
    assert gc.isenabled()
    assert gc.get_freeze_count() == frozen


def test_a_stream_is_cut_in_fewer_ways_before_a_silence_and_where_a_parser_gets_the_pieces(
    monkeypatch: pytest.MonkeyPatch, scenarios: list[Scenario]
) -> None:
    """Before a silence, each way to cut it waits for the time limit of a call."""
    efforts: list[Effort] = []
    monkeypatch.setattr(cut_search, "find_failures", lambda *arguments, **_: efforts.append(arguments[4]))
    rule = catalogue()["STR-4"].rule
    adapter = declarations.describe("reference", ReferenceAdapters())
    faulty = list(core_faults.of(each for each in scenarios if each.api.provider == "anthropic"))
    methods: tuple[tuple[str, Method], ...] = (
        ("silence", "stream"),
        ("truncated", "stream"),
        ("truncated", "parse_stream"),
    )
    for fault, method in methods:
        broken = next(each for each in faulty if each.id == f"anthropic/core-messages-stream-{fault}")
        cell = Cell(adapter, broken, "stream", method)
        runner = Runner(1, new_transport("server"))
        cut_search.search_cuts(cell, rule, runner, Effort.named("deep"), lambda *_: None, shrinks=True)
        runner.close()
    assert [each.examples for each in efforts] == [1, 40, 400]


def test_calls_that_nobody_answers_wait_for_a_moment_only(scenarios: list[Scenario]) -> None:
    """There are some hundred in a run, and each waits for its whole time limit."""
    adapter = declarations.describe("reference", ReferenceAdapters())
    faulty = core_faults.of(each for each in scenarios if each.api.provider == "anthropic")
    silent = next(each for each in faulty if each.fault and each.fault.kind == "silence" and "json" in each.modes)
    runner = Runner(10, new_transport("server"))
    exchange = runner.run(Cell(adapter, silent, "json", "complete"))
    runner.close()
    assert exchange.call.timeout_s <= 1  # 0.1, or more if this machine is too busy to send a request in that time
    assert exchange.outcome.raised is not None
    assert exchange.outcome.raised.contract_type == "TimeoutError"
