"""The commands around a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llm_conformance.cli import main
from llm_conformance.cli.explain import examples
from llm_conformance.rules import catalogue
from tests import gated


def test_list_has_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in found["rules"]] == [*catalogue.catalogue()]
    assert {"id", "api", "provenance", "grounds", "title"} == set(found["scenarios"][0])


@pytest.mark.parametrize(
    ("arguments", "shown", "hidden"),
    [
        (["scenarios", "--provider=cohere:chat"], "cohere/unknown-event", "openai/"),
        (["scenarios", "--scenario=openai/refus*"], "openai/refusal", "openai/citations"),
        (["rules", "--rule=ANN-*"], "ANN-5", "MSG-1"),
        (["core-faults", "--provider=zai"], "zai/core-chat-json-html", "openai/"),
        (["providers"], "zai:chat", "MSG-1"),
        (["capabilities"], "annotations", "MSG-1"),
    ],
)
def test_lists_are_filtered(capsys: pytest.CaptureFixture[str], arguments: list[str], shown: str, hidden: str) -> None:
    assert main.main(["list", *arguments]) == 0
    text = capsys.readouterr().out
    assert shown in text
    assert hidden not in text


@pytest.mark.parametrize("rule", [*catalogue.catalogue()])
def test_every_rule_is_explained_with_a_failure(capsys: pytest.CaptureFixture[str], rule: str) -> None:
    assert main.main(["explain", rule.lower()]) == 0
    text = capsys.readouterr().out
    assert catalogue.catalogue()[rule].rule.requirement.split()[0] in text
    assert "    Expected     " in text
    assert set(examples()[rule]) == {"fault", "failure"}


def test_a_scenario_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["explain", "openai/refusal"]) == 0
    shown = capsys.readouterr().out
    assert "openai:chat (json, stream), synthetic\nGrounds: recording, https://" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "ANN-6"], "ANN-6: no such rule; did you mean"),
        (["explain", "openai/refusl"], "openai/refusl: no such scenario; did you mean openai/refusal"),
        (["explain", "../../etc/passwd"], "no such scenario"),
        (["list", "scenarios", "--provider=nobody"], "no scenarios match"),
        (["list", "--wrong"], "unknown arguments: --wrong"),
        (["smoke", "--adapter=nosuchpackage"], "cannot find 'nosuchpackage'"),
        (["init", "my-pkg"], "'my-pkg' is not the name of a Python package"),
        (["init", "mypkg", "--directory=nowhere"], "nowhere: no such directory"),
        (["report", "show", "a.json", "-o", "b.json"], "reports are JSON already"),
        (["nothing"], "invalid choice: 'nothing'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_a_usage_error_is_one_message(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    try:
        code = main.main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 4
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("spoilt", "code", "message"),
    [
        (gated.GOOD, 0, "ok  cerebras:chat              parse"),
        (
            "{'message': None}",
            1,
            "NO  cerebras:chat              parse         `message` must be a string, and is None",
        ),
        ("1 / 0", 1, "NO  cerebras:chat              parse         raised ZeroDivisionError: division by zero"),
    ],
)
def test_smoke(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    spoilt: str,
    code: int,
    message: str,
) -> None:
    gated.write(tmp_path, spoilt, package="adapters")
    (tmp_path / "mypkg.py").rename(tmp_path / f"smoked{abs(hash(spoilt))}.py")
    monkeypatch.chdir(tmp_path)
    assert main.main(["smoke", f"--adapter=smoked{abs(hash(spoilt))}.py"]) == code
    assert message in capsys.readouterr().out
