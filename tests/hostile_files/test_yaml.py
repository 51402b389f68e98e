"""YAML that is small to write and costly to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_conformance import limits, yaml_files
from llm_conformance.yaml_files import BadFileError
from tests import miniature
from tests.hostile_files import files

LONG = limits.NUMBER + 1


def refusal(text: str) -> str:
    """Return why a text is refused."""
    with pytest.raises(BadFileError) as caught:
        yaml_files.parse(Path("x.yaml"), text)
    return str(caught.value)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param("0x" + "f" * LONG, id="of-base-16"),
        pytest.param("0b" + "1" * LONG, id="of-base-2"),
        pytest.param("0" + "7" * LONG, id="of-base-8"),
        pytest.param("9" * LONG, id="of-base-10"),
        pytest.param("1" + ":59" * LONG, id="of-base-60"),
        pytest.param("1" + ":59" * LONG + ".5", id="a-fraction-of-base-60"),
        pytest.param("9" * LONG + ".5", id="a-fraction"),
        pytest.param("1" + "_0" * LONG, id="with-underscores"),
        pytest.param("-" + "9" * LONG, id="negative"),
    ],
)
def test_a_number_of_many_digits_is_refused_with_its_line(number: str) -> None:
    assert refusal(f"a: 1\nb: {number}").startswith(f"x.yaml:2: a number of {len(number):,} characters; at most 1,000")


@pytest.mark.parametrize("number", ["0x1f", "0b11", "017", "1:59:59", "1:59.5", "9" * limits.NUMBER, "1e5", ".inf"])
def test_numbers_of_an_ordinary_length_are_read_as_pyyaml_reads_them(number: str) -> None:
    ordinary = {"0x1f": 31, "0b11": 3, "017": 15, "1:59:59": 7199, "1:59.5": 119.5, "1e5": "1e5", ".inf": float("inf")}
    assert yaml_files.parse(Path("x.yaml"), number) == ordinary.get(number, int("9" * limits.NUMBER))


def test_a_long_text_of_digits_in_quotes_is_text() -> None:
    assert yaml_files.parse(Path("x.yaml"), f"'{'9' * LONG}'") == "9" * LONG


@pytest.mark.parametrize("number", ["0x_", "0b_", "1" + ":59" * 300 + ".5"])
def test_a_number_that_pyyaml_cannot_make_is_refused_with_its_line(number: str) -> None:
    assert refusal(f"a: 1\nb: {number}").startswith("x.yaml:2: not valid YAML: ")


def test_a_number_in_a_scenario_is_refused_at_its_line(tmp_path: Path) -> None:
    files.scenario(tmp_path, "prompt_tokens: 12", f"prompt_tokens: 0x{'f' * LONG}")
    assert files.only_problem(tmp_path).startswith("spider.scenario.yaml:19: a number of 1,003 characters")


def test_bytes_that_are_not_base64_are_refused_with_their_line() -> None:
    assert refusal("a: 1\nb: !!binary a").startswith("x.yaml:2: not valid YAML: failed to decode base64 data")


@pytest.mark.parametrize("text", ["a: [{}]", "a: {{{}}}"])
def test_many_small_values_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "VALUES", 100)
    items = "1, " * 100 if "[" in text else ", ".join(f"k{number}: 1" for number in range(60))
    assert "more than 100 keys and values; split the file" in refusal(text.format(items))


def test_reading_stops_at_the_first_value_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "VALUES", 10)
    assert refusal("[" + "1, " * 50 + "not yaml: [").startswith("x.yaml:1: more than 10 keys and values")


def test_as_many_values_as_an_honest_recording_of_embeddings_has_are_read() -> None:
    vectors = "".join(f"- [{', '.join(['0.0123456789'] * 1536)}]\n" for _ in range(20))
    assert len(yaml_files.parse(Path("x.yaml"), vectors)) == 20


def test_a_file_within_its_bounds_is_read_at_the_largest_depth() -> None:
    text = "[" * limits.DEPTH + "]" * limits.DEPTH
    assert yaml_files.parse(Path("x.yaml"), text) is not None
    assert "nested deeper than 64 levels" in refusal(f"[{text}]")


def test_of_many_problems_the_first_are_listed(tmp_path: Path) -> None:
    messages = "".join(f"  - {{role: bad{number}, content: x}}\n" for number in range(2 * limits.PROBLEMS))
    files.scenario(tmp_path, files.MESSAGES, f"messages:\n{messages}")
    *listed, last = [each for each in miniature.problems(tmp_path) if "role" in each or "more than" in each]
    assert len(listed) == limits.PROBLEMS
    assert listed[0].startswith('spider.scenario.yaml:7: call.messages.0.role: must be "system", "user"')
    assert last == "spider.scenario.yaml:1: has more than 100 problems; mend the first ones to see the others"


def test_a_text_is_parsed_once_for_the_lines_of_all_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = yaml.parse

    def counted(text: str, **options: Any) -> Any:
        parsed.append(text)
        return parse(text, **options)

    def work(count: int) -> int:
        parsed.clear()
        messages = "".join(f"  - {{role: bad{number}, content: x}}\n" for number in range(count))
        path = files.scenario(tmp_path / str(count), files.MESSAGES, f"messages:\n{messages}")
        miniature.problems(tmp_path / str(count))
        return parsed.count(path.read_text("utf-8"))

    monkeypatch.setattr(yaml, "parse", counted)
    assert work(90) == work(9) == 2  # once for the values, once for the lines


@pytest.mark.parametrize("ending", ["json", "har"])
@pytest.mark.parametrize(
    "text", ['{"interactions":\n\t5}', '{"interactions": 5, "a": 1, "a": 2}', '{"log": {"entries": 5}}']
)
def test_json_that_is_not_yaml_has_a_message_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, ending: str
) -> None:
    path = tmp_path / f"one.{ending}"
    path.write_text(text)
    assert "interactions: must be a list, and is 5" in files.imported(path, capsys)


def test_a_ruby_cassette_with_a_problem_has_a_message_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("---\nmetadata: 5\nhttp_interactions:\n- request: !ruby/object:A {}\n")
    assert "one.yaml:2: metadata: must be an object" in files.imported(path, capsys)
