"""The matrix in the terminal: provider by family of invariants, one table an adapter, and the evidence behind it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from llm_conformance import __version__
from llm_conformance.adapter.under_test import AdapterUnderTest
from llm_conformance.judging.deviations import Deviation
from llm_conformance.judging.status import Status
from llm_conformance.reports.matrix import RED, Counts, brief, passed_and_judged
from llm_conformance.reports.result import Result
from llm_conformance.rules.catalogue import FAMILIES

_EVIDENCE = ("recorded", "transcribed", "edited", "synthetic", "generated")


def show(terminal: pytest.TerminalReporter, result: Result) -> None:
    """Write the matrix of every adapter and what it rests on."""
    terminal.section(f"llm-conformance {__version__}", sep="=")
    for adapter in result.adapters:
        _show_adapter(terminal, result, adapter)
    terminal.write_line("")
    total = result.tally.summary
    terminal.write_line("cells: " + ", ".join(f"{total[status]} {status}" for status in Status if total[status]))
    for why, count in sorted(result.tally.out_of_scope.items()):
        terminal.write_line(f"out of scope: {count} bare recordings: {why}")
    for problem in result.tally.bad_files:
        terminal.write_line(f"no cassette: {problem}", red=True)
    for line in _deviations(result):
        terminal.write_line(line, red=line.startswith("stale"))
    if not result.complete:
        terminal.write_line("PARTIAL: not all rules were applied to all scenarios; this is no verdict on the adapter.")


def _deviations(result: Result) -> Iterator[str]:
    listed = result.deviations.listed
    entries: dict[tuple[Path, int], list[Deviation]] = {}
    for at in sorted(result.stale):
        entries.setdefault((listed[at].path, listed[at].line), []).append(listed[at])
    for (path, line), (first, *others) in entries.items():
        more = f" and {len(others)} more" if others else ""
        yield f"stale: {path}:{line}: {first.rule} in {first.scenario}{more}: no cell fails there; take it out"
    unseen = len(listed) - len(result.stale | result.tally.borne_out)
    if unseen:
        yield f"deviations not seen in this run: {unseen} of {len(listed)}, of other adapters, versions or parts"


def _show_adapter(terminal: pytest.TerminalReporter, result: Result, adapter: AdapterUnderTest) -> None:
    by_cell: Mapping[tuple[str, str], Counts] = defaultdict(Counter)
    by_provenance: Mapping[str, Counts] = defaultdict(Counter)
    for (label, row, family, provenance, status), count in result.tally.counts.items():
        if label == adapter.label:
            by_cell[row, family][status] += count
            by_provenance[provenance][status] += count
    rows = sorted({row for row, _ in by_cell})
    families = [family for family in FAMILIES if any(family == column for _, column in by_cell)]
    terminal.write_line("")
    terminal.write_line(f"{adapter.label} {adapter.version or ''}".rstrip(), bold=True)
    if not rows:
        terminal.write_line(f"  nothing to judge: {_why_nothing(result, adapter)}")
    else:
        width = max(len(row) for row in rows) + 2
        terminal.write_line(" " * width + "".join(f"{family:>9}" for family in families))
    for row in rows:
        terminal.write(f"{row:<{width}}")
        for family in families:
            counts = by_cell.get((row, family), Counter())
            terminal.write(f"{brief(counts):>9}", **_colour(counts))
        terminal.write_line("")
    for evidence in _EVIDENCE:
        found = by_provenance.get(evidence)
        if found:
            passed, judged = passed_and_judged(found)
            known = f", {found[Status.EXPECTED]} fail as known" if found[Status.EXPECTED] else ""
            terminal.write_line(f"  {evidence}: {passed} of {judged} judged cells pass{known}")
    missed = result.not_covered[adapter.label] + result.tally.not_covered[adapter.label]
    if missed:
        total = result.scenarios + result.tally.recordings
        what = "scenarios and recordings" if result.tally.recordings else "scenarios"
        terminal.write_line(f"  not covered: {missed} of {total} {what}, of providers it does not list")


def _why_nothing(result: Result, adapter: AdapterUnderTest) -> str:
    if result.methods and set(result.methods).isdisjoint(adapter.methods):
        return f"it has no method {' or '.join(result.methods)}; it has {', '.join(sorted(adapter.methods))}"
    return f"it lists {', '.join(sorted(adapter.providers))}"


def _colour(counts: Counts) -> dict[str, bool]:
    passed, judged = passed_and_judged(counts)
    if any(counts[status] for status in RED):
        return {"red": True}
    if passed < judged or (not judged and counts[Status.UNSUPPORTED]):
        return {"yellow": True}
    return {"green": True} if passed else {}
