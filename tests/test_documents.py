"""The documents, schemas and examples agree with the code."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from llm_conformance import schema
from llm_conformance.adapter import declarations
from llm_conformance.contract import Call
from llm_conformance.corpus import manifest
from llm_conformance.judging.status import Status
from llm_conformance.locations import FORMATS, RULES, SCHEMAS
from llm_conformance.reports import files
from llm_conformance.rules import catalogue
from llm_conformance.rules.rule import HARMS
from llm_conformance.scenarios import cassette, load
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.providers import table
from tests import inline
from tests.test_broken import ALL_RULES
from tests.test_reports import document
from tools import proof, provider_page, requirements_page

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_every_schema_is_a_valid_schema_with_its_own_id() -> None:
    found = sorted(SCHEMAS.rglob("*.schema.json"))
    assert len(found) >= 10
    for path in found:
        document = json.loads(path.read_text("utf-8"))
        jsonschema.Draft202012Validator.check_schema(document)
        assert document["$id"] == path.relative_to(SCHEMAS).as_posix()
    for path in sorted(FORMATS.glob("*/schema.json")):
        document = json.loads(path.read_text("utf-8"))
        jsonschema.Draft202012Validator.check_schema(document)
        assert document["$id"] == f"wire/{path.parent.name}.schema.json"


def test_the_readme_names_every_family() -> None:
    table = README.partition("## What is judged")[2].partition("##")[0]
    assert set(re.findall(r"`([A-Z]{3,4})`", table)) == {rule.family for rule in ALL_RULES}


def test_the_page_of_verdicts_has_every_status_and_every_harm() -> None:
    page = (ROOT / "docs/verdicts.md").read_text("utf-8")
    first_columns = [line.partition("|")[2].partition("|")[0] for line in page.splitlines() if line.startswith("| `")]
    named = [name for column in first_columns for name in re.findall("`([^`]+)`", column)]
    assert named == [*HARMS, *(status.value for status in _BY_MEANING)]
    assert set(_BY_MEANING) == set(Status)
    rules_named = set(re.findall("`([A-Z]{3,4}-[0-9]+)`", page))
    assert rules_named <= {rule.id for rule in ALL_RULES}


_BY_MEANING = (
    *(Status.PASS, Status.FAIL, Status.BLOCKED, Status.VACUOUS, Status.UNSUPPORTED, Status.EXPECTED, Status.STALE),
    *(Status.NEW, Status.PROBE_PASSED, Status.PROBE_FAILED, Status.ERROR),
)


def test_the_changelog_counts_the_rules() -> None:
    assert f"by {len(ALL_RULES)} rules" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_readme_lists_folders_that_exist() -> None:
    for folder in re.findall(r"^    ([a-z_/]+)/  ", README.partition("## Where things are")[2], flags=re.M):
        assert (ROOT / folder).is_dir()


def test_a_report_matches_its_schema(pytester: pytest.Pytester) -> None:
    adapter = README.split("```python\n")[1].split("```")[0]
    (pytester.path / "readmes_adapter.py").write_text(adapter)
    report = pytester.path / "report.json"
    options = ("--conformance-examples=2", f"--conformance-report={report}", "-q")  # what is drawn does not matter here
    result = inline.run(pytester, str(RULES), "--adapter=readmes_adapter", *options)
    document = files.read(report)
    assert list(schema.problems("report", document)) == []
    assert document["complete"] is True
    of_probes = {"probe-passed", "probe-failed"}
    assert {"pass", "fail", "unsupported", "vacuous", "blocked"} == set(document["summary"]) - of_probes
    assert result.ret == 1


def test_the_example_in_the_scenario_guide_writes_a_cassette(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (ROOT / "docs" / "scenarios.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    exec(guide.split("```python\n")[1].split("```")[0], {})
    assert cassette.load(tmp_path / "hello.yaml").metadata["provenance"] == "synthetic"


def test_the_readmes_adapter_is_short() -> None:
    adapter = README.split("```python\n")[1].split("```")[0]
    assert len([line for line in adapter.splitlines() if line.strip()]) <= 30


def test_the_provider_page_is_generated_from_the_provider_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert provider_page.main(["--check", str(ROOT / "docs" / "providers.md")]) == 0
    page = tmp_path / "providers.md"
    assert provider_page.main([str(page)]) == 0
    assert "* **Models**: `openai/gpt-oss-120b`; " in page.read_text("utf-8")
    assert "* **Varies** in " in page.read_text("utf-8")
    page.write_text(page.read_text("utf-8").replace("| `stop` | stop |", "| `stop` | length |"), "utf-8")
    assert provider_page.main(["--check", str(page)]) == 1
    assert "is out of date; run: python -m tools.provider_page" in capsys.readouterr().out


def test_every_api_has_a_source_with_a_url() -> None:
    for api in table.table().values():
        assert any(source.startswith("https://") for source in api.sources), api


def test_the_readme_counts_the_scenarios(scenarios: list[Scenario]) -> None:
    counts = Counter(scenario.provenance for scenario in scenarios)
    stated = re.search(
        r"Of the (\d+)\sscenarios today (\d+) are recorded[^,]*,[^,]*, (\d+) is transcribed, (\d+) are edited", README
    )
    assert stated is not None
    actual = [counts.total(), *(counts[kind] for kind in ("recorded", "transcribed", "edited"))]
    assert [*map(int, stated.groups())] == actual, "the README states the first numbers; the second are the scenarios"
    grounds = Counter(scenario.grounds for scenario in scenarios)
    by_grounds = re.search(
        r"for (\d+) scenarios a recording \((\d+)\sof them can be printed with `corpus show`\), for (\d+) the types "
        r"of its SDK, for (\d+) its documentation,\sfor (\d+) somebody's report. The other (\d+) are\sprobes",
        README,
    )
    assert by_grounds is not None
    shown = sum("shown_by" in load.read(scenario.path).cassette.metadata for scenario in scenarios)
    assert [*map(int, by_grounds.groups())] == [
        grounds["recording"],
        shown,
        *(grounds[each] for each in ("sdk", "documentation", "report", "probe")),
    ]
    packages = manifest.packages()
    parts = [part for package in packages for part in package.parts]
    stated_corpus = re.search(r"(\d+) packages with ([\d,]+) recordings of (\d+) providers", README)
    assert stated_corpus is not None
    assert [int(each.replace(",", "")) for each in stated_corpus.groups()] == [
        len(packages),
        sum(part.count for part in parts),
        len({provider for part in parts for provider in part.providers}),
    ]
    named = re.findall(r",| and", README.partition("answers of ")[2].partition("[")[0])
    known = {provider for provider, _ in table.table()}
    assert f"[{len(known) - len(named)} more](docs/providers.md)" in README, (
        "the README must count the providers that it does not name"
    )


REQUIREMENTS = [row for rows in requirements_page.read(ROOT / "docs" / "requirements.toml").values() for row in rows]


def test_every_requirement_is_listed() -> None:
    numbers: dict[str, list[int]] = defaultdict(list)
    for row in REQUIREMENTS:
        seed, _, number = row.id.partition("-")
        numbers[seed].append(int(number))
    counts = {"S0": 51, "S1": 29, "S2": 39, "S3": 42, "S4": 32, "U": 7, "C": 20}  # as in the seed documents
    assert numbers == {seed: list(range(1, count + 1)) for seed, count in counts.items()}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (requirements_page.Requirement("S0-01", "x"), "name rules or tests"),
        (requirements_page.Requirement("S0-01", "x", rules=("MSG-1",), out="y"), "name rules or tests"),
        (requirements_page.Requirement("S0-01", "x", rules=("MSG-9",)), "MSG-9 passes nowhere"),
        (requirements_page.Requirement("S0-01", "x", rules=("MSG-1",), scenarios=("z/*",)), "passes in a scenario z/"),
        (requirements_page.Requirement("S0-01", "x", tests=("test_documents.py::test_nothing",)), "tests/ has no test"),
    ],
)
def test_a_requirement_without_a_test_is_reported(row: requirements_page.Requirement, problem: str) -> None:
    seen = requirements_page.passed(
        {"results": [{"rule": "MSG-1", "scenario": "a/b", "status": "pass", "provenance": "synthetic"}]}
    )
    assert problem in next(row.problems(seen, ROOT / "tests"))
    assert row.seen_in(seen) == (["a/b"] if row.out else [])


def test_every_source_of_a_rule_is_a_requirement() -> None:
    ids = {row.id for row in REQUIREMENTS}
    for entry in catalogue.catalogue().values():
        assert set(entry.sources) <= ids, entry.id


@pytest.mark.parametrize("page", [proof, requirements_page])
def test_a_page_is_not_made_from_a_report_with_probes_apart(tmp_path: Path, page: Any) -> None:
    report = tmp_path / "report.json"
    files.write(report, document(probes="apart"))
    with pytest.raises(SystemExit, match=r"report\.json: in this report probes are apart.*--conformance-probes=judge"):
        page.main([str(ROOT / "docs" / "requirements.md"), f"--report={report}"])


def test_the_page_on_adapters_names_every_field_of_the_call() -> None:
    page = (ROOT / "docs" / "adapters.md").read_text("utf-8")
    table = page.partition("## The call")[2].partition("A message has")[0]
    named = re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `")))
    assert sorted(named) == sorted(field.name for field in dataclasses.fields(Call))
    mapping = page.partition("errors = {")[2].partition("}")[0]
    adapter = type("Own", (), {"providers": ("openai",), "parse": print, "errors": ast.literal_eval(f"{{{mapping}}}")})
    assert len(declarations.describe("own", adapter()).errors) == 2


def test_the_gate_names_all_kinds_of_generated_inputs() -> None:
    page = (ROOT / "docs" / "gate.md").read_text("utf-8")
    assert [theme.name for theme in THEMES if f"`{theme.name}`" not in page] == []
