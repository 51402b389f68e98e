"""The summary in the terminal: for each adapter a matrix of APIs and rule families, and counts by provenance."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

import pytest

from llm_conformance import __version__
from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.judging.status import PROBES, Status
from llm_conformance.reports.matrix import RED, Counts, brief, passed_and_judged
from llm_conformance.reports.result import Result
from llm_conformance.rules.catalogue import FAMILIES
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import counted, did_you_mean

_MOST_PLACES = 5
_PROVENANCES = ("recorded", "transcribed", "edited", "synthetic", "generated")


def show(terminal: pytest.TerminalReporter, result: Result) -> None:
    """Write the summary of a run."""
    terminal.section(f"llm-conformance {__version__}, edition {result.edition}", sep="=")
    for adapter in result.adapters:
        _show_adapter(terminal, result, adapter)
    terminal.write_line("")
    total = result.tally.summary
    terminal.write_line("cells: " + ", ".join(f"{total[status]} {status}" for status in Status if total[status]))
    for why, count in sorted(result.tally.out_of_scope.items()):
        terminal.write_line(f"out of scope: {counted(count, 'bare recording')}: {why}")
    for problem in result.tally.bad_files:
        terminal.write_line(f"cannot be read: {problem}", red=True)
    for line in _new(result):
        terminal.write_line(line, yellow=True)
    for line in _deviations(result):
        terminal.write_line(line, red=line.startswith("stale"))
    if not result.complete:
        terminal.write_line(
            "PARTIAL: not all rules were applied to all scenarios; this run does not show that the adapter conforms."
        )


def _new(result: Result) -> Iterator[str]:
    """Yield what fails, but is newer than the edition to which the run is pinned."""
    by_rule: dict[tuple[str, str], list[str]] = {}
    for each in result.tally.verdicts:
        if each.status == Status.NEW:
            by_rule.setdefault((each.adapter, each.rule), []).append(each.scenario)
    if by_rule:
        count = sum(map(len, by_rule.values()))
        yield f"{count} new failure{'s' * (count != 1)}, not counted: the run is pinned to edition {result.edition}"
    for (adapter, rule), (first, *others) in by_rule.items():
        yield f"  {adapter}: {rule} in {first}" + (f" and {len(others)} more" if others else "")


def _deviations(result: Result) -> Iterator[str]:
    yield from (f"stale: {line}" for line in result.deviations.stale_entries(result.stale))
    yield from result.deviations.unused(result.stale | result.tally.borne_out, result.tally.undecided)


def _show_adapter(terminal: pytest.TerminalReporter, result: Result, adapter: AdapterUnderTest) -> None:
    by_cell: Mapping[tuple[str, str], Counts] = defaultdict(Counter)
    by_provenance: Mapping[str, Counts] = defaultdict(Counter)
    for (label, api, family, provenance, status), count in result.tally.counts.items():
        if label == adapter.label:
            by_cell[api, family][status] += count
            by_provenance[provenance][status] += count
    apis = sorted({api for api, _ in by_cell})
    families = [family for family in FAMILIES if any(family == column for _, column in by_cell)]
    terminal.write_line("")
    terminal.write_line(f"{adapter.label} {adapter.version or ''}".rstrip(), bold=True)
    if not apis:
        terminal.write_line(f"  nothing to judge: {_why_nothing(result, adapter)}")
    else:
        width = max(len(api) for api in apis) + 2
        terminal.write_line(" " * width + "".join(f"{family:>9}" for family in families))
    for api in apis:
        terminal.write(f"{api:<{width}}")
        for family in families:
            counts = by_cell.get((api, family), Counter())
            terminal.write(f"{brief(counts):>9}", **_colour(counts))
        terminal.write_line("")
    for provenance in _PROVENANCES:
        found = by_provenance.get(provenance)
        if found:
            passed, judged = passed_and_judged(found)
            known = f", {found[Status.EXPECTED]} fail as expected" if found[Status.EXPECTED] else ""
            terminal.write_line(f"  {provenance}: {passed} of {judged} judged cells pass{known}")
    probes = sum((found for found in by_provenance.values()), Counter())
    if judged := sum(probes[each] for each in PROBES):
        passed = probes[Status.PROBE_PASSED]
        terminal.write_line(f"  probes: {passed} of {judged} judged cells pass; no provider is known to send them")
    places: Counter[str] = result.tally.not_covered.get(adapter.label, Counter())
    missed = result.not_covered[adapter.label] + places.total()
    if missed:
        total = result.scenarios + result.tally.recordings
        what = "scenarios and recordings" if result.tally.recordings else "scenarios"
        terminal.write_line(f"  not covered: {missed} of {total} {what}, of providers that the adapter does not list")
    for place, count in places.most_common(_MOST_PLACES):
        terminal.write_line(f"    {counted(count, 'recording')} of {place}")
    if len(places) > _MOST_PLACES:
        terminal.write_line(f"    and {len(places) - _MOST_PLACES} more places; the JSON report has them")


def _why_nothing(result: Result, adapter: AdapterUnderTest) -> str:
    if result.methods and set(result.methods).isdisjoint(adapter.methods):
        return f"the adapter has no method {' or '.join(result.methods)}; it has {', '.join(sorted(adapter.methods))}"
    known = {name for api in table().values() for name in (api.provider, str(api))}
    hints = (did_you_mean(each, known) for each in sorted(adapter.providers - known))
    return f"the adapter lists only {', '.join(sorted(adapter.providers))}{next(filter(None, hints), '')}"


def _colour(counts: Counts) -> dict[str, bool]:
    passed, judged = passed_and_judged(counts)
    if any(counts[status] for status in RED):
        return {"red": True}
    if passed < judged or (not judged and counts[Status.UNSUPPORTED]):
        return {"yellow": True}
    return {"green": True} if passed else {}
