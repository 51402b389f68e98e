"""The wheel has one name in site-packages, holds everything, and runs in any project."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from llm_conformance.reports import files
from llm_conformance.wire.providers.table import table
from tests.conftest import made_once, write_project
from tests.shell import ROOT, sh

LEFT_OUT = (
    ":!peers/rediscovered",
    ":!peers/*/reports/*",
    ":!peers/*/requirements.txt",
    ":!peers/*/package-lock.json",
    ":!peers/*/overrides.txt",
)
MOST_BYTES = 3.25 * 2**20
"""It has 2,300 files, most of which are recordings: the names alone take some hundred kilobytes."""


def statuses(report: Path) -> Counter[str]:
    """Count the results of a JSON report by status, without the generated ones, which differ between runs."""
    results = files.read(report)["results"]
    return Counter(each["status"] for each in results if each["provenance"] != "generated")


def test_the_wheel_has_one_name_and_holds_everything(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"llm_conformance"}
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]
    for folder in ("conformance", "cassettes", "schemas", "adapters"):
        tracked = sh("git", "ls-files", folder, cwd=ROOT).stdout.split()
        packed = [name for name in names if name.startswith(f"llm_conformance/{folder}/")]
        assert len(packed) == len(tracked)
    modules = sh("git", "ls-files", "src", cwd=ROOT).stdout.split()
    assert {name.removeprefix("src/") for name in modules} <= {*names}
    libraries = sh("git", "ls-files", "peers/*/*", "peers/*.mjs", *LEFT_OUT, cwd=ROOT).stdout.split()
    assert {name for name in names if "/peers/" in name} == {f"llm_conformance/{path}" for path in libraries}


def test_the_wheel_is_not_large(wheel: Path) -> None:
    assert wheel.stat().st_size < MOST_BYTES


COMMAND = ("--pyargs", "llm_conformance", "--conformance-examples=1")


@pytest.fixture(scope="session")
def judged(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judge the adapter of docs/start.md in an otherwise empty directory; return the directory of report and output."""

    def judge(directory: Path) -> None:
        directory.mkdir(exist_ok=True)  # an attempt before this one may have failed
        write_project(directory)
        report = f"--conformance-report={directory / 'report.json'}"
        run = sh(installed / "pytest", *COMMAND, "--adapter=mypkg", report, cwd=directory)
        assert run.returncode == 1, run.stdout + run.stderr
        (directory / "output").write_text(run.stdout, "utf-8")

    return made_once(tmp_path_factory, "judged", judge)


def test_it_runs_in_an_empty_directory(judged: Path) -> None:
    of_probes = {"probe-passed", "probe-failed"}
    assert {"pass", "fail", "blocked", "unsupported", "vacuous"} == set(statuses(judged / "report.json")) - of_probes
    output = (judged / "output").read_text("utf-8")
    assert "    pytest --pyargs llm_conformance --conformance-adapter=mypkg" in output


@pytest.mark.weekly
def test_the_reference_adapters_conform_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """The wheel holds what judging every scenario needs; one rule suffices to show it."""
    run = sh(
        installed / "pytest",
        "--pyargs",
        "llm_conformance",
        "--adapter=adapters",
        "-q",
        "--conformance-rule=MSG-2",
        "--conformance-examples=0",
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert all(f"{provider}:{api}  " in run.stdout for provider, api in table())


def test_the_configuration_of_a_project_does_not_change_the_verdicts(
    installed: Path, project: Path, judged: Path
) -> None:
    (project / "pytest.ini").write_text(
        "[pytest]\n"
        "python_files = check_*.py\npython_functions = check_*\npython_classes = Check*\n"
        "norecursedirs = conformance *\ntestpaths = checks\n"
        "addopts = -W error -n 2 --import-mode=importlib --strict-markers\n"
    )
    (project / "conftest.py").write_text(
        "import pytest\n"
        "def pytest_addoption(parser): parser.addoption('--adapter', choices=['network'], default='network')\n"
        "@pytest.fixture(autouse=True)\ndef hostile(): raise RuntimeError\n"
    )
    hostile = project / "hostile.json"
    report = f"--conformance-report={hostile}"
    run = sh(installed / "pytest", *COMMAND, "--conformance-adapter=mypkg", report, cwd=project)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "2 workers" in run.stdout
    assert statuses(hostile) == statuses(judged / "report.json")
    assert json.loads(hostile.read_text("utf-8"))["complete"] is True


def test_a_project_that_does_not_use_the_suite_is_not_affected(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--adapter')\n")
    (tmp_path / "test_own.py").write_text(
        "import sys\n"
        "def test_own(pytestconfig):\n"
        "    assert pytestconfig.getoption('--adapter') == 'eth0'\n"
        "    assert not {'vcr', 'hypothesis', 'jsonschema', 'httpx', 'yaml'} & set(sys.modules)\n"
    )
    run = sh(installed / "pytest", "-q", "--adapter=eth0", cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "conformance" not in run.stdout


def test_no_module_is_loaded_twice(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import collections, sys\n"
        "def pytest_sessionfinish():\n"
        "    files = [getattr(module, '__file__', None) for module in list(sys.modules.values())]\n"
        "    ours = collections.Counter(file for file in files if file and 'llm_conformance' in file)\n"
        "    print('twice:', [file for file, count in ours.items() if count > 1], 'of', len(ours))\n"
    )
    run = sh(
        installed / "pytest",
        *("--pyargs", "llm_conformance", "--adapter=adapters", "--conformance-provider=zai", "-q", "-s"),
        "--conformance-examples=1",
        cwd=tmp_path,
    )
    assert "twice: [] of" in run.stdout, run.stdout
