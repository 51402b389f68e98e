"""The recipes for the CI of a server, as the page has them, against servers of the tests."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers.broken.answers import TimeOfEachChunk
from tests.servers.reference import CONTEXT, KEY, MODEL, Reference, running
from tests.shell import ROOT, sh
from tests.test_gate import action

SECTION = (ROOT / "docs" / "servers.md").read_text("utf-8").split("## In the CI of a server\n")[1].split("\n## ")[0]
INPUTS: dict[str, Any] = next(
    step["with"]
    for step in yaml.safe_load(SECTION.split("```yaml\n")[1].split("```")[0])
    if "llm-conformance@" in step.get("uses", "")
)
SHELL = SECTION.split("```sh\n")[1].split("```")[0]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory with the known deviations of the page, and a key in the environment."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    monkeypatch.setenv("REFERENCE_KEY", KEY)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "wire-deviations.toml").write_text(SECTION.split("```toml\n")[1].split("```")[0], "utf-8")
    return tmp_path


@pytest.mark.parametrize(("server", "code"), [(TimeOfEachChunk, 0), (Reference, 1)], ids=["known", "stale"])
def test_the_action_judges_a_server(server: type[Reference], code: int, project: Path) -> None:
    assert INPUTS["arguments"] == "--context=4096"
    arguments = f"--context={CONTEXT}\n--key-env=REFERENCE_KEY\n"
    with running(server()) as url:
        done = action(project, **{**INPUTS, "server": url, "model": MODEL, "arguments": arguments})

    assert done.returncode == code, done.stdout + done.stderr
    reports = project / "conformance-reports"
    assert {each.name for each in reports.iterdir()} == {"chat.json", "chat.html", "chat.svg", "answers-chat"}
    summary = (project / "summary.md").read_text("utf-8")
    assert summary.startswith(f"## {MODEL} at {url}: {'1 known deviation' if code == 0 else 'failing'}\n")
    replayed = sh("llm-conformance", "server", f"--replay={reports}/answers-chat", "--rule=WIRE-9", cwd=project)
    assert replayed.returncode == 1 - code, replayed.stdout


@pytest.mark.parametrize(
    ("inputs", "problem"), [({}, "give an adapter or a server"), ({"adapter": "a"}, "give an ada")]
)
def test_the_action_judges_an_adapter_or_a_server(inputs: dict[str, str], problem: str, project: Path) -> None:
    server = {"server": "http://127.0.0.1:9/v1"} if inputs else {}

    done = action(project, **inputs, **server)

    assert done.returncode == 4
    assert f"::error title=llm-conformance::{problem}" in done.stdout


def test_the_recipe_for_a_shell(project: Path) -> None:
    with running(TimeOfEachChunk()) as url:
        command = SHELL.replace("http://127.0.0.1:8080/v1", shlex.quote(url)).replace("4096", str(CONTEXT))
        command = command.replace("--model small", f"--model {MODEL} --key-env REFERENCE_KEY")
        done = sh("bash", "-euo", "pipefail", "-c", command, cwd=project)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 known: " in done.stdout
    for name in ("wire.json", "wire.html", "wire.svg"):
        assert (project / name).is_file()
