"""Digests of scenarios that passed the lint: what is linted again, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios import lint, load
from llm_conformance.scenarios.checks import lint_digests
from llm_conformance.wire.providers import table
from tests import miniature


@pytest.fixture
def linted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory like the suite's own, with the digests of two scenarios that passed the lint."""
    monkeypatch.setattr(lint_digests, "CASSETTES", tmp_path)
    miniature.write(tmp_path)
    messages = "messages: [{role: user, content: How many legs has a spider?}]"
    assert messages in miniature.SCENARIO
    turns = "messages:\n  - {role: user, content: How many?}\n  - {answer_of: spider}"
    miniature.write(tmp_path, "again", miniature.SCENARIO.replace(messages, turns))
    assert lint.main([str(tmp_path), "--write"]) == 0
    return tmp_path


def linted_again(directory: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the ids of the scenarios that a run lints in a directory."""
    names: list[str] = []

    def note(file: load.ScenarioFile) -> Iterator[str]:
        names.append(load.id_of(file.path))
        return iter(())

    monkeypatch.setattr(lint, "lint", note)
    assert [scenario.id for scenario in lint.load_all([directory])] == ["mini/again", "mini/spider"]
    return names


def test_a_scenario_that_passed_the_lint_is_not_linted_again(linted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert linted_again(linted, monkeypatch) == []


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("again.scenario.yaml", ["mini/again"]),
        ("again.yaml", ["mini/again"]),
        ("spider.scenario.yaml", ["mini/again", "mini/spider"]),
        ("spider.yaml", ["mini/again", "mini/spider"]),
    ],
)
def test_an_edited_scenario_is_linted_again(
    linted: Path, monkeypatch: pytest.MonkeyPatch, name: str, again: list[str]
) -> None:
    path = linted / "mini" / name
    path.write_text(path.read_text("utf-8") + "# edited\n")
    assert linted_again(linted, monkeypatch) == again


def test_an_edit_that_contradicts_the_bytes_is_a_problem(linted: Path) -> None:
    path = linted / "mini" / "spider.scenario.yaml"
    path.write_text(path.read_text("utf-8").replace("message: Eight.", "message: Nine."))
    assert [problem for problem in miniature.problems(linted) if "message: the scenario states" in problem]


@pytest.mark.parametrize("answer_of", ['answer_of: "spider"', "answer_of: 'spider'", "answer_of : spider"])
def test_a_scenario_whose_answers_are_not_found_in_its_text_has_no_digest(linted: Path, answer_of: str) -> None:
    path = linted / "mini" / "again.scenario.yaml"
    assert lint_digests.of_scenario(path)
    path.write_text(path.read_text("utf-8").replace("answer_of: spider", answer_of))
    assert lint_digests.of_scenario(path) is None


@pytest.mark.parametrize("change", ["api", "lint", "directory", "file"])
def test_another_lint_or_api_or_directory_lints_again(
    linted: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    if change == "api":
        monkeypatch.setattr(load, "api_in", lambda _: table.table()["zai", "chat"])
    elif change == "lint":
        monkeypatch.setattr(lint_digests, "_of_lint", lambda: "another")
    elif change == "directory":
        monkeypatch.setattr(lint_digests, "CASSETTES", CASSETTES)
    else:
        lint_digests.file_of(linted).write_text("not a digest file\n")
    assert linted_again(linted, monkeypatch) == ["mini/again", "mini/spider"]


def test_the_lint_refuses_old_digests(linted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = linted / "mini" / "spider.scenario.yaml"
    path.write_text(path.read_text("utf-8") + "# edited\n")
    assert lint.main([str(linted)]) == 1
    assert "lint.sha256:1: out of date; run `python -m" in capsys.readouterr().out
    assert lint.main([str(linted), "--write"]) == 0
    assert lint.main([str(linted)]) == 0
