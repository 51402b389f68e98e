"""The documents, schemas and examples agree with the code."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import jsonschema
import pytest

from llm_conformance import schema
from llm_conformance.adapter import declarations
from llm_conformance.adapter.libraries import libraries
from llm_conformance.contract import Call
from llm_conformance.corpus import manifest
from llm_conformance.judging.status import Status
from llm_conformance.locations import FORMATS, RULES, SCHEMAS
from llm_conformance.reports import files
from llm_conformance.rules import catalogue
from llm_conformance.rules.rule import HARM_MEANINGS, HARMS
from llm_conformance.scenarios import cassette, load
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.providers import table
from peers import changes
from tests import inline
from tests.test_broken import ALL_RULES
from tests.test_reports import document
from tools.site import requirements
from tools.site.run import passed, read_run

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
START = (ROOT / "docs" / "start.md").read_text("utf-8")
TRUST = (ROOT / "docs" / "trust.md").read_text("utf-8")
VERDICTS = (ROOT / "docs" / "verdicts.md").read_text("utf-8")


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


def test_the_page_of_verdicts_names_every_family_and_its_question() -> None:
    table = VERDICTS.partition("## The families of rules")[2].partition("##")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, flags=re.M)) == dict(catalogue.FAMILY_QUESTIONS)


def test_the_readme_is_short_and_counts_the_rules() -> None:
    assert len(README.splitlines()) < 120
    assert f"{len(ALL_RULES)} named rules" in README


def test_every_file_that_the_readme_links_exists() -> None:
    linked = re.findall(r"\]\((?!https://)([^)#]+)", README)
    assert len(linked) > 15
    assert [each for each in linked if not (ROOT / each).exists()] == []


def test_the_findings_in_the_readme_are_published_faults_that_a_program_shows() -> None:
    section = README.partition("## What it finds")[2].partition("\n## ")[0]
    found = re.findall(r"\]\((https://[^)]+)\), \[program\]\(peers/([\w-]+)/(reports/[^)]+)\)", section)
    assert len(found) == section.count("\n* ") == 3
    published = changes.read()
    for link, library, program in found:
        (fault,) = (each for each in published[library]["findings"] if each["link"] == link)
        assert (fault["judgement"], fault["reproduction"]) == ("fault", program)
        assert f" {published[library]['version']} " in section
        assert (ROOT / "peers" / library / program).is_file()


def test_the_output_in_the_readme_is_of_the_release_that_was_judged() -> None:
    output = README.partition("$ llm-conformance run litellm")[2].partition("```")[0]
    known = tomllib.loads((ROOT / "peers/litellm/deviations.toml").read_text("utf-8"))["deviation"]
    reasons = {" ".join(entry["reason"].split()) for entry in known}
    assert f"litellm {changes.read()['litellm']['version']} against the known findings of the same release" in output
    written = changes.read()["litellm"]["standing"]["written"]
    assert f"\n  without a fault: {written['right']} of {written['of']} conversations (" in output
    assert f" of {len(reasons)}, the worst first\n" in output
    harms = re.findall(r"^    (\w.+) \((.+)\):$", output, re.MULTILINE)
    assert len(harms) == 2
    assert {(HARM_MEANINGS[harm], harm) for _, harm in harms} == set(harms)
    shown = re.findall(r"^      \* ([^*]+?) \((?:[a-z ]+, )?\d+ conversations?\)$", output, re.MULTILINE)
    assert len(shown) == output.count("      * ") == 2
    assert {" ".join(each.split()) for each in shown} <= reasons
    assert "`llm-conformance run --adapter=litellm` shows" in output
    assert f"the {len(libraries())} libraries" in README


def test_the_commands_for_a_clone_are_the_first_shell_blocks_of_the_readme() -> None:
    """`.ci/run` takes them from there."""
    judge, test = (block.partition("\n```")[0] for block in README.split("```sh\n")[1:])
    assert judge.endswith("&& .venv/bin/pytest conformance --adapter=adapters -n auto")
    assert test.endswith("&& .venv/bin/pytest -n auto")
    assert README[: README.index(test)].count("\n") < 50


def test_the_page_of_verdicts_has_every_status_and_every_harm() -> None:
    first_columns = [
        line.partition("|")[2].partition("|")[0] for line in VERDICTS.splitlines() if line.startswith("| `")
    ]
    named = [name for column in first_columns for name in re.findall("`([^`]+)`", column)]
    assert named == [*HARMS, *catalogue.FAMILY_QUESTIONS, *(status.value for status in _BY_MEANING)]
    assert set(_BY_MEANING) == set(Status)
    rules_named = set(re.findall("`([A-Z]{3,4}-[0-9]+)`", VERDICTS))
    assert rules_named <= {rule.id for rule in ALL_RULES}


_BY_MEANING = (
    *(Status.PASS, Status.FAIL, Status.BLOCKED, Status.VACUOUS, Status.UNSUPPORTED, Status.EXPECTED, Status.STALE),
    *(Status.NEW, Status.PROBE_PASSED, Status.PROBE_FAILED, Status.ERROR),
)


def test_the_changelog_counts_the_rules() -> None:
    assert f"by {len(ALL_RULES)} rules" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_a_report_matches_its_schema(pytester: pytest.Pytester) -> None:
    adapter = START.split("```python\n")[1].split("```")[0]
    (pytester.path / "starting_adapter.py").write_text(adapter)
    report = pytester.path / "report.json"
    options = ("--conformance-examples=2", f"--conformance-report={report}", "-q")  # what is drawn does not matter here
    result = inline.run(pytester, str(RULES), "--adapter=starting_adapter", *options)
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


def test_the_adapter_to_start_with_is_short() -> None:
    adapter = START.split("```python\n")[1].split("```")[0]
    assert len([line for line in adapter.splitlines() if line.strip()]) <= 30


def test_every_api_has_a_source_with_a_url() -> None:
    for api in table.table().values():
        assert any(source.startswith("https://") for source in api.sources), api


def test_the_page_on_trust_counts_the_scenarios(scenarios: list[Scenario]) -> None:
    counts = Counter(scenario.provenance for scenario in scenarios)
    stated = re.search(
        r"There are (\d+) scenarios today: (\d+) are recorded[^,]*,[^,]*, (\d+) is transcribed, (\d+) are edited", TRUST
    )
    assert stated is not None
    actual = [counts.total(), *(counts[kind] for kind in ("recorded", "transcribed", "edited"))]
    assert [*map(int, stated.groups())] == actual, "the page states the first numbers; the second are the scenarios"
    grounds = Counter(scenario.grounds for scenario in scenarios)
    by_grounds = re.search(
        r"The evidence is a\srecording for (\d+) scenarios, the types of the provider's SDK for (\d+), the provider's "
        r"documentation for (\d+), and somebody's report for (\d+).\sThe other (\d+) are probes",
        TRUST,
    )
    assert by_grounds is not None
    assert [*map(int, by_grounds.groups())] == [
        grounds[each] for each in ("recording", "sdk", "documentation", "report", "probe")
    ]
    by_corpus = re.search(r"For (\d+) scenarios, `corpus show` prints the recording", TRUST)
    assert by_corpus is not None
    assert int(by_corpus[1]) == sum("shown_by" in load.read(each.path).cassette.metadata for each in scenarios)
    packages = manifest.packages()
    parts = [part for package in packages for part in package.parts]
    stated_corpus = re.search(r"(\d+) packages with ([\d,]+) recordings of (\d+) providers", TRUST)
    assert stated_corpus is not None
    assert [int(each.replace(",", "")) for each in stated_corpus.groups()] == [
        len(packages),
        sum(part.count for part in parts),
        len({provider for part in parts for provider in part.providers}),
    ]
    known = {provider for provider, _ in table.table()}
    for text in (README, (ROOT / "docs" / "index.md").read_text("utf-8")):
        (others,) = re.findall(r"OpenAI, Claude, Gemini and \[?(\d+) other", " ".join(text.split()))
        assert int(others) + 3 == len(known)


REQUIREMENTS = [row for rows in requirements.read(requirements.REQUIREMENTS).values() for row in rows]


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
        (requirements.Requirement("S0-01", "x"), "name rules or tests"),
        (requirements.Requirement("S0-01", "x", rules=("MSG-1",), out="y"), "name rules or tests"),
        (requirements.Requirement("S0-01", "x", rules=("MSG-9",)), "MSG-9 passes nowhere"),
        (requirements.Requirement("S0-01", "x", rules=("MSG-1",), scenarios=("z/*",)), "passes in a scenario z/"),
        (requirements.Requirement("S0-01", "x", tests=("test_documents.py::test_nothing",)), "tests/ has no test"),
    ],
)
def test_a_requirement_without_a_test_is_reported(row: requirements.Requirement, problem: str) -> None:
    seen = passed({"results": [{"rule": "MSG-1", "scenario": "a/b", "status": "pass", "provenance": "synthetic"}]})
    assert problem in next(row.problems(seen, ROOT / "tests"))
    assert row.seen_in(seen) == (["a/b"] if row.out else [])


def test_every_source_of_a_rule_is_a_requirement() -> None:
    ids = {row.id for row in REQUIREMENTS}
    for entry in catalogue.catalogue().values():
        assert set(entry.sources) <= ids, entry.id


def test_no_page_is_made_from_a_report_with_probes_apart(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    files.write(report, document(probes="apart"))
    with pytest.raises(SystemExit, match=r"report\.json: in this report probes are apart.*--conformance-probes=judge"):
        read_run(report)


def test_the_page_on_adapters_names_every_field_of_the_call() -> None:
    page = (ROOT / "docs" / "adapters.md").read_text("utf-8")
    table = page.partition("## The call")[2].partition("A message has")[0]
    named = re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `")))
    assert sorted(named) == sorted(field.name for field in dataclasses.fields(Call))
    mapping = page.partition("errors = {")[2].partition("}")[0]
    adapter = type("Own", (), {"providers": ("openai",), "parse": print, "errors": ast.literal_eval(f"{{{mapping}}}")})
    assert len(declarations.describe("own", adapter()).errors) == 2


def test_the_page_on_generated_inputs_names_all_kinds_of_generated_inputs() -> None:
    page = (ROOT / "docs" / "generated.md").read_text("utf-8")
    assert [theme.name for theme in THEMES if f"`{theme.name}`" not in page] == []
