"""`llm-conformance corpus show`: a scenario beside the recordings that show it, safe to be printed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from llm_conformance.cli import main
from llm_conformance.cli.corpus import interaction_text, show
from llm_conformance.corpus.manifest import Package
from tests import miniature, tiny_corpus
from tests.tiny_corpus import FILE, METADATA, record, replaced

PLAIN, STREAM = miniature.interactions()
SHOWN = {
    **METADATA,
    "grounds": "recording",
    "shown_by": {
        "json": f"acme-tests 1.0, {FILE}, interaction 0",
        "stream": f"acme-tests 1.0, {FILE}, interaction 1",
    },
}
RECORDED = replaced(PLAIN, [("Eight.", "Recorded eight.")])


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    monkeypatch.setattr(show, "CASSETTES", tmp_path / "own")
    monkeypatch.setenv("COLUMNS", "120")
    return tiny_corpus.use(tmp_path, monkeypatch)


def run(*arguments: str) -> int:
    return main.main(["corpus", "show", *arguments])


@pytest.fixture
def said(tmp_path: Path, package: Package, capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    """Write a scenario, put the recording that shows it into the cache, and return the fixture that captures output."""
    tiny_corpus.scenario(tmp_path / "own", metadata=SHOWN)
    record(package, RECORDED, STREAM)
    return capsys


def test_a_scenario_is_beside_its_recordings(said: pytest.CaptureFixture[str], package: Package) -> None:
    assert run("mini/spider") == 0
    lines = said.readouterr().out.splitlines()
    assert lines[0] == "mini/spider, json: Reasoning beside the answer"
    assert lines[1] == f"acme-tests 1.0, {FILE}, interaction 0"
    assert f"sha256 of {package.archive}: {package.sha256}" in lines[2]
    assert any("THE SCENARIO" in line and "| THE RECORDING" in line for line in lines)
    (text,) = (line for line in lines if "Recorded eight." in line)
    assert '"Eight."' in text.partition(" | ")[0]
    assert all(len(line) <= 120 for line in lines[5:] if " | " in line)
    assert "mini/spider, stream: Reasoning beside the answer" in lines
    assert sum("REQUEST" in line for line in lines) == 2


def test_the_responses_begin_in_the_same_line(said: pytest.CaptureFixture[str], package: Package) -> None:
    longer = {**PLAIN.request, "temperature": 0, "top_p": 1, "seed": 7}
    record(package, replace(RECORDED, request=longer), STREAM)
    run("mini/spider")
    assert any(line.split() == ["RESPONSE", "|", "RESPONSE"] for line in said.readouterr().out.splitlines())


@pytest.mark.parametrize("option", ["--plain", "narrow"])
def test_in_a_narrow_terminal_one_comes_after_the_other(
    said: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80" if option == "narrow" else "200")
    assert run("mini/spider", *([option] if option.startswith("-") else [])) == 0
    out = said.readouterr().out
    assert " | " not in out
    assert out.index("--- the scenario") < out.index('"Eight."') < out.index("--- the recording")
    assert out.index("--- the recording") < out.index("Recorded eight.")


def test_only_the_recording_is_shown_if_it_is_asked_for(said: pytest.CaptureFixture[str]) -> None:
    assert run("mini/spider", "--recording") == 0
    out = said.readouterr().out
    assert "Recorded eight." in out
    assert '"Eight."' not in out


def test_a_recording_is_shown_by_its_id(said: pytest.CaptureFixture[str]) -> None:
    for id in ("acme-tests/tests/cassettes/spider", f"acme-tests/{FILE}"):
        assert run(id) == 0
        out = said.readouterr().out
        assert "interaction 0\n" in out
        assert "interaction 1\n" in out
    assert run("acme-tests/tests/cassettes/spider#1") == 0
    out = said.readouterr().out
    assert "interaction 0\n" not in out
    assert "interaction 1\n" in out
    assert run("acme-tests/tests/cassettes/spider#7") == 1
    assert f"{FILE} has no interaction 7" in said.readouterr().err


def test_nothing_of_a_recording_acts_on_the_terminal_or_is_secret(
    said: pytest.CaptureFixture[str], package: Package
) -> None:
    key = "sk-" + "a1B2" * 8
    text = json.dumps(f"\x1b]0;title\x07\x9b31m\u202etrap {key}", ensure_ascii=False)
    body = PLAIN.body.replace(b'"Eight."', text.encode())
    uri = f"https://ann:{key}@api.deepseek.com/chat/completions?key={key}"
    record(package, replace(PLAIN, body=body, uri=uri, request={"model": key, "user": "ann@acme.test"}), STREAM)
    for options in ((), ("--plain", "--full"), ("--recording",)):
        assert run("mini/spider", *options) == 0
        out = said.readouterr().out
        assert not any(not (each.isprintable() or each == "\n") for each in out)
        assert key not in out
        assert "ann@" not in out
        assert "api.deepseek.com/chat/completions" in out
    assert "\\x9b31m\\u202etrap [an API key]" in out


def test_a_body_that_is_no_json_is_shown_as_it_is(said: pytest.CaptureFixture[str], package: Package) -> None:
    record(package, replace(PLAIN, status=502, headers={"content-type": "text/html"}, body=b"<p>\xff\x1b[0m"), STREAM)
    assert run("acme-tests/tests/cassettes/spider#0") == 0
    out = said.readouterr().out
    assert "status 502\ncontent-type: text/html\n\n<p>\\xff\\x1b[0m\n" in out


def test_what_is_long_is_shortened_unless_all_is_asked_for(said: pytest.CaptureFixture[str], package: Package) -> None:
    request = {**PLAIN.request, "stop": [f"word {number}" for number in range(99)], "user": "x" * 999}
    record(package, replace(PLAIN, request=request), STREAM)
    run("mini/spider", "--recording")
    short = said.readouterr().out
    assert "more lines, with --full ..." in short
    assert "word 50" not in short
    run("mini/spider", "--recording", "--full")
    full = said.readouterr().out
    assert "word 50" in full
    assert "x" * 999 in full
    assert "--full" not in full


def test_a_line_of_wide_letters_stays_in_its_column() -> None:
    rows = list(interaction_text.side_by_side(["日本" * 5, "e\u0301" * 3], ["right"], 23))
    assert rows == ["日本日本日 | right", "本日本日本 |", "e\u0301e\u0301e\u0301        |"]


@pytest.mark.usefixtures("package")
def test_a_package_that_is_not_here_can_be_fetched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny_corpus.scenario(tmp_path / "own", metadata=SHOWN)
    for name in ("mini/spider", "acme-tests/tests/cassettes/spider"):
        assert run(name) == 1
        err = capsys.readouterr().err
        assert "acme-tests 1.0 is not here; `llm-conformance corpus fetch acme-tests` downloads it" in err


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (METADATA, "No public recording is known that shows mini/spider. Its grounds: documentation\n    https://ex"),
        ({"provenance": "recorded", "source": "the tests"}, "mini/spider is a recording itself: "),
    ],
)
def test_a_scenario_without_a_reference_says_what_it_rests_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], metadata: dict[str, str], message: str
) -> None:
    tiny_corpus.scenario(tmp_path / "own", metadata=metadata)
    assert run("mini/spider") == 1
    assert message in capsys.readouterr().out


@pytest.mark.usefixtures("package")
def test_modes_without_a_recording_are_named(
    tmp_path: Path, package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    shown_by = {"json": f"acme-tests 1.0, {FILE}, interaction 0"}
    tiny_corpus.scenario(tmp_path / "own", metadata={**SHOWN, "shown_by": shown_by})
    record(package, PLAIN)
    assert run("mini/spider") == 0
    assert "No public recording shows it in the mode stream.\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mini/spiders", "no such scenario or recording; did you mean mini/spider?"),
        ("acme-test", "no such scenario or recording; did you mean acme-tests?"),
        ("acme-tests/tests/cassettes/spider-2", "no such recording; did you mean acme-tests/tests/cassettes/spider?"),
    ],
)
def test_an_unknown_name_has_a_suggestion(said: pytest.CaptureFixture[str], name: str, hint: str) -> None:
    assert run(name) == 4
    assert f"{name}: {hint}" in said.readouterr().err
