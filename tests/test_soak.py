"""`tools.soak` counts what it judges, goes on where it ended, and keeps what fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_conformance.pytest_plugin.generated_items import Property, properties
from llm_conformance.themes.theme import THEMES
from tests.shell import ROOT
from tools import soak


def two_properties(*given: Any) -> list[Property]:
    return [each for each in properties(*given) if each.theme.name == "usage"][:2]


def test_the_log_has_the_number_of_examples_and_a_later_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soak, "properties", two_properties)
    log = tmp_path / "log"
    options = ["--theme=usage", "--log", str(log)]
    assert soak.main([*options, "--examples=30"]) == 0
    first = soak.totals([log])["usage"]
    assert first >= 30
    assert f"usage           {first:>10,} examples, 0 searches with failures" in capsys.readouterr().out

    assert soak.main([*options, "--examples=30"]) == 0
    assert soak.totals([log])["usage"] == first
    soak.main([*options, f"--examples={first + 1}"])
    assert soak.totals([log])["usage"] > first


def test_what_fails_is_in_the_log_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        """\
class Adapter:
    providers = ["deepseek:chat"]

    def parse(self, http, call):
        raise KeyError("choices")

conformance_adapter = Adapter
""",
        "utf-8",
    )
    log, keep = tmp_path / "log", tmp_path / "kept"
    options = ["--theme=usage", "--examples=1", f"--adapter={adapter}", f"--keep={keep}", f"--log={log}"]
    assert soak.main(options) == 1
    assert soak.main(["--totals", str(log)]) == 1
    shown = capsys.readouterr().out
    assert "1 searches with failures" in shown
    assert "raised KeyError: 'choices'" in shown
    assert list(keep.rglob("*.scenario.yaml"))


def test_the_weekly_job_judges_every_theme() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "field.yml").read_text("utf-8"))
    assert workflow["jobs"]["soak"]["strategy"]["matrix"]["theme"] == [theme.name for theme in THEMES]
