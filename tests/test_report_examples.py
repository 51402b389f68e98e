"""The generated inputs that fail are in the report: whole, small, and enough to replay them elsewhere."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.cli import main
from llm_conformance.reports import counterexamples, files
from tests import inline, miniature
from tests.test_search import TRIMS

ARGUMENTS = ("--conformance-scenario=zai/generated-*-answers", "-q", "--tb=no", "-p", "no:cacheprovider")


def run(pytester: pytest.Pytester, report: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = inline.run(pytester, str(miniature.RULES), f"--conformance-report={report}", *ARGUMENTS, *arguments)
    document: dict[str, Any] = files.read(report)
    return int(done.ret), document


def test_a_failure_is_replayed_from_a_report_alone(
    pytester: pytest.Pytester, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, examples = tmp_path / "report.json", tmp_path / "examples"
    code, found = run(pytester, report, f"--adapter={TRIMS}")
    assert code == 1
    (failed,) = [each for each in found["results"] if each["rule"] == "MSG-2" and each["status"] == "fail"]
    assert failed["example"]["kept"] is None

    capsys.readouterr()
    assert main.main(["report", "examples", str(report), "-o", str(examples)]) == 0
    shown = capsys.readouterr().out.splitlines()
    id = failed["example"]["id"]
    command = shlex.split(shown[shown.index(id) + 2])
    line = shown[shown.index(id) + 1]
    assert line.startswith("  MSG-2: ")
    assert line.count("MSG-2") == 1
    assert command[:2] == ["llm-conformance", "run"]
    options = [each.replace("--", "--conformance-", 1) for each in command[2:]]
    code, again = run(pytester, tmp_path / "again.json", *options)
    assert code == 1
    (replayed,) = [each for each in again["results"] if each["rule"] == "MSG-2" and each["scenario"] == id]
    assert replayed["status"] == "fail"
    assert replayed["message"] == failed["message"]

    code, right = run(
        pytester,
        tmp_path / "right.json",
        "--adapter=adapters",
        f"--conformance-cassettes={examples}",
        f"--conformance-scenario={id}",
        "--conformance-examples=0",
    )
    assert code == 0
    assert {each["status"] for each in right["results"] if each["rule"] == "MSG-2" and each["scenario"] == id} == {
        "pass"
    }


def test_large_examples_are_left_out_and_secrets_hidden() -> None:
    files = {
        "zai/small": {"zai/small.yaml": "key: sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"},
        "zai/large": {"zai/large.yaml": "x" * 100_001},
        **{f"zai/{number}": {f"zai/{number}.yaml": "y" * 90_000} for number in range(60)},
    }
    listed = {each["id"]: each["files"] for each in counterexamples.listed(files)}
    assert "zai/large" not in listed
    assert "abcdefghijklmnopqrstuvwxyz" not in listed["zai/small"]["zai/small.yaml"]
    assert sum(len(text) for each in listed.values() for text in each.values()) <= 4_000_000
    results = [{"example": {"id": id}} for id in files]
    document = {"results": results, "counterexamples": counterexamples.listed(files)}
    assert counterexamples.left_out(document) == len(files) - len(listed) > 0


@pytest.mark.parametrize("name", ["../evil.yaml", "/etc/evil.yaml", "zai/../../evil.yaml", "zai/.yaml", "zai/a.py"])
def test_no_file_is_written_elsewhere(name: str, tmp_path: Path) -> None:
    document = {"results": [], "counterexamples": [{"id": "zai/a", "files": {name: "x"}}]}
    with pytest.raises(counterexamples.BadExamplesError, match="the report was altered"):
        list(counterexamples.write(document, tmp_path / "examples"))
    assert not list(tmp_path.rglob("evil*"))


def test_no_other_file_is_overwritten(tmp_path: Path) -> None:
    document = {"results": [], "counterexamples": [{"id": "zai/a", "files": {"zai/a.yaml": "x"}}]}
    assert [id for id, _ in counterexamples.write(document, tmp_path)] == ["zai/a"]
    assert [id for id, _ in counterexamples.write(document, tmp_path)] == ["zai/a"]
    (tmp_path / "zai" / "a.yaml").write_text("mine", "utf-8")
    with pytest.raises(counterexamples.BadExamplesError, match="exists already"):
        list(counterexamples.write(document, tmp_path))
