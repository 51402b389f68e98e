"""Pipes, devices, links and folders in the place of files, and names that a terminal would obey."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from llm_conformance import limits, yaml_files
from llm_conformance.cli import main
from llm_conformance.scenarios import bare, load
from llm_conformance.yaml_files import BadFileError, FileProblem
from tests import miniature
from tests.hostile_files import files

NOT_A_FILE = "is a directory, a pipe or a device; put a file here"


def make_pipe(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    return path


def test_a_pipe_in_the_place_of_a_scenario_is_refused(tmp_path: Path) -> None:
    make_pipe(tmp_path / "mini/a.scenario.yaml")
    assert files.only_problem(tmp_path) == f"a.scenario.yaml:1: {NOT_A_FILE}"


def test_the_api_in_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    assert load.api_of(make_pipe(tmp_path / "mini/a.scenario.yaml")) is None


def test_a_pipe_in_the_place_of_a_cassette_is_refused(tmp_path: Path) -> None:
    miniature.write(tmp_path)
    make_pipe(tmp_path / "mini/spider.yaml")
    assert files.only_problem(tmp_path) == "spider.scenario.yaml:1: its cassette spider.yaml is missing"


def test_a_pipe_in_the_place_of_an_earlier_answer_is_refused(tmp_path: Path) -> None:
    files.scenario(tmp_path, files.MESSAGES, "messages: [{answer_of: other}, {role: user, content: More.}]")
    make_pipe(tmp_path / "mini/other.scenario.yaml")
    said = miniature.problems(tmp_path)
    assert f"other.scenario.yaml:1: {NOT_A_FILE}" in said
    assert any("there is no other.scenario.yaml beside this file" in each for each in said)


@pytest.mark.parametrize("name", ["a.yaml", "a.json", "a.yaml.gz"])
def test_a_pipe_in_the_place_of_a_bare_cassette_is_refused(tmp_path: Path, name: str) -> None:
    path = make_pipe(tmp_path / "mini" / name)
    with pytest.raises(BadFileError, match=f"{name}:1: {NOT_A_FILE}"):
        list(bare.recordings(path))


def test_a_pipe_in_a_folder_is_not_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_pipe(tmp_path / "mini/a.yaml")
    assert f"a.yaml:1: {NOT_A_FILE}" in files.imported(tmp_path / "mini", capsys)


@pytest.mark.parametrize("named", ["file", "folder"])
def test_a_link_to_an_endless_device_is_not_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], named: str
) -> None:
    (tmp_path / "mini").mkdir()
    (tmp_path / "mini/a.yaml").symlink_to("/dev/zero")
    said = files.imported(tmp_path / "mini" / ("a.yaml" if named == "file" else ""), capsys)
    assert NOT_A_FILE in said


@pytest.mark.parametrize("target", ["/dev/zero", "/etc/hostname", "../../outside.yaml"])
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside.yaml").write_text("a: 1")
    (tmp_path / "here/mini").mkdir(parents=True)
    (tmp_path / "here/mini/a.yaml").symlink_to(target)
    with pytest.raises(BadFileError, match="or in a circle; put the file itself here"):
        load.find(tmp_path / "here")


@pytest.mark.parametrize("name", ["a.scenario.yaml", "a.yaml", "a.json"])
def test_a_link_to_itself_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "mini").mkdir()
    (tmp_path / "mini" / name).symlink_to(name)
    with pytest.raises(BadFileError, match="or in a circle; put the file itself here"):
        load.find(tmp_path)


def test_a_link_to_itself_is_not_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mini").mkdir()
    (tmp_path / "mini/a.yaml").symlink_to("a.yaml")
    assert "a.yaml:1: cannot be read: Too many levels of symbolic links" in files.imported(tmp_path / "mini", capsys)


def test_a_folder_that_is_named_as_a_cassette_may_have_cassettes(tmp_path: Path) -> None:
    path = files.bare(tmp_path, "one.yaml/two.json")
    assert load.find(tmp_path) == ([], [path])


def test_a_file_that_grows_while_it_is_read_is_read_up_to_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of files in /proc is said to be 0."""
    monkeypatch.setattr(limits, "BYTES", 10)
    with pytest.raises(BadFileError, match="larger than 0 MiB; split the recording"):
        yaml_files.read_bytes(Path("/proc/self/status"))


def test_a_file_of_the_largest_size_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BYTES", 10)
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a" * 10)
    assert yaml_files.read_text(path) == "a" * 10
    path.write_bytes(b"a" * 11)
    with pytest.raises(BadFileError, match="larger than"):
        yaml_files.read_text(path)


def test_a_small_file_that_is_large_when_decompressed_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "one.yaml.gz"
    path.write_bytes(gzip.compress(bytes(limits.BYTES + 1)))
    assert path.stat().st_size < 100_000
    assert "one.yaml.gz:1: larger than 16 MiB; split the recording" in files.imported(path, capsys)


def test_a_name_with_terminal_sequences_is_shown_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "\x1b]0;owned\x07\x1b[2J.yaml"
    path.write_text("a: [")
    said = files.imported(path, capsys)
    assert r"\x1b]0;owned\x07\x1b[2J.yaml:2: not valid YAML" in said
    assert "\x1b" not in said


def test_a_name_with_a_line_break_cannot_begin_a_line_of_a_ci_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a\n::error::all is lost.yaml"
    path.write_text("a: [")
    assert not any(line.startswith("::") for line in files.imported(path, capsys).splitlines())


def test_a_name_that_is_not_utf_8_is_shown_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.yaml"))
    path.write_text("a: [", encoding="utf-8")
    assert r"a\udcff.yaml:2: not valid YAML" in files.imported(path, capsys)


@pytest.mark.parametrize("name", ["a\udcff.json", "a\x1b[31m.json", "a\nb.json", "-rf.json", "\u202egpj.json"])
def test_a_recording_of_any_name_is_imported_under_a_plain_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = files.bare(tmp_path, "one.json").rename(tmp_path / "mini" / name)
    assert main.main(["import", f"{path}", f"--into={tmp_path / 'in'}"]) == 0
    capsys.readouterr().out.encode("utf-8")  # half of a surrogate pair could not be printed
    (made,) = load.find(tmp_path / "in")[0]
    assert made.name.removesuffix(load.SUFFIX).replace("-", "").isalnum()
    assert list(miniature.problems(tmp_path / "in")) == []


def test_a_message_is_one_line_without_control_characters() -> None:
    problem = FileProblem(Path("a\rb"), 3, "no \x1b[31mred\x1b[0m, no\nlines, no \u202eturned text, but ä and 🦀")
    assert str(problem) == r"a\rb:3: no \x1b[31mred\x1b[0m, no\nlines, no \u202eturned text, but ä and 🦀"


def test_a_message_that_quotes_a_megabyte_is_shortened() -> None:
    said = str(FileProblem(Path("a"), 1, f"the beginning {'x' * 10**6} the end"))
    assert len(said) == len("a:1: ") + limits.MESSAGE
    assert said.startswith("a:1: the beginning xxx")
    assert said.endswith("xxx the end")
