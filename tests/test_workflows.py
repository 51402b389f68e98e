"""The workflows, the action and the workflow that `init` writes: what they may do, run and see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from llm_conformance.templating import render
from tests.shell import ROOT

WORKFLOWS = {path.name: path.read_text("utf-8") for path in sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))}
WRITTEN = {"init": render("workflow.yml", adapter="mypkg_conformance.py", version="0.1.0")}
ACTION = (ROOT / "action.yml").read_text("utf-8")

_USES = re.compile(r"uses: (?P<action>\S+)(?: # (?P<version>\S+))?")
_BY_DIGEST = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
_VERSION = re.compile(r"v\d+\.\d+\.\d+")


def problems(text: str) -> Iterator[str]:
    """Yield what a workflow or an action does that it should not do."""
    document: dict[Any, Any] = yaml.safe_load(text)
    yield from _unpinned(text)
    if "runs" in document:
        yield from _of_steps(document["runs"]["steps"])
        return
    if document.get("permissions") != {"contents": "read"}:
        yield "permissions: it may do more than read the repository"
    events = document[True]  # YAML 1.1 reads `on` as true
    if "pull_request_target" in events or "workflow_run" in events:
        yield "on: code of strangers runs with the rights of the repository"
    if "secrets." in str(document.get("env")):
        yield "env: every step of every job sees a secret"
    for name, job in document["jobs"].items():
        if "permissions" in job:
            yield from _of_permissions(name, job)
        if "secrets." in str({key: value for key, value in job.items() if key != "steps"}):
            yield f"{name}: every step sees a secret"
        yield from _of_steps(job.get("steps", []))  # none if the job is another workflow of the repository


SIGNING = {"id-token", "attestations", "pages"}
"""The permissions that a job may have if it signs or publishes files of another job."""


def _of_permissions(name: str, job: dict[str, Any]) -> Iterator[str]:
    if {*job["permissions"]} - SIGNING:
        yield f"{name}: it has permissions of its own"
    if any("run" in step or step.get("uses", "").startswith("actions/checkout@") for step in job["steps"]):
        yield f"{name}: code of the repository runs where something can be signed"


def _unpinned(text: str) -> Iterator[str]:
    for found in _USES.finditer(text):
        if found["action"].startswith("./.github/workflows/"):
            continue  # it is of the same commit
        if not _BY_DIGEST.fullmatch(found["action"]) or not _VERSION.fullmatch(found["version"] or ""):
            yield f"uses {found['action']}: not by digest, with the version behind it"


def _of_steps(steps: list[dict[str, Any]]) -> Iterator[str]:
    for step in steps:
        run, uses, settings = step.get("run", ""), step.get("uses", ""), step.get("with", {})
        if "${{" in run:
            yield f"run: an expression becomes a part of the script: {run}"
        if uses.startswith("actions/checkout@") and settings.get("persist-credentials") is not False:
            yield "checkout: later steps find the token of the repository"
        if "secrets." in str({**step, "env": ""}):
            yield "a secret is outside of `env`"
        if "secrets." in str(step.get("env")) and re.search(r"\binstall\b|\btox\b", run):
            yield f"run: what is installed sees a secret: {run}"


@pytest.mark.parametrize("name", [*WORKFLOWS, *WRITTEN, "action.yml"])
def test_a_workflow_has_the_least_rights(name: str) -> None:
    text = {**WORKFLOWS, **WRITTEN, "action.yml": ACTION}[name]
    assert list(problems(text)) == []


def test_all_of_them_use_the_same_release_of_an_action() -> None:
    found = {
        (each["action"].partition("@")[0], each[0])
        for text in (*WORKFLOWS.values(), *WRITTEN.values(), ACTION)
        for each in _USES.finditer(text)
    }
    assert len(found) == len({action for action, _ in found})


def test_the_keys_of_providers_are_in_one_step() -> None:
    with_secrets = [name for name, text in WORKFLOWS.items() if "secrets." in text]
    assert with_secrets == ["record.yml"]
    steps = [step for job in yaml.safe_load(WORKFLOWS["record.yml"])["jobs"].values() for step in job["steps"]]
    (keeper,) = (step for step in steps if "secrets." in str(step))
    assert keeper["run"].startswith("llm-conformance record ")


GOOD = """\
on: {push: {}}
permissions: {contents: read}
jobs:
  one:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@0000000000000000000000000000000000000000 # v1.2.3
        with: {persist-credentials: false}
      - run: mypkg
        env: {KEY: "${{ secrets.KEY }}"}
"""


@pytest.mark.parametrize(
    ("good", "bad", "problem"),
    [
        ("", "", ""),
        ("permissions: {contents: read}", "", "permissions: it may do more than read the repository"),
        ("contents: read", "contents: write", "permissions: it may do more than read the repository"),
        ("push", "pull_request_target", "on: code of strangers runs with the rights of the repository"),
        ("jobs:", "env: {KEY: '${{ secrets.KEY }}'}\njobs:", "env: every step of every job sees a secret"),
        ("    steps:", "    permissions: {id-token: write}\n    steps:", "one: code of the repository runs where"),
        ("    steps:", "    env: {KEY: '${{ secrets.KEY }}'}\n    steps:", "one: every step sees a secret"),
        ("@" + "0" * 40, "@v1", "uses actions/checkout@v1: not by digest, with the version behind it"),
        (" # v1.2.3", "", f"uses actions/checkout@{'0' * 40}: not by digest, with the version behind it"),
        ("run: mypkg", "run: echo ${{ inputs.a }}", "run: an expression becomes a part of the script: echo"),
        ("persist-credentials: false", "", "checkout: later steps find the token of the repository"),
        ("with: {persist", "with: {token: '${{ secrets.T }}', persist", "a secret is outside of `env`"),
        ("run: mypkg", "run: pip install mypkg", "run: what is installed sees a secret: pip install mypkg"),
    ],
)
def test_a_workflow_that_may_do_too_much_is_found(good: str, bad: str, problem: str) -> None:
    assert good in GOOD
    found = list(problems(GOOD.replace(good, bad) if good else GOOD))
    assert len(found) == bool(problem)
    assert all(each.startswith(problem) for each in found)


def test_a_job_that_signs_may_do_nothing_else() -> None:
    signing = GOOD[: GOOD.index("      - uses:")].replace(
        "    steps:", "    permissions: {id-token: write}\n    steps:"
    )
    signing += f"      - uses: actions/attest@{'0' * 40} # v1.2.3\n"
    assert list(problems(signing)) == []
    assert list(problems(signing.replace("id-token", "contents"))) == ["one: it has permissions of its own"]


def test_a_workflow_of_the_same_commit_needs_no_digest() -> None:
    assert list(problems(GOOD[: GOOD.index("    runs-on:")] + "    uses: ./.github/workflows/tests.yml\n")) == []


def test_what_is_released_has_passed_all_tests_and_the_checks_of_packages() -> None:
    jobs = yaml.safe_load(WORKFLOWS["release.yml"])["jobs"]
    assert jobs["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert jobs["weekly"]["uses"] == "./.github/workflows/weekly.yml"
    assert [jobs[name]["needs"] for name in ("build", "attest", "publish")] == [["tests", "weekly"], "build", "attest"]
    assert "tox -e package -- dist" in [step.get("run") for step in jobs["build"]["steps"]]


def test_each_benchmark_runs_once_a_week() -> None:
    assert "\n      - run: .ci/benchmarks\n" in WORKFLOWS["weekly.yml"]
    named = re.findall(r"^python (benchmarks/\w+\.py)", (ROOT / ".ci" / "benchmarks").read_text("utf-8"), re.MULTILINE)
    assert sorted(named) == [f"benchmarks/{each.name}" for each in sorted((ROOT / "benchmarks").glob("*.py"))]


def test_the_hooks_of_contributors_are_the_checks_of_tox() -> None:
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    hooks = {each["entry"].removeprefix(".venv/bin/").removesuffix(" --fix") for each in local["hooks"]}
    tox = (ROOT / "tox.ini").read_text("utf-8").partition("[testenv:check]")[2].partition("[testenv:")[0]
    commands = tox.partition("commands =\n")[2].split("\n")
    assert hooks == {each.strip().removesuffix(" .").removesuffix(" --check") for each in commands if each.strip()}


def test_the_audit_fails_for_a_package_that_its_database_does_not_have() -> None:
    audits = [
        line for line in (ROOT / "tox.ini").read_text("utf-8").splitlines() if line.strip().startswith("pip-audit ")
    ]
    assert len(audits) == 2
    assert all(" --strict " in line for line in audits)
