"""Conversations that name odd files, go in circles, or have many turns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import limits, yaml_files
from llm_conformance.scenarios import build, load
from llm_conformance.scenarios.checks import lint_digests
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.yaml_files import BadFileError
from tests import miniature
from tests.hostile_files import files

ONLY = "must have lower-case letters, digits, dots and dashes only"


def follow(directory: Path, answer_of: Any, name: str = "spider") -> Path:
    """Write a scenario that follows an answer."""
    messages = f"messages: [{{answer_of: {json.dumps(answer_of)}}}, {{role: user, content: More.}}]"
    return files.scenario(directory, files.MESSAGES, messages, name)


def conversation(directory: Path, turns: int) -> None:
    """Write a conversation in which every turn has the answers of all turns before it."""
    for turn in range(turns):
        before = "".join(f"  - {{role: user, content: And?}}\n  - {{answer_of: t{each}}}\n" for each in range(turn))
        files.scenario(directory, files.MESSAGES, f"messages:\n{before}  - {{role: user, content: Go on.}}", f"t{turn}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("/", f'{ONLY}, and is "/"'),
        ("../../../etc/passwd", f'{ONLY}, and is "../../../etc/passwd"'),
        ("/etc/passwd", f'{ONLY}, and is "/etc/passwd"'),
        ("a\\b", ONLY),
        ("a\0b", f'{ONLY}, and is "a\\u0000b"'),
        ("a\nb", ONLY),
        ("a" * 5000, "must have at most 100 characters, and has 5000"),
        ("", ONLY),
        (5, "must be a string, and is 5"),
        (True, "must be a string, and is true"),
        ([1], "must be a string, and is [1]"),
    ],
)
def test_an_answer_of_an_odd_name_is_refused_with_its_line(tmp_path: Path, name: Any, message: str) -> None:
    follow(tmp_path, name)
    said = miniature.problems(tmp_path)
    assert said[0].startswith("spider.scenario.yaml:6: call.messages.0.answer_of: ")
    assert message in said[0]


@pytest.mark.parametrize("name", ["..", ".", "...", "spider.scenario.yaml"])
def test_an_answer_of_dots_is_looked_for_beside_the_file_only(tmp_path: Path, name: str) -> None:
    follow(tmp_path, name)
    (said,) = miniature.problems(tmp_path)
    assert said.startswith(f"spider.scenario.yaml:6: there is no {name}.scenario.yaml beside this file")


def test_an_answer_with_the_longest_name_is_found(tmp_path: Path) -> None:
    name = "a" * 100
    miniature.write(tmp_path, name)
    path = follow(tmp_path, name)
    assert next(iter(load.read(path).earlier.values())).path.name == f"{name}.scenario.yaml"


def test_an_answer_of_itself_is_refused(tmp_path: Path) -> None:
    follow(tmp_path, "spider")
    assert "this answer is one to a conversation that it is part of" in files.only_problem(tmp_path)


def test_answers_of_each_other_are_refused(tmp_path: Path) -> None:
    follow(tmp_path, "two", "one")
    follow(tmp_path, "one", "two")
    said = miniature.problems(tmp_path)
    assert [each.split(":")[0] for each in said] == ["one.scenario.yaml", "two.scenario.yaml"]
    assert all("a conversation that it is part of" in each for each in said)


def test_a_turn_after_a_circle_is_not_followed_for_ever(tmp_path: Path) -> None:
    follow(tmp_path, "two", "one")
    follow(tmp_path, "one", "two")
    follow(tmp_path, "one", "three")
    assert len(miniature.problems(tmp_path)) == 2  # those of the circle, each once


def test_a_file_of_the_wrong_form_may_name_itself(tmp_path: Path) -> None:
    path = follow(tmp_path, "spider")
    path.write_text(f"mood: good\n{path.read_text('utf-8')}")
    assert "spider.scenario.yaml:1: mood: no such key" in miniature.problems(tmp_path)


def test_a_problem_of_an_earlier_answer_hides_no_other_file(tmp_path: Path) -> None:
    miniature.write(tmp_path, "broken").write_text("a: [")
    follow(tmp_path, "broken", "later")
    files.scenario(tmp_path, "title:", "mood: good\ntitle:", "other")
    said = miniature.problems(tmp_path)
    assert [each.partition(":")[0] for each in said] == ["broken.scenario.yaml", "other.scenario.yaml"]


def test_every_file_of_a_long_conversation_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation(tmp_path, 12)
    read: list[Path] = []
    parse = yaml_files.parse

    def noted(path: Path, text: str, of_recorder: bool = False) -> Any:
        read.append(path)
        return parse(path, text, of_recorder)

    monkeypatch.setattr(yaml_files, "parse", noted)
    miniature.problems(tmp_path)
    assert {path.name: read.count(path) for path in read if path.name.endswith(load.SUFFIX)} == {
        f"t{turn}.scenario.yaml": 2  # for its values, and for the answers that it has
        for turn in range(12)
    }


def test_the_scenarios_of_a_long_conversation_are_built_once(tmp_path: Path) -> None:
    conversation(tmp_path, 14)
    last = build.build(load.read(tmp_path / "mini/t13.scenario.yaml"), tmp_path)
    found: dict[int, Scenario] = {}
    left = [last]
    while left:
        for each in left.pop().earlier.values():
            if id(each) not in found:
                found[id(each)] = each
                left.append(each)
    assert len(found) == 13


def test_two_conversations_have_scenarios_of_their_own(tmp_path: Path) -> None:
    """A run hands over what the adapter has returned; what happens to it in one conversation stays there."""
    conversation(tmp_path, 3)
    reader = load.Files()
    one, two = (build.build(reader.read(tmp_path / f"mini/t{turn}.scenario.yaml"), tmp_path) for turn in (1, 2))
    assert one.earlier[1].id == two.earlier[1].id == "mini/t0"
    assert one.earlier[1] is not two.earlier[1]
    assert two.earlier[3].earlier[1] is two.earlier[1]


def test_the_work_of_the_lint_does_not_double_with_each_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    read_text = yaml_files.read_text

    def noted(path: Path) -> str:
        read.append(path.name)
        return read_text(path)

    monkeypatch.setattr(yaml_files, "read_text", noted)

    def work(turns: int) -> int:
        read.clear()
        conversation(tmp_path / str(turns), turns)
        miniature.problems(tmp_path / str(turns))
        return len(read)

    assert work(12) <= 2 * work(6) + 6


def test_the_digest_of_a_long_conversation_reads_each_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation(tmp_path, 12)
    read: list[Path] = []
    read_bytes = yaml_files.read_bytes

    def noted(path: Path) -> bytes:
        read.append(path)
        return read_bytes(path)

    monkeypatch.setattr(yaml_files, "read_bytes", noted)
    assert lint_digests.of_scenario(tmp_path / "mini/t11.scenario.yaml")
    assert len(read) == len(set(read)) == 24


def test_a_conversation_of_too_many_turns_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TURNS", 3)
    conversation(tmp_path, 5)
    said = [each for each in miniature.problems(tmp_path) if "earlier answers" in each]
    what = "has more than 3 earlier answers, those of earlier answers among them; shorten it"
    assert said == [f"t4.scenario.yaml:6: {what}"]


def test_a_chain_of_a_thousand_turns_has_a_message(tmp_path: Path) -> None:
    """Each turn has only the answer before it, so that the chain is deeper than Python can call functions."""
    messages = "messages: [{answer_of: t%d}, {role: user, content: More.}]"
    (tmp_path / "mini").mkdir()
    for turn in range(1000):
        text = miniature.SCENARIO.replace(files.MESSAGES, messages % (turn - 1) if turn else files.MESSAGES)
        (tmp_path / f"mini/t{turn}.scenario.yaml").write_text(text)
    miniature.write(tmp_path, "t999x")
    (tmp_path / "mini/t999x.yaml").rename(tmp_path / "mini/t999.yaml")
    with pytest.raises(BadFileError, match="has more than 64 earlier answers"):
        load.read(tmp_path / "mini/t999.scenario.yaml")
