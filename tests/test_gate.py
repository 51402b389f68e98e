"""The gate as a project uses it: in a directory of its own, with the wheel installed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import yaml

from llm_conformance.corpus import manifest
from llm_conformance.reports import files
from tests import gated
from tests.shell import ROOT, sh

RUN = ("llm-conformance", "run", "--adapter=mypkg", "--examples=0")


@pytest.fixture
def path(installed: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put the wheel's commands on PATH, and unset the variables that would affect a run."""
    for name in ("GITHUB_STEP_SUMMARY", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    found = f"{installed}:/usr/bin:/bin"
    monkeypatch.setenv("PATH", found)
    return found


@pytest.mark.usefixtures("path")
def test_a_gate_passes_fails_accepts_a_deviation_and_reports_a_stale_one(tmp_path: Path) -> None:
    gated.write(tmp_path)
    assert sh(*RUN, cwd=tmp_path).returncode == 0
    gated.write(tmp_path, gated.BROKEN)
    broken = sh(*RUN, "--write-deviations=known.toml", cwd=tmp_path)
    assert broken.returncode == 1
    assert "known.toml: written; fill in reason and link of 1 entry" in broken.stdout
    assert "FAILED: 1 finding\n" in broken.stdout
    assert f"1 entry; then run again with --deviations={tmp_path / 'known.toml'}\n" in broken.stdout
    blank = sh(*RUN, "--deviations=known.toml", cwd=tmp_path)
    assert blank.returncode == 4
    assert "known.toml:28: reason: is empty; say why the adapter deviates" in blank.stderr
    gated.fill_in(tmp_path / "known.toml")
    known = sh(*RUN, "--deviations=known.toml", "--report=report.json", cwd=tmp_path)
    assert known.returncode == 0, known.stdout
    report = files.read(tmp_path / "report.json")
    (expected,) = (each for each in report["results"] if each["status"] == "expected")
    assert (expected["rule"], expected["method"]) == ("PRV-1", "parse")
    assert report["deviations"][expected["deviation"]]["reason"] == "not mapped yet"
    gated.write(tmp_path)
    stale = sh(*RUN, "--deviations=known.toml", cwd=tmp_path)
    assert stale.returncode == 1
    advice = "no cell fails; remove the entry (PRV-1 in cerebras/tool-call-without-content-key)"
    assert f"known.toml:21: {advice}" in stale.stdout
    assert "FAILED: 1 known deviation to remove, because nothing fails there\n" in stale.stdout


def test_the_commands_of_the_gate_page_lead_to_a_first_matrix(path: str, project: Path) -> None:
    commands = (ROOT / "docs" / "gate.md").read_text("utf-8").split("```sh\n")[1].split("```")[0].splitlines()
    install, init, smoke, run = (line.split() for line in commands)
    assert install == ["pip", "install", "llm-conformance"]
    assert sh(*init, cwd=project).returncode == 0
    adapter = project / "mypkg_conformance.py"
    unfilled = sh(*smoke, cwd=project)
    assert unfilled.returncode == 1
    assert "RuntimeError: call mypkg here" in unfilled.stdout
    text = adapter.read_text("utf-8").replace('raise RuntimeError("call mypkg here")', "raise TypeError(call)")
    text = text.replace("def complete(self, call):", "def parse(self, http, call):\n        return BASE(http, call)\n")
    adapter.write_text(text.replace("class Adapter:", "BASE = mypkg.Adapter().parse\n\n\nclass Adapter:"), "utf-8")
    assert sh(*smoke, cwd=project).returncode == 0
    judged = sh(*run, "--examples=0", cwd=project, GITHUB_STEP_SUMMARY=str(project / "summary.md"))
    assert judged.returncode == 1
    assert "openai:chat" in judged.stdout
    assert "<title>mypkg: conformance</title>" in (project / "conformance.html").read_text("utf-8")
    assert "| openai:chat |" in (project / "summary.md").read_text("utf-8")


def test_init_overwrites_nothing(path: str, tmp_path: Path) -> None:
    """The README writes the adapter before it names `init`."""
    (tmp_path / "mypkg_conformance.py").write_text("# mine")
    written = sh("llm-conformance", "init", "mypkg", cwd=tmp_path)
    assert written.returncode == 0
    assert "kept mypkg_conformance.py, which exists\n" in written.stdout
    assert "wrote conformance-deviations.toml\n" in written.stdout
    assert "\nRun: llm-conformance smoke --adapter=mypkg_conformance.py\n" in written.stdout
    again = sh("llm-conformance", "init", "mypkg", cwd=tmp_path)
    assert again.returncode == 4
    assert (
        "nothing was written, as all files exist: mypkg_conformance.py, conformance-deviations.toml, " in again.stderr
    )
    assert "move or delete those that you want anew, or name another --directory" in again.stderr
    assert (tmp_path / "mypkg_conformance.py").read_text("utf-8") == "# mine"


def test_the_workflow_that_init_writes_runs_the_gate(path: str, tmp_path: Path) -> None:
    assert sh("llm-conformance", "init", "mypkg", cwd=tmp_path).returncode == 0
    workflow = yaml.safe_load((tmp_path / ".github/workflows/conformance.yml").read_text("utf-8"))
    gated.write(tmp_path)
    (tmp_path / "mypkg.py").rename(tmp_path / "mypkg_conformance.py")
    (command,) = (
        step["run"]
        for step in workflow["jobs"]["conformance"]["steps"]
        if step.get("run", "").startswith("llm-conformance")
    )
    # `ci`, which the workflow has, would take a minute.
    done = sh("bash", "-euo", "pipefail", "-c", command.replace("--examples=ci", "--examples=0"), cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "conformance.html").is_file()


CONDITIONS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "inputs.server == ''": lambda values: values["inputs.server"] == "",
    "inputs.server != ''": lambda values: values["inputs.server"] != "",
}
"""When GitHub runs a step."""


def action(directory: Path, **inputs: str) -> CompletedProcess[str]:
    """Run the steps of the action as GitHub does, and return the last one's result."""
    document: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert inputs.keys() <= document["inputs"].keys()
    values = {
        f"inputs.{name}": inputs.get(name, declared.get("default")) for name, declared in document["inputs"].items()
    }
    values["github.action_path"] = str(ROOT)
    for step in document["runs"]["steps"]:
        if "uses" in step:
            assert step["if"] == "inputs.corpus != ''"
            continue
        if "if" in step and not CONDITIONS[step["if"]](values):
            continue
        environment = {name: values[expression.strip("${} ")] for name, expression in step["env"].items()}
        script = step["run"]
        if step["name"] == "Install":  # the wheel is installed already
            install, script = script.split("\n", 1)
            assert install == 'python -m pip install --quiet "$ACTION${CORPUS:+[corpus]}"'
            environment["GITHUB_OUTPUT"] = str(directory / "output")
        done = sh("bash", "-eo", "pipefail", "-c", script, cwd=directory, **environment)
        if done.returncode:
            break
    return done


@pytest.mark.usefixtures("path")
def test_the_steps_of_the_action(tmp_path: Path) -> None:
    gated.write(tmp_path)
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    options = {"adapter": "mypkg", "examples": "0"}
    passed = action(tmp_path, **options, arguments=f"--junitxml={tmp_path}/with space.xml\n-q")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert (tmp_path / "conformance-reports" / "conformance.html").is_file()
    assert (tmp_path / "with space.xml").is_file()
    gated.write(tmp_path, gated.BROKEN)
    assert action(tmp_path, **options, arguments="--write-deviations=known.toml").returncode == 1
    gated.fill_in(tmp_path / "known.toml")
    assert action(tmp_path, **options, deviations="known.toml").returncode == 0


@pytest.mark.weekly  # the next test sees that the script does, in every run
def test_the_action_tells_if_it_cannot_have_the_real_traffic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")  # it has the extra `corpus`
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    for name, value in without_an_index(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    options = {"examples": "0", "corpus": "public", "arguments": "--provider=groq"}
    done = action(tmp_path, adapter="adapters", **options)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "::warning title=llm-conformance::real traffic: NOT JUDGED" in done.stdout
    assert "conversations right" in done.stdout
    assert "NOT JUDGED" in summary.read_text("utf-8")
    assert re.fullmatch(r"key=llm-conformance-corpus-[0-9a-f]{16}\n", (tmp_path / "output").read_text("utf-8"))
    empty = "class Adapter:\n    providers = ['groq:chat']\n    def parse(self, http, call):\n        return {}\n"
    (tmp_path / "mypkg.py").write_text(f"{empty}conformance_adapter = Adapter\n", "utf-8")
    assert action(tmp_path, adapter="mypkg", **options).returncode == 1


def without_an_index(directory: Path) -> dict[str, str]:
    """Return the environment in which nothing can be downloaded and nothing has been."""
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:1/simple", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}
    return {**nowhere, "PIP_EXTRA_INDEX_URL": "", "LLM_CONFORMANCE_CACHE": str(directory / "cache")}


def test_the_suite_tells_if_it_cannot_have_the_real_traffic(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    github = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "PATH": path}
    done = sh("bash", ROOT / ".ci" / "real-traffic", "groq", cwd=tmp_path, **without_an_index(tmp_path), **github)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "0 packages fetched" in done.stdout
    assert "::warning title=real traffic::real traffic: NOT JUDGED" in done.stdout
    assert "NOT JUDGED" in summary.read_text("utf-8")
    assert "conversations right" not in done.stdout


def test_the_workflow_of_real_traffic_keeps_the_recordings_of_this_manifest() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/real-traffic.yml").read_text("utf-8"))
    steps = workflow["jobs"]["public-corpus"]["steps"]
    (cache,) = (step["with"] for step in steps if "cache" in step.get("uses", ""))
    assert cache["path"] == "~/.cache/llm-conformance"
    assert cache["key"] == "public-corpus-${{ hashFiles('cassettes/public.toml') }}"
    assert steps[-1]["run"] == ".ci/real-traffic"


def test_the_sample_of_real_traffic_in_ci_stays_small() -> None:
    (provider,) = re.findall(r"\.ci/real-traffic (\S+) \|\|", (ROOT / ".ci" / "run").read_text("utf-8"))
    sample = [each for each in manifest.packages() if provider in each.providers]
    assert 1 < len(sample) <= 3
    assert sum(each.size for each in sample) < 5 * 2**20


@pytest.mark.weekly  # these are the commands of the workflow that `init` writes, with other options for the report
@pytest.mark.usefixtures("path")
def test_the_recipes_for_gitlab_and_tox(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "gate.md").read_text("utf-8")
    assert sh("llm-conformance", "init", "mypkg", cwd=tmp_path).returncode == 0
    gated.write(tmp_path)
    (tmp_path / "mypkg.py").rename(tmp_path / "mypkg_conformance.py")
    gitlab = yaml.safe_load(text.split("## GitLab\n\n```yaml\n")[1].split("```")[0])["conformance"]["script"]
    tox = text.split("commands = ")[1].split("\n")[0].replace("{posargs}", "--junitxml=tox.xml")
    for command in (gitlab[1].replace("--examples=ci", "--examples=0"), f"{tox} --examples=0"):
        done = sh("bash", "-euo", "pipefail", "-c", command, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "conformance.xml").is_file()
    assert (tmp_path / "tox.xml").is_file()


@pytest.mark.usefixtures("path")
def test_merged_shards_equal_the_report_of_one_run(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "gate.md").read_text("utf-8")
    block = text.split("## More cores")[1].split("```sh\n")[1].split("```")[0]
    one, two, merge = block.replace("--examples=ci", "--examples=2").splitlines()
    gated.write(tmp_path, gated.BROKEN)
    (tmp_path / "mypkg.py").rename(tmp_path / "mypkg_conformance.py")
    codes = [sh(*command.split(), cwd=tmp_path).returncode for command in (one, two, merge)]
    assert codes[2] == max(codes) == 1
    alone = sh(
        "llm-conformance",
        "run",
        "--adapter=mypkg_conformance.py",
        "--examples=2",
        "--report=r.json",
        "-n2",
        cwd=tmp_path,
    )
    assert alone.returncode == 1
    whole, same = (files.read(tmp_path / name) for name in ("whole.json", "r.json"))
    assert whole["complete"] is True
    assert whole["items"] == same["items"]
    assert recorded(whole) == recorded(same)
    assert sum(cell[-1] == "fail" for cell in recorded(whole)) == 1
    twice = sh("llm-conformance", "report", "merge", "shard-1.json", "shard-1.json", "-o", "x.json", cwd=tmp_path)
    assert twice.returncode == 4
    assert "they overlap" in twice.stderr


def recorded(report: dict[str, Any]) -> set[tuple[str, ...]]:
    """Return the cells with their statuses; generated cells have none, for their examples are random."""
    names = ("adapter", "rule", "scenario", "mode", "method")
    return {
        (*(each[name] for name in names), "" if each["provenance"] == "generated" else each["status"])
        for each in report["results"]
    }


@pytest.mark.weekly  # tests/test_remembered.py sees that a run tries what is in a database
@pytest.mark.usefixtures("path")
def test_machines_share_the_examples_that_hypothesis_has_found(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "generated.md").read_text("utf-8")
    module = text.partition("shared_database.py")[2].split("```python\n")[1].split("```")[0]
    theme = "--scenario=cerebras/generated-chat-answers"
    # About one example in a few dozen shows the fault, so a search of one example does not find it by itself.
    rare = "dataclasses.replace(response, id='x') if len(response.annotations + response.tool_calls) > 1 else response"
    found = []
    for machine, examples in (("one", "300"), ("two", "1")):
        directory = tmp_path / machine
        directory.mkdir()
        (directory / "shared_database.py").write_text(module)
        gated.write(directory, rare)
        command = ("llm-conformance", "run", "--adapter=mypkg", theme, "--method=parse", f"--examples={examples}")
        done = sh(
            *command,
            "-p",
            "shared_database",
            cwd=directory,
            PYTHONPATH=".",
            SHARED_DATABASE=str(tmp_path / "database"),
        )
        found.append(done.returncode)
    assert found == [1, 1]
