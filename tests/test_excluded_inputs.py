"""An adapter may exclude unusual ways of inputs. They are not judged, but counted beside each verdict."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations, loader
from llm_conformance.adapter.declarations import BadAdapterError
from llm_conformance.adapter.exclusions import THINK_TAGS, excluded_way
from llm_conformance.formats.recognisers import recognise
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.example_judge import ExampleJudge, Failure
from llm_conformance.judging.search import find_failures
from llm_conformance.pytest_plugin import generated_items
from llm_conformance.replay.cell import Cell
from llm_conformance.reports import files
from llm_conformance.reports.matrix import verdict
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.table import table
from tests import inline, miniature
from tests.draws import drawn, theme_named

NEVER = "counts of a stream: never"
USUAL = "counts of a stream: apart"
OPENAI = table()["openai", "chat"]
ANSWERS = theme_named("answers")

ADAPTER = """
from adapters import ReferenceAdapters

class Counts(ReferenceAdapters):
    name = "counts"
    providers = ["openai:chat"]
    capabilities = ["streaming"]
    excluded_inputs = {excluded}
    complete = stream = parse = None

    def __init__(self):
        super().__init__()
        self.providers = ["openai:chat"]

    def parse_stream(self, chunks, call):
        for event in super().parse_stream(chunks, call):
            if event.response is not None and event.response.usage is None:
                raise KeyError("usage")
            yield event

conformance_adapter = Counts
"""


class Excluding(ReferenceAdapters):
    """The reference adapter of OpenAI's chat, which excludes inputs."""

    def __init__(self, excluded: Any) -> None:
        super().__init__()
        self.providers = ("openai:chat",)
        self.excluded_inputs = excluded


def refusal(excluded: Any, directory: Path) -> str:
    (directory / "counts.py").write_text(ADAPTER.format(excluded=excluded), "utf-8")
    sys.modules.pop("counts", None)
    with pytest.raises(BadAdapterError) as refused:
        loader.load("counts.py", directory)
    return str(refused.value)


def test_what_can_be_excluded_is_a_closed_list(tmp_path: Path) -> None:
    assert declarations.describe("mine", Excluding({NEVER: "by design"})).excluded_inputs == {NEVER: "by design"}
    assert declarations.describe("mine", Excluding(None)).excluded_inputs == {}
    assert "did you mean counts of a stream: never?" in refusal({"counts of a stream: nevr": "by design"}, tmp_path)
    assert "no unusual way" in refusal({"everything": "by design"}, tmp_path)
    assert "has to map ways" in refusal([NEVER], tmp_path)
    assert "gives no reason for 'counts of a stream: never'" in refusal({NEVER: " "}, tmp_path)


def test_the_most_common_way_cannot_be_excluded(tmp_path: Path) -> None:
    assert next(iter(OPENAI.varies["counts of a stream"])) == USUAL.partition(": ")[2]
    assert f"'{USUAL}', which is no unusual way" in refusal({USUAL: "by design"}, tmp_path)


class Recorder(ExampleJudge):
    """Judges nothing, and keeps the ways of what it is given."""

    def __init__(self) -> None:
        super().__init__(None, ())  # type: ignore[arg-type]
        self.ways: list[set[str]] = []

    def judge(self, cell: Cell) -> list[Failure]:
        self.ways.append({str(way) for way in recognise(OPENAI, cell.scenario.interactions[cell.mode])})
        return []


def judged(*excluded: str) -> Recorder:
    adapter = declarations.describe("reference", ReferenceAdapters())
    judge = Recorder()
    find_failures(
        judge,
        "excluded",
        ANSWERS.scenarios(OPENAI, "stream"),
        lambda scenario: Cell(adapter, scenario, "stream", "parse_stream"),
        Effort(50, reproducible=True),
        excluded=lambda scenario: excluded_way(dict.fromkeys(excluded, "by design"), scenario, "stream"),
    )
    return judge


def test_others_are_drawn_in_their_place() -> None:
    everything, without = judged(), judged(NEVER)
    assert not everything.excluded
    assert any(NEVER in ways for ways in everything.ways)
    assert not any(NEVER in ways for ways in without.ways)
    assert without.excluded[NEVER] > 5
    assert len(without.ways) == len(everything.ways) == 50


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.usefixtures("same_draw")
@pytest.mark.parametrize("mode", ["json", "stream"])
@pytest.mark.parametrize("name", ["malformed", "broken-streams", "mistyped", "disconnected"])
def test_an_answer_that_fails_has_the_ways_of_the_whole_answer(name: str, mode: Mode) -> None:
    """Its request has the MCP servers, because the provider cannot call a server that the request does not have."""
    called = "hosted tools: mcp_tool_result"
    seen = set()
    if mode in theme_named(name).modes:
        for scenario in drawn(name, table()["anthropic", "messages"], mode, 300):
            found = excluded_way({called: "by design"}, scenario, mode)
            assert (found == called) == ("mcp_servers" in scenario.params[mode])
            seen.add(found)
        assert seen == ({None} if name == "disconnected" else {None, called})


def test_a_search_of_which_all_is_excluded_ends() -> None:
    adapter = declarations.describe("reference", ReferenceAdapters())
    judge = Recorder()
    seen: list[Scenario] = []

    def excluded(scenario: Scenario) -> str:
        seen.append(scenario)
        return NEVER

    find_failures(
        judge,
        "excluded",
        ANSWERS.scenarios(OPENAI, "stream"),
        lambda scenario: Cell(adapter, scenario, "stream", "parse_stream"),
        Effort(50, reproducible=True),
        excluded=excluded,
    )
    assert not judge.ways
    assert 50 <= len(seen) <= 60


def run(pytester: pytest.Pytester, excluded: dict[str, str], *options: str) -> tuple[dict[str, Any], str]:
    (pytester.path / "counted.py").write_text(ADAPTER.format(excluded=excluded), "utf-8")
    report = pytester.path / "report.json"
    done = inline.run(
        pytester,
        str(miniature.RULES),
        "--adapter=counted.py",
        "--conformance-scenario=openai/generated-chat-answers",
        "--conformance-examples=quick",
        f"--conformance-report={report}",
        "-q",
        *options,
    )
    document: dict[str, Any] = files.read(report)
    return document, done.stdout.str()


def test_what_is_excluded_is_counted_and_does_not_fail(pytester: pytest.Pytester) -> None:
    document, _ = run(pytester, {})
    assert document["summary"]["fail"]
    assert document["excluded_inputs"] == []

    document, shown = run(pytester, {NEVER: "the library asks for them"})
    assert "fail" not in document["summary"]
    (excluded,) = document["excluded_inputs"]
    assert (excluded["way"], excluded["reason"]) == (NEVER, "the library asks for them")
    count = excluded["examples"]
    assert count > 5
    assert f"excluded: {count} inputs with {NEVER}: the library asks for them" in shown
    assert verdict({**document, "complete": True}) == "conforms, 1 input excluded"


def test_a_property_of_which_all_is_excluded_is_unsupported(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generated_items, "excluded_way", lambda *_: NEVER)
    document, _ = run(pytester, {NEVER: "by design"})
    assert set(document["summary"]) == {"unsupported"}
    messages = {each["message"] for each in document["results"]}
    assert messages == {f"the adapter excludes all that was drawn: {NEVER}: by design"}


TAGS_LEFT_IN = """
from adapters import ReferenceAdapters
from dataclasses import replace

class TagsLeftIn(ReferenceAdapters):
    name = "tags"
    excluded_inputs = {excluded}
    complete = stream = parse_stream = None

    def __init__(self):
        super().__init__()
        self.providers = ["groq:chat"]

    def parse(self, http, call):
        return super().parse(http, replace(call, think_profile="off"))

conformance_adapter = TagsLeftIn
"""


@pytest.mark.parametrize("scenario", ["groq/reasoning-raw-in-think-tags", "groq/generated-chat-think-blocks"])
def test_a_text_with_think_tags_can_be_excluded_from_scenarios_too(pytester: pytest.Pytester, scenario: str) -> None:
    report = pytester.path / "report.json"

    def judged(excluded: dict[str, str]) -> tuple[dict[str, Any], str]:
        (pytester.path / "tags.py").write_text(TAGS_LEFT_IN.format(excluded=excluded), "utf-8")
        options = (f"--conformance-scenario={scenario}", f"--conformance-report={report}", "-q")
        shown = inline.run(pytester, str(miniature.RULES), "--adapter=tags.py", *options).stdout.str()
        document: dict[str, Any] = files.read(report)
        return document, shown

    document, _ = judged({})
    failed = {each["rule"] for each in document["results"] if each["status"] == "fail"}
    assert {"MSG-1", "RSN-1"} <= failed

    document, shown = judged({THINK_TAGS: "the server splits them"})
    assert "fail" not in document["summary"]
    assert document["summary"].get("unsupported") or "generated" in scenario
    (excluded,) = document["excluded_inputs"]
    assert (excluded["way"], excluded["reason"], excluded["api"]) == (THINK_TAGS, "the server splits them", "chat")
    assert "with think tags: the server splits them" in shown
    assert verdict({**document, "complete": True}) in ("nothing judged", "conforms, 1 input excluded")


USELESS = """
from adapters import ReferenceAdapters

class Adapter:
    name = "useless"
    providers = ["avian:chat"]
    capabilities = []
    excluded_inputs = {"think tags": "the models of this provider write none"}

    def parse(self, http, call):
        return ReferenceAdapters().parse(http, call)

conformance_adapter = Adapter
"""


def test_an_exclusion_of_nothing_is_said(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(useless_exclusion=USELESS)
    whole = ("--adapter=useless_exclusion", "--conformance-isolation=none", "-q")
    made = inline.run(pytester, str(miniature.RULES), *whole)
    made.stdout.fnmatch_lines(["excluded: nothing, because no input of this run has think tags"])
    part = inline.run(pytester, str(miniature.RULES), *whole, "--conformance-examples=0")
    part.stdout.no_fnmatch_line("excluded: *")
