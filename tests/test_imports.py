"""What the commands on reports, and runs without generated inputs, do not import."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.shell import ROOT, sh
from tests.test_reports import WHOLE

# They are slow to import, and reading a report needs none of them.
HEAVY = {"hypothesis", "vcr", "http.server", "pytest"}
RUNS = {"llm_conformance.replay.runner", "llm_conformance.replay.server"} | {
    f"llm_conformance.{name}" for name in ("generate", "themes", "recording", "pytest_plugin")
}


def imported_by(code: str, cwd: Path) -> set[str]:
    """Return the modules that a fresh interpreter has imported after running the code."""
    done = sh(sys.executable, "-c", f"{code}\nimport sys\nprint('\\n', *sys.modules, sep='\\n')", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "module", ["cli.main", "cli.report", "reports.files", "reports.forms.page", "server.reports.files"]
)
def test_reports_load_without_what_a_run_needs(module: str) -> None:
    imported = imported_by(f"import llm_conformance.{module}", ROOT)
    assert f"llm_conformance.{module}" in imported
    assert not imported & (HEAVY | RUNS | {"conformance"})


def test_the_page_is_written_without_what_a_run_needs(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(WHOLE), encoding="utf-8")
    command = ["report", "show", str(tmp_path / "report.json"), "-o", str(tmp_path / "page.html")]
    imported = imported_by(f"from llm_conformance.cli.main import main\nassert main({command}) == 0", ROOT)
    assert "conformance.test_shape" in imported
    assert not imported & (HEAVY | RUNS)
    assert (tmp_path / "page.html").is_file()


def test_a_run_without_generated_inputs_draws_nothing_and_does_not_import_hypothesis() -> None:
    options = ["--adapter=adapters", "--conformance-scenario=zai/content-begins-*", "--conformance-examples=0", "-q"]
    imported = imported_by(f"import pytest\nassert pytest.main(['conformance', *{options}]) == 0", ROOT)
    assert "llm_conformance.judging.cell_judge" in imported
    assert not imported & {"asyncio", "llm_conformance.calling.in_process"}
    drawing = ("llm_conformance.generate", "llm_conformance.themes", "llm_conformance.judging.search")
    assert not [name for name in imported if name.startswith((*drawing, "hypothesis"))]
