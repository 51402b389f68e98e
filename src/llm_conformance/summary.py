"""The matrix in the terminal: provider by family of invariants, one table an adapter, and the evidence behind it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import pytest

from llm_conformance import __version__
from llm_conformance.judgement import Status
from llm_conformance.report import Result
from llm_conformance.subject import Subject

FAMILIES = ("SHP", "MSG", "RSN", "ANN", "USE", "STR", "ATT", "TOOL", "FIN", "RPL", "ERR", "PRV")
_RED = (Status.FAIL, Status.STALE, Status.ERROR)
_GREEN = (Status.PASS, Status.EXPECTED)
_EVIDENCE = ("recorded", "transcribed", "edited", "synthetic", "generated")

Counts = Counter[str]


def show(terminal: pytest.TerminalReporter, result: Result) -> None:
    """Write the matrix of every adapter and what it rests on."""
    terminal.section(f"llm-conformance {__version__}", sep="=")
    for subject in result.subjects:
        _show_adapter(terminal, result, subject)
    terminal.write_line("")
    total = result.tally.summary
    terminal.write_line("cells: " + ", ".join(f"{total[status]} {status}" for status in Status if total[status]))
    for why, count in sorted(result.tally.out_of_scope.items()):
        terminal.write_line(f"out of scope: {count} bare recordings: {why}")
    for problem in result.tally.bad_files:
        terminal.write_line(f"no cassette: {problem}", red=True)
    if not result.complete:
        terminal.write_line("PARTIAL: not all rules were applied to all scenarios; this is no verdict on the adapter.")


def _show_adapter(terminal: pytest.TerminalReporter, result: Result, subject: Subject) -> None:
    by_cell: Mapping[tuple[str, str], Counts] = defaultdict(Counter)
    by_evidence: Mapping[str, Counts] = defaultdict(Counter)
    for (adapter, row, family, evidence, status), count in result.tally.counts.items():
        if adapter == subject.label:
            by_cell[row, family][status] += count
            by_evidence[evidence][status] += count
    rows = sorted({row for row, _ in by_cell})
    families = [family for family in FAMILIES if any(family == column for _, column in by_cell)]
    terminal.write_line("")
    terminal.write_line(f"{subject.label} {subject.version or ''}".rstrip(), bold=True)
    if not rows:
        terminal.write_line(f"  nothing to judge: {_why_nothing(result, subject)}")
    else:
        width = max(len(row) for row in rows) + 2
        terminal.write_line(" " * width + "".join(f"{family:>9}" for family in families))
    for row in rows:
        terminal.write(f"{row:<{width}}")
        for family in families:
            text, colour = _cell(by_cell.get((row, family), Counter()))
            terminal.write(f"{text:>9}", **colour)
        terminal.write_line("")
    for evidence in _EVIDENCE:
        counts = by_evidence.get(evidence)
        if counts:
            judged = sum(counts[status] for status in _GREEN + _RED)
            passed = sum(counts[status] for status in _GREEN)
            terminal.write_line(f"  {evidence}: {passed} of {judged} judged cells pass")
    missed = result.tally.not_covered[subject.label]
    if missed:
        total = result.scenarios + result.tally.recordings
        what = "scenarios and recordings" if result.tally.recordings else "scenarios"
        terminal.write_line(f"  not covered: {missed} of {total} {what}, of providers it does not list")


def _why_nothing(result: Result, subject: Subject) -> str:
    if result.faces and set(result.faces).isdisjoint(subject.faces):
        return f"it has no method {' or '.join(result.faces)}; it has {', '.join(sorted(subject.faces))}"
    return f"it lists {', '.join(sorted(subject.providers))}"


def _cell(counts: Counts) -> tuple[str, dict[str, bool]]:
    """Return what a cell says: `passed/judged`, or why nothing was judged, and its colour."""
    red = sum(counts[status] for status in _RED)
    green = sum(counts[status] for status in _GREEN)
    if red:
        return f"{green}/{green + red}", {"red": True}
    if green:
        return str(green), {"green": True}
    if counts[Status.UNSUPPORTED]:
        return "unsup.", {"yellow": True}
    return "vacuous" if counts[Status.VACUOUS] else "-", {}
