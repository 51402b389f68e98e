"""Merging, writing and showing reports."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import schema, secrets
from llm_conformance.adapter.declarations import CAPABILITIES
from llm_conformance.cli import main
from llm_conformance.reports import conversations, files, judged, merging
from llm_conformance.reports.findings import findings
from llm_conformance.reports.forms import markdown
from tests import inline, miniature

Document = dict[str, Any]


def result(scenario: str = "openai/one", status: str = "pass", **more: Any) -> Document:
    wrong = status in ("fail", "expected", "stale")
    return {
        "adapter": "mypkg",
        "rule": "MSG-2",
        "scenario": scenario,
        "provider": "openai",
        "api": "chat",
        "mode": "json",
        "method": "parse",
        "status": status,
        "message": "expected `a|b`; got <i>nothing</i>" if wrong else None,
        "provenance": "synthetic",
        "grounds": "documentation",
        **more,
    }


def document(*results: Document, capabilities: Collection[str] | None = None, **more: Any) -> Document:
    statuses = [each["status"] for each in results]
    adapter = {
        "spec": "mypkg",
        "name": "mypkg",
        "version": "1.0",
        "providers": ["openai"],
        "capabilities": list(CAPABILITIES if capabilities is None else capabilities),
        "not_covered": 1,
    }
    rows = conversations.counts(conversations.tally_of(results).conversations)
    made = {
        "suite": {
            "name": "llm-conformance",
            "version": "0.1.0",
            "scenarios_digest": f"sha256:{'0' * 64}",
            "scenarios": 2,
        },
        "adapters": [adapter],
        "judged": [judged.of_results(adapter, rows, results).to_dict()],
        "findings": [each.to_dict() for each in findings(results)],
        "conversations": rows,
        "results": list(results),
        "not_asked": [],
        "excluded_inputs": [],
        "exchanges": [],
        "counterexamples": [],
        "deviations": [],
        "summary": {status: statuses.count(status) for status in sorted(set(statuses))},
        "bare_recordings": {
            "seen": 0,
            "asked": {},
            "other_files": {},
            "cannot_be_asked": {},
            "out_of_scope": {},
            "not_covered": {},
            "not_covered_at": {},
            "bad_files": [],
        },
        "examples": 25,
        "effort": "quick",
        "items": {"planned": 2, "done": len(results), "restricted": False, "faults": 0},
        "edition": "0.1",
        "transport": "server",
        "probes": "apart",
        "finished": "2026-01-02T03:04:05Z",
        "complete": len(results) == 2,
        "partial": [] if len(results) == 2 else ["some test items were deselected"],
        **more,
    }
    assert list(schema.problems("report", made)) == []
    return made


def deviation(status: str, decides: bool = True) -> Document:
    fields = {"path": "known.toml", "line": 1, "rule": "MSG-2", "scenario": "openai/*", "reason": "a [reason]"}
    return {**fields, "link": "https://example.com/1", "status": status, "decides": decides}


ONE, TWO = document(result()), document(result("openai/two", "fail"))
WHOLE = document(result(), result("openai/two", "fail"))


def test_shards_merge_into_one_report() -> None:
    merged = merging.merge([ONE, TWO])
    assert merged == WHOLE
    assert merged["complete"] is True


def test_without_one_shard_the_report_is_partial() -> None:
    merged = merging.merge([ONE])
    assert (merged["complete"], merged["partial"]) == (False, ["only 1 of 2 test items were done"])
    assert "\nPartial: only 1 of 2 test items were done. So there is no verdict on the adapter.\n" in markdown.render(
        [merged]
    )
    restricted = document(result("openai/two"), items={"planned": 2, "done": 1, "restricted": True, "faults": 0})
    assert merging.merge([ONE, restricted])["complete"] is False


def test_results_known_without_a_test_may_be_in_every_shard() -> None:
    vacuous = result("openai/three", "vacuous")
    shards = [
        document(each, vacuous, items={"planned": 2, "done": 1, "restricted": False, "faults": 0})
        for each in (result(), result("openai/two"))
    ]
    assert merging.merge(shards)["summary"] == {"pass": 2, "vacuous": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"suite": {**ONE["suite"], "version": "0.2.0"}}, "report 1 and report 2 .* different versions of the suite"),
        ({"adapters": [{**ONE["adapters"][0], "version": "1.1"}]}, "different adapters, versions"),
        ({"effort": "ci"}, "numbers of generated examples differ"),
        ({"edition": "0.2"}, "judged by different editions of the suite"),
        ({"transport": "vcr"}, "replayed in different ways"),
        ({"items": {"planned": 3, "done": 1, "restricted": False, "faults": 0}}, "tests or known deviations differ"),
        ({"deviations": [deviation("not seen")]}, "tests or known deviations differ"),
        ({"results": ONE["results"]}, "they overlap: mypkg MSG-2 openai/one json parse is in two shards"),
    ],
)
def test_reports_of_different_runs_are_refused(change: Document, message: str) -> None:
    with pytest.raises(merging.NotOfOneRunError, match=message):
        merging.merge([ONE, {**TWO, **change}])


@pytest.mark.parametrize(
    ("statuses", "merged"), [(("not seen", "expected"), "expected"), (("not seen", "not seen"), "stale")]
)
def test_a_deviation_is_stale_if_it_applies_in_no_shard(statuses: tuple[str, str], merged: str) -> None:
    shards = [
        {**document(result(each["results"][0]["scenario"], deviation=0)), "deviations": [deviation(status)]}
        for each, status in zip((ONE, TWO), statuses, strict=True)
    ]
    whole = merging.merge(shards)
    assert whole["deviations"][0]["status"] == merged
    assert whole["summary"] == ({"pass": 2} if merged == "expected" else {"stale": 2})


def test_a_deviation_of_vacuous_cells_is_stale_after_merging() -> None:
    shards = [
        {
            **document(result(each["results"][0]["scenario"], "vacuous", deviation=0)),
            "deviations": [deviation("not seen")],
        }
        for each in (ONE, TWO)
    ]
    assert merging.merge(shards)["summary"] == {"stale": 1, "vacuous": 2}


def test_an_error_of_the_suite_is_counted_after_merging() -> None:
    faulty = {**TWO, "items": {"planned": 2, "done": 1, "restricted": False, "faults": 1}}
    assert merging.merge([ONE, faulty])["summary"] == {"error": 1, "fail": 1, "pass": 1}


def test_shards_may_come_from_different_directories() -> None:
    shards = [
        {**each, "deviations": [{**deviation("expected"), "path": f"/{n}/known.toml"}]}
        for n, each in enumerate((ONE, TWO))
    ]
    assert merging.merge(shards)["deviations"][0]["path"] == "/0/known.toml"


def test_a_deviation_that_a_search_may_find_again_is_not_stale() -> None:
    shards = [{**each, "deviations": [deviation("not seen", decides=False)]} for each in (ONE, TWO)]
    assert merging.merge(shards)["deviations"][0]["status"] == "not seen"


def put(path: Path, made: Document) -> str:
    path.write_text(json.dumps(made), "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["pass", "pass"], 0),
        (["pass", "fail"], 1),
        (["fail", "error"], 3),
        (["pass", "stale"], 1),
        (["vacuous"] * 2, 5),
    ],
)
def test_merge_ends_as_one_run_would(tmp_path: Path, statuses: list[str], code: int) -> None:
    shards = [
        put(tmp_path / f"{name}.json", document(result(f"openai/{name}", status)))
        for name, status in zip(("one", "two"), statuses, strict=True)
    ]
    assert main.main(["report", "merge", *shards, "-o", str(tmp_path / "whole.html")]) == code
    assert (tmp_path / "whole.html").is_file()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "bad.json:1: is not a JSON report: Expecting property name"),
        ("{}", "bad.json:1: the report: `suite` is missing"),
        (None, "bad.json:1: cannot be read: No such file"),
    ],
)
def test_a_file_that_is_not_a_report_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    if text is not None:
        (tmp_path / "bad.json").write_text(text)
    assert main.main(["report", "show", str(tmp_path / "bad.json"), "-o", str(tmp_path / "x.md")]) == 4
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x.md").exists()


def test_a_written_report_is_read_back_unchanged(tmp_path: Path) -> None:
    files.write(tmp_path / "r.json", WHOLE)
    assert files.read(tmp_path / "r.json") == WHOLE
    assert (tmp_path / "r.json").read_text("utf-8").count('"grounds"') == len(WHOLE["results"])


def test_a_file_has_one_entry_for_the_rules_of_a_cell_in_which_nothing_is_wrong(tmp_path: Path) -> None:
    vacuous = [{**result(status="vacuous"), "rule": rule, "message": "nothing to judge"} for rule in ("ANN-1", "ANN-2")]
    stale = {**result("openai/two"), "rule": "MSG-3", "deviation": 0}
    whole = document(result(), {**result(), "rule": "MSG-1"}, *vacuous, stale, result("openai/two", "fail"))
    files.write(tmp_path / "r.json", whole)
    listed = json.loads((tmp_path / "r.json").read_text("utf-8"))["results"]
    named = [each.get("rules") or each["rule"] for each in listed]
    assert named == [["MSG-2", "MSG-1"], ["ANN-1", "ANN-2"], "MSG-3", "MSG-2"]
    assert files.read(tmp_path / "r.json")["results"] == whole["results"]


def test_markdown_escapes_what_adapters_return() -> None:
    sometimes = {**deviation("expected"), "line": 7, "sometimes": True}
    text = markdown.render([{**WHOLE, "deviations": [deviation("stale"), sometimes]}])
    assert text.count("[known, seen in some runs: ") == 1
    assert "## mypkg 1.0: failing" in text
    assert r"| 1 | lost | MSG-2 | expected \`a\|b\`; got \<i\>nothing\</i\> | 1 | openai/two |" in text
    assert r"| MSG-2 | openai/\* | stale | [a \[reason\]](https://example.com/1) |" in text


def test_markdown_says_how_many_conversations_are_right_and_how_to_reproduce_a_finding() -> None:
    command = "llm-conformance run --adapter='a ```b'"
    raised = result("openai/two", "fail", cause="KeyError in a.py:1 f", traceback="Traceback", command=command)
    text = markdown.render([document(result(), raised, result("openai/two", "new", rule="MSG-1"))])
    assert "**Conversations right: 1 of 2 synthetic.**" in text
    assert "1 new failures, not counted: the run is pinned to edition 0.1." in text
    assert "| lost | MSG-2 | KeyError in a.py:1 f: expected " in text
    assert f"\n````sh\n{command}  # 1\n````\n" in text
    assert "| openai:chat | 1/2 | 1/2 |" in text


def test_markdown_keeps_the_advice_at_the_end_of_a_long_message() -> None:
    message = f"expected AuthenticationError; got HTTPStatusError: {'many ' * 80}words (map the class in `errors`)"
    text = markdown.render([document(result("openai/two", "fail", rule="ERR-1", message=message))])
    assert r"(map the class in \`errors\`) |" in text
    assert "many " * 40 not in text


def test_markdown_of_many_findings_is_short() -> None:
    text = markdown.render([document(*(result(f"openai/{n}", "fail", cause=str(n), command="run") for n in range(20)))])
    assert "### 20 findings" in text
    assert len(text.splitlines()) < 80


KEY = "sk-proj-" + "a1b2c3d4" * 4
HOSTILE = f"""\
class Odd:
    def __repr__(self): raise ValueError

deep = []
for _ in range(500): deep = [deep]
TEXT = "key:\\n{KEY} \\x7f \\udc80 write to\\nfoo@bar.com </script><img src=x>"

class conformance_adapter:
    providers = {{'deepseek'}}
    def parse(self, http, call):
        extras = {{'deep': deep, 'odd': Odd(), 'nan': float('nan')}}
        return {{'message': TEXT, 'id': TEXT, 'model': TEXT, 'extras': extras}}
    def parse_stream(self, chunks, call): raise ValueError(TEXT)
"""


@pytest.mark.parametrize("processes", inline.WORKERS)
def test_a_report_of_odd_values_is_written_without_secrets(
    pytester: pytest.Pytester, processes: tuple[str, ...]
) -> None:
    pytester.makepyfile(hostile=HOSTILE)
    names = ("r.html", "r.md")
    options = ("--conformance-examples=0", "--conformance-write-deviations=d.toml", *processes)
    reports = (f"--conformance-report={name}" for name in names)
    result, report = miniature.run(pytester, "--adapter=hostile", *options, *reports)
    assert result.ret == 1
    told = json.dumps(report)
    assert "[an API key]" in told
    assert "[an e-mail address]" in told
    assert "nested too deep" in told
    for text in (told, *((pytester.path / name).read_text("utf-8") for name in (*names, "d.toml"))):
        assert KEY not in text
        assert "foo@bar" not in text
    assert "<img" not in (pytester.path / "r.html").read_text("utf-8")
    assert "<img" not in (pytester.path / "r.md").read_text("utf-8").replace(r"\<img", "")
    tomllib.loads((pytester.path / "d.toml").read_text("utf-8"))


def test_the_search_for_secrets_is_linear() -> None:
    for text in ("a-" * 200_000, "sk-" * 200_000, "eyJ-" * 100_000, "a." * 200_000 + "@"):
        assert secrets.hide(text) == text
