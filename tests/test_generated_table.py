"""The table of what generated inputs find in libraries is made from reports and known deviations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llm_conformance.adapter.libraries import Library, libraries
from llm_conformance.reports import files
from llm_conformance.rules.exchange import UNMAPPED
from peers import generated
from peers.generated import Row
from tests.test_reports import document, result

ANSWERS, SILENT = "openai/generated-chat-answers", "openai/generated-chat-silent"
KNOWN = f"""
examples = "quick"

[[deviation]]
rule = "MSG-2"
scenario = "{ANSWERS}"
message = "lost"
reason = "the last character is lost"
link = "https://example.com/mypkg/issues/1"

[[deviation]]
rule = ["MSG-2", "STR-1"]
scenario = ["{ANSWERS}", "openai/answer-empty"]
message = "white space"
reason = "white space is stripped"
link = "https://example.com/mypkg/issues/2"
judgement = "by design"
argument = "it is not shown"

[[deviation]]
rule = "ERR-3"
scenario = "{SILENT}"
reason = "a timeout is no error of the library"
link = "https://example.com/mypkg/issues/3"
"""


@pytest.fixture
def library(tmp_path: Path) -> Library:
    folder = tmp_path / "mypkg"
    folder.mkdir()
    (folder / "deviations.toml").write_text(KNOWN, "utf-8")
    return Library(folder)


def drawn(scenario: str = ANSWERS, cause: str | None = None, *others: str, **more: Any) -> dict[str, Any]:
    """Return a result of a search: a pass without a cause."""
    status = "fail" if cause else "pass"
    told = {"message": cause, "cause": cause} if cause else {}
    further = [{"message": each, "cause": each, "example": {"id": each, "body": each}} for each in others]
    seen = {"example": {"id": cause, "body": cause}, "other_failures": further} if cause else {}
    return result(scenario, status, provenance="generated", grounds=None, **{**told, **seen, **more})


def test_each_cause_of_a_search_counts_for_the_entry_that_names_it(library: Library) -> None:
    report = document(drawn(ANSWERS, "it is lost", "white space is gone", "twice"), drawn(SILENT), effort="quick")
    found = generated.judged(library, report)

    assert (found.conversations, found.faults, found.others) == (2, 1, 1)
    assert found.without_entry == (f"MSG-2 in {ANSWERS} (parse): twice",)


def test_errors_of_a_package_that_are_not_mapped_are_one_fault(library: Library) -> None:
    def unmapped(name: str) -> dict[str, Any]:
        told = {"message": f"got {name}: gone ({UNMAPPED})", "traceback": f"{name}: gone"}
        return drawn(SILENT, f"httpx.{name} in a.py:1 f", rule="ERR-3", **told)

    report = document(unmapped("ReadTimeout"), unmapped("ConnectTimeout"), effort="quick")
    found = generated.judged(library, report)

    assert (found.faults, found.others, found.without_entry) == (1, 0, ())


def test_a_row_keeps_what_has_been_mended_and_counts_it(library: Library) -> None:
    found = generated.judged(library, document(drawn(ANSWERS, "it is lost", "twice"), effort="quick"))

    assert str(found.row("mypkg", Row("mypkg", 9, 9, 9, 2, 1, 0))) == "| mypkg | 1 | 5 | 1 | 0 | 2 | 1 | 1 |\n"
    assert found.row("mypkg", None).findings == 2


def test_what_names_nothing_is_stale_but_not_what_recorded_scenarios_may_have(library: Library) -> None:
    report = document(drawn(ANSWERS, "it is lost"), drawn(SILENT), effort="quick")
    first, second = generated.judged(library, report).stale

    assert f"remove {ANSWERS} from `scenario`" in first  # its message and rules may be those of openai/answer-empty
    assert f"remove the entry (ERR-3 in {SILENT})" in second


def test_an_entry_whose_call_was_blocked_is_not_stale(library: Library) -> None:
    blocked = {**drawn(SILENT), "rule": "ERR-3", "status": "blocked", "message": "the call failed"}
    report = document(drawn(ANSWERS, "it is lost", "white space is gone"), blocked, effort="quick")

    assert generated.judged(library, report).stale == ()


def test_a_report_that_knows_failures_is_refused(library: Library) -> None:
    report = {**document(drawn()), "deviations": [{"reason": "known"}]}
    with pytest.raises(ValueError, match=r"mypkg\.json: made with known deviations"):
        generated.judged(library, report)


def test_the_page_has_a_row_of_each_library_and_every_finding_was_judged() -> None:
    page = generated.PAGE.read_text("utf-8")
    rows = generated.read(page)
    _, found, names = page.partition("\nNot run yet: ")

    assert sorted([*rows, *(names.partition(".\n")[0].split(", ") if found else ())]) == sorted(libraries())
    assert list(rows) == sorted(rows)
    assert [row.library for row in rows.values() if row.without_entry] == []
    assert generated.written(page, rows) == page


def test_the_command_writes_the_rows_that_it_has_reports_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    before = {"another": Row("another", 4, 1, 1, 1, 0, 0), "mypkg": Row("mypkg", 9, 9, 9, 2, 1, 0)}
    empty = generated.written(generated.PAGE.read_text("utf-8"), {})
    page.write_text(generated.written(empty, before), "utf-8")
    monkeypatch.setattr(generated, "PAGE", page)
    monkeypatch.setattr(generated, "libraries", lambda: {"mypkg": library})
    files.write(tmp_path / "mypkg.json", document(drawn(ANSWERS, "it is lost", "twice"), effort="quick"))

    assert generated.main([str(tmp_path), "--write"]) == 1
    assert f"mypkg: without an entry: MSG-2 in {ANSWERS} (parse): twice" in capsys.readouterr().out
    assert generated.read(page.read_text("utf-8")) == {**before, "mypkg": Row("mypkg", 1, 1, 0, 2, 1, 1)}


def test_a_row_whose_findings_do_not_add_up_is_refused() -> None:
    with pytest.raises(ValueError, match="mypkg: 4 findings, but the columns add up to 3"):
        Row.read("| mypkg | 9 | 4 | 1 | 1 | 1 | 0 | 0 |")
