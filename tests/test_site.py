"""The documentation as a site: where links lead, what is made, and what a report has to prove."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Token

from llm_conformance.reports import files
from llm_conformance.rules.catalogue import catalogue
from tests.broken import BROKEN
from tests.test_reports import document, result
from tools.site import made, proof, providers, rules, staging
from tools.site.__main__ import main
from tools.site.run import Run, of_report

REPOSITORY = "https://github.com/OWNER/llm-conformance"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build as outside of a workflow."""
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)


@pytest.fixture(scope="module")
def run() -> Run:
    """Return a run in which one rule has passed in one scenario."""
    return of_report(document(result("openai/refusal", rule="MSG-2")))


@pytest.mark.parametrize(
    ("page", "link", "on_site"),
    [
        ("docs/gate.md", "adapters.md#the-call", "adapters.md#the-call"),
        ("docs/gate.md", "../conformance/test_usage.py", f"{REPOSITORY}/blob/main/conformance/test_usage.py"),
        ("docs/gate.md", "../conformance", f"{REPOSITORY}/tree/main/conformance"),
        ("docs/gate.md", "../CONTRIBUTING.md#the-map", "contributing.md#the-map"),
        ("docs/gate.md", "field.json", f"{REPOSITORY}/blob/main/docs/field.json"),
        ("docs/field/groq.md", "../rules/MSG-2.md", "../rules/MSG-2.md"),
        ("docs/field/groq.md", "repo:peers/groq/adapter.py", f"{REPOSITORY}/blob/main/peers/groq/adapter.py"),
        ("CONTRIBUTING.md", "docs/gate.md#tox", "gate.md#tox"),
        ("CONTRIBUTING.md", "README.md", f"{REPOSITORY}/blob/main/README.md"),
        ("docs/gate.md", "https://example.com/a.md", "https://example.com/a.md"),
        ("docs/gate.md", "#tox", "#tox"),
    ],
)
def test_a_link_leads_to_the_page_or_to_the_repository(page: str, link: str, on_site: str) -> None:
    assert staging.linked(f"see [it]({link}).", page, {}) == f"see [it]({on_site})."


def test_the_repository_is_the_one_of_the_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://git.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "us/suite")
    assert staging.repository_url() == "https://git.example/us/suite"


def test_a_link_to_a_file_that_is_not_there_is_an_error() -> None:
    with pytest.raises(staging.DeadLinkError, match=r"docs/gate\.md: it links conformance/nothing\.py"):
        staging.linked("[it](../conformance/nothing.py)", "docs/gate.md", {})


@pytest.fixture(scope="module")
def pages(run: Run) -> dict[str, str]:
    """Return the text of the pages that are made, by their paths."""
    return dict(made.pages(run))


@pytest.fixture(scope="module")
def source(pages: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the Markdown of all pages."""
    target = tmp_path_factory.mktemp("site") / "source"
    staging.stage(target, pages)
    return target


def test_all_pages_are_made_and_linked(pages: dict[str, str], source: Path) -> None:
    staged = {path.relative_to(source).as_posix() for path in source.rglob("*.md")}
    assert pages.keys() <= staged
    assert {f"rules/{rule}.md" for rule in catalogue()} <= staged
    assert {"providers/openai.md", "field/groq.md", "grounds.md", "contributing.md", "changes.md"} <= staged
    listed = {
        name
        for text in ((source / name).read_text("utf-8") for name in staged)
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, flags=re.M | re.S)
        for name in re.findall(r"^[\w./-]+$", block, flags=re.M)
    }
    left_out = {name for name in staged if name.removesuffix(".md").rpartition("/")[2] not in {*_last(listed), "index"}}
    assert left_out == set()
    rule = pages["rules/MSG-2.md"]
    assert "It judges 1 scenario: [`openai/refusal`](repo:cassettes/openai/refusal.scenario.yaml)" in rule
    for heading in ("An example that fails", "An example that passes", "Broken adapters", "Libraries that break it"):
        assert f"\n## {heading}\n" in rule
    provider = pages["providers/groq.md"]
    assert "* **Models**: `openai/gpt-oss-120b`; " in provider
    assert "* **Varies** in " in provider
    assert "| `stop` | stop |" in provider


def test_each_block_of_code_can_be_highlighted(source: Path) -> None:
    """Sphinx sees that only when it writes HTML, which `.ci/run` does not do."""
    blocks = [
        (path.name, language, code)
        for path in source.rglob("*.md")
        for language, code in re.findall(
            r"^ *```([\w-]+)\n(.*?)^ *```", path.read_text("utf-8"), re.MULTILINE | re.DOTALL
        )
    ]
    assert len(blocks) > 100
    for page, language, code in blocks:
        tokens = get_lexer_by_name(language).get_tokens(code)
        assert [text for kind, text in tokens if kind is Token.Error] == [], (page, code)


def test_many_scenarios_of_a_rule_are_folded_by_provider() -> None:
    found = [f"groq/a{number}" for number in range(9)] + [f"openai/b{number}" for number in range(4)]
    page = rules.pages(of_report(document(*(result(each, rule="MSG-2") for each in found))), {})["MSG-2"]
    assert "It judges 13 scenarios of 2 providers. It also judges generated inputs." in page
    folded = re.findall(r"^<details>\n<summary>(.+)</summary>\n\n(.+)\n\n</details>\n$", page, flags=re.M)
    assert [summary for summary, _ in folded] == ["groq: 9 scenarios", "openai: 4 scenarios"]
    assert [re.findall("`(.+?)`", links) for _, links in folded] == [found[:9], found[9:]]


def _last(names: set[str]) -> set[str]:
    return {name.rpartition("/")[2] for name in names}


def test_the_rules_that_judge_a_scenario_are_listed_by_family(run: Run) -> None:
    assert "| MSG 2 |" in providers.pages(run)["openai"]


def test_urls_on_the_pages_of_providers_are_links(run: Run) -> None:
    pages = providers.pages(run)
    assert "<https://docs.ollama.com/api/errors>)." in pages["ollama"]
    bare = re.compile(r"(?<!\]\()(?<![<`\w])https?://")
    assert [line for text in pages.values() for line in text.splitlines() if bare.search(line)] == []


def test_a_report_that_proves_too_little_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(proof.problems(run))
    assert "USE-1 passes nowhere in the report" in found
    assert not any(each.startswith("MSG-2") for each in found)
    assert list(proof.problems(of_report(document(result("openai/refusal", rule="SHP-1")))))[-1] == (
        "openai/refusal is judged by no rule but those that judge every response"
    )
    monkeypatch.setattr(proof, "BROKEN", tuple(each for each in BROKEN if each.fails[0] != "MSG-2"))
    assert "MSG-2 has no broken adapter of its own in tests/broken" in list(proof.problems(run))


def test_a_report_of_a_part_is_refused_with_the_command_for_a_whole_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    files.write(report, document(result("openai/refusal", rule="MSG-2"), probes="judge"))
    assert main([f"--report={report}", "--check"]) == 1
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{report}: the report does not prove what is listed below.")
    assert "USE-1 passes nowhere in the report" in others
    command = first.rpartition("whole one: ")[2]
    contributing = (staging.ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert set(command.split()) <= set(contributing.split())
