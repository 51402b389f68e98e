"""What the documents say is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from llm_conformance import cassette, schema
from llm_conformance.locations import RULES, SCHEMAS
from tests.test_broken import INVARIANTS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_every_schema_is_one() -> None:
    found = sorted(SCHEMAS.rglob("*.schema.json"))
    assert len(found) >= 10
    for path in found:
        document = json.loads(path.read_text("utf-8"))
        jsonschema.Draft202012Validator.check_schema(document)
        assert document["$id"] == path.relative_to(SCHEMAS).as_posix()


def test_the_readme_names_every_family() -> None:
    table = README.partition("## What is judged")[2].partition("##")[0]
    assert set(re.findall(r"`([A-Z]{3,4})`", table)) == {rule.family for rule in INVARIANTS}


def test_the_changelog_counts_the_invariants() -> None:
    assert f"by {len(INVARIANTS)} invariants" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_readme_lists_what_the_root_holds() -> None:
    for folder in re.findall(r"^    ([a-z_/]+)/  ", README.partition("## Where things are")[2], flags=re.M):
        assert (ROOT / folder).is_dir()


def test_a_report_keeps_its_schema(pytester: pytest.Pytester) -> None:
    adapter = README.split("```python\n")[1].split("```")[0]
    (pytester.path / "mypkg.py").write_text(adapter)
    report = pytester.path / "report.json"
    result = pytester.runpytest_subprocess(str(RULES), "--adapter=mypkg", f"--conformance-report={report}", "-q")
    document = json.loads(report.read_text("utf-8"))
    assert list(schema.problems("report", document)) == []
    assert document["complete"] is True
    assert {"pass", "fail", "unsupported", "vacuous"} == set(document["summary"])
    assert result.ret == 1


def test_the_example_of_the_scenario_guide_makes_a_cassette(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (ROOT / "docs" / "scenarios.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    exec(guide.split("```python\n")[1].split("```")[0], {})
    assert cassette.load(tmp_path / "hello.yaml").metadata["provenance"] == "synthetic"


def test_the_readmes_adapter_is_short() -> None:
    adapter = README.split("```python\n")[1].split("```")[0]
    assert len([line for line in adapter.splitlines() if line.strip()]) <= 30
