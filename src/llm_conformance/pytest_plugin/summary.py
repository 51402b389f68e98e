"""The summary in the terminal: the findings of each adapter, and its matrix of right and judged conversations."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator

import pytest

from llm_conformance import __version__, secrets
from llm_conformance.adapter import unknown_providers
from llm_conformance.adapter.declarations import AdapterUnderTest, without_methods
from llm_conformance.compare import encodable
from llm_conformance.judging.effort import CI
from llm_conformance.judging.status import PROBES, Status, exit_code
from llm_conformance.options import as_typed
from llm_conformance.pytest_plugin import finding_text
from llm_conformance.reports import conversations
from llm_conformance.reports.findings import Finding, findings
from llm_conformance.reports.judged import of_run
from llm_conformance.reports.matrix import Matrix, Right
from llm_conformance.reports.result import Result
from llm_conformance.wording import counted, listed, printable

_MOST_PLACES = 5
_LONGEST_REASON = 200
_IN_FULL = 5
_NARROWEST, _USUAL, _WIDEST = 80, 100, 120


def show(terminal: pytest.TerminalReporter, result: Result, is_green: bool) -> None:
    """Write the summary of a run. `is_green` says whether the run ends with exit code 0."""
    terminal.section(f"llm-conformance {__version__}, edition {result.edition}", sep="=")
    found = findings(each.to_dict() for each in result.tally.verdicts if each.status == Status.FAIL)
    rows = conversations.counts(result.tally.conversations)
    for number, adapter in enumerate(result.adapters):
        if number:
            terminal.write_line("")
        own = [each for each in found if each.adapter == adapter.label]
        _show_adapter(terminal, result, adapter, own, Matrix(rows, adapter.label))
    total = result.tally.summary
    terminal.write_line("cells: " + ", ".join(f"{total[status]} {status}" for status in Status if total[status]))
    for why, count in sorted(result.tally.out_of_scope.items()):
        terminal.write_line(f"out of scope: {count} bare recordings: {why}")
    for why, count in sorted(result.tally.other_files.items()):
        terminal.write_line(f"no recordings: {counted(count, 'file')}: {why}")
    for problem in result.tally.bad_files:
        terminal.write_line(f"cannot be read: {problem}", red=True)
    if busy := sorted(result.tally.too_busy):
        calls = f"{counted(len(busy), 'call')}, the first for {' '.join(busy[0])}"
        terminal.write_line(f"NOT JUDGED, as this machine is too busy: {calls}", red=True)
    for line in _outside(result):
        terminal.write_line(line, yellow=True)
    for line in _new(result):
        terminal.write_line(line, yellow=True)
    for line in _deviations(result):
        terminal.write_line(line, red=line.startswith("stale"))
    if not result.complete:
        terminal.write_line(f"PARTIAL: {'; '.join(result.partial)}")
    elif is_green:
        terminal.write_line(f"OK: {_why_green(result)}", green=True)
    if not is_green and (reasons := list(_why_red(result, len(found)))):
        terminal.write_line(f"FAILED: {'; '.join(reasons)}", red=True)


def _why_green(result: Result) -> str:
    """Return the verdict on adapters without a failure that counts."""
    total, borne_out = result.tally.summary, result.tally.borne_out
    if not total[Status.EXPECTED]:
        return f"no failure but those newer than edition {result.edition}" if total[Status.NEW] else "no failure"
    known = sum(not borne_out.isdisjoint(positions) for positions in result.deviations.by_entry.values())
    return f"no failure that is not known; {counted(known, 'known deviation')}"


def _why_red(result: Result, found: int) -> Iterator[str]:
    """Yield the reasons of a run that is not green, as far as the summary knows them."""
    total = result.tally.summary
    if total[Status.ERROR]:
        yield "the suite itself failed"
    if found:
        yield counted(found, "finding")
    if stale := len(list(result.deviations.stale_entries(result.stale))):
        yield f"{counted(stale, 'known deviation')} to remove, because nothing fails there"
    if not total[Status.FAIL] and not total[Status.STALE] and exit_code(total) == 1:
        yield f"{counted(total[Status.BLOCKED], 'cell')} not judged, and no failure says why"


def _outside(result: Result) -> Iterator[str]:
    """Yield the connections outside of calls, which no rule judges."""
    if outside := result.tally.outside:
        yield f"outside of calls, {counted(outside.total(), 'connection')} of adapters refused:"
    for place, count in outside.most_common(_MOST_PLACES):
        yield f"    {count} to {secrets.hide(place)}"


def _new(result: Result) -> Iterator[str]:
    """Yield the failures in rules and scenarios that are newer than the edition of the run."""
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


def _show_adapter(
    terminal: pytest.TerminalReporter,
    result: Result,
    adapter: AdapterUnderTest,
    found: list[Finding],
    matrix: Matrix,
) -> None:
    name = f"{adapter.label} {adapter.version or ''}".rstrip()
    count = f": {counted(len(found), 'finding')}" if found else ""
    terminal.write_line(f"{name}{count}", bold=True)
    stopped = list(_not_asked(result, adapter))
    for line in stopped:
        terminal.write_line(line, red=True)
    nothing_works = bool(stopped) and matrix.written.right + matrix.generated.right == 0
    if found:
        _show_findings(terminal, found, matrix, in_full=1 if nothing_works else _IN_FULL)
    if matrix.apis and not nothing_works:
        _show_matrix(terminal, matrix)
    elif _lacks_methods(result, adapter) or not any(label == adapter.label for label, *_ in result.tally.counts):
        terminal.write_line(f"  nothing to judge: {_why_nothing(result, adapter)}")
    for line in _notes(result, adapter, matrix):
        terminal.write_line(line)


def _not_asked(result: Result, adapter: AdapterUnderTest) -> Iterator[str]:
    """Yield two lines for each reason why calls were no longer made."""
    by_cause: dict[str, list[tuple[str, str, set[tuple[str, str]]]]] = {}
    for (label, api, method, cause), missed in sorted(result.tally.not_asked.items()):
        if label == adapter.label:
            by_cause.setdefault(cause, []).append((api, method, missed))
    for cause, places in by_cause.items():
        apis = sorted({api for api, _, _ in places})
        methods = ", ".join(sorted({method for _, method, _ in places}))
        where = apis[0] if len(apis) == 1 else f"{len(apis)} APIs"
        count = len(set().union(*(missed for _, _, missed in places)))
        yield f"STOPPED: every call of {methods} for {where} died alike; {count} conversations were not asked"
        yield f"  {cause}"


def _show_findings(terminal: pytest.TerminalReporter, found: list[Finding], matrix: Matrix, in_full: int) -> None:
    width = min(max(shutil.get_terminal_size((_USUAL, 0)).columns, _NARROWEST), _WIDEST)
    all_of_them = terminal.config.getoption("verbose") > 0
    in_full = len(found) if all_of_them else in_full
    for number, each in enumerate(found[:in_full], start=1):
        judged = matrix.of_judged(each.provenance)
        head, *lines = finding_text.in_full(each, number, judged, matrix.apis, width, whole=all_of_them)
        terminal.write_line(head, bold=True, red=True)
        for line in lines:
            terminal.write_line(line)
    for number, each in enumerate(found[in_full:], start=in_full + 1):
        terminal.write_line(finding_text.in_one_line(each, number, matrix.of_judged(each.provenance), width))
    everything = f"-v shows or {as_typed('report')}=FILE.md writes everything about each finding"
    terminal.write_line(f"{everything}; `llm-conformance explain {found[0].rule}` explains a rule")
    terminal.write_line("")


def _show_matrix(terminal: pytest.TerminalReporter, matrix: Matrix) -> None:
    columns, rows = matrix.columns, list(matrix.rows.items())
    title = "conversations right"
    first = max(map(len, (title, *matrix.apis)))
    widths = [max(len(name), *(len(str(fields[at])) for _, fields in rows)) + 2 for at, name in enumerate(columns)]
    names = "".join(f"{name:>{width}}" for name, width in zip(columns, widths, strict=True))
    terminal.write_line(f"{title:<{first}}{names}")
    for api, fields in rows:
        terminal.write(f"{api:<{first}}")
        for field, width in zip(fields, widths, strict=True):
            terminal.write(f"{field!s:>{width}}", **_colour(field))
        terminal.write_line("")


def _notes(result: Result, adapter: AdapterUnderTest, matrix: Matrix) -> Iterator[str]:
    """Yield the counts by provenance, and what was not judged."""
    if matrix.apis:
        counts = (f"{each.right} of {each.judged} {name}" for name, each in matrix.by_provenance.items())
        yield f"right: {', '.join(counts)}"
        yield f"judged: {of_run(adapter, matrix, result.methods).reach}"
        if matrix.generated.judged:
            yield f"generated inputs: {as_typed('examples')}={result.effort}, {_more_inputs(result)}"
    for name, hint in unknown_providers.hints(adapter).items():
        yield f"not judged: {printable(name)}: {unknown_providers.message(hint)}"
    for capability, methods in without_methods(adapter).items():
        yield f"not judged: the capability {capability}, because the adapter has no method {listed(methods)}"
    mine = [(key[-1], count) for key, count in result.tally.counts.items() if key[0] == adapter.label]
    if known := sum(count for status, count in mine if status == Status.EXPECTED):
        yield f"known deviations: {known} cells fail as expected; the matrix counts them as wrong, by design or not"
    excluded: Counter[str] = Counter()
    for (label, _, way), count in result.tally.excluded.items():
        excluded[way] += count if label == adapter.label else 0
    for way, count in (+excluded).items():
        yield f"excluded: {counted(count, 'input')} with {way}: {adapter.excluded_inputs[way]}"
    for way in sorted(adapter.excluded_inputs.keys() - excluded.keys()) if result.complete else ():
        yield f"excluded: nothing, because no input of this run has {way}"
    if judged := sum(count for status, count in mine if status in PROBES):
        passed = sum(count for status, count in mine if status == Status.PROBE_PASSED)
        yield f"probes: {passed} of {judged} judged cells pass; no provider is known to send them"
    yield from _asked(result, adapter)
    places: Counter[str] = result.tally.not_covered.get(adapter.label, Counter())
    missed = result.not_covered[adapter.label] + places.total()
    if missed and set(matrix.by_provenance) != {"generated"}:  # not for a run of only generated inputs
        total = result.scenarios + result.tally.recordings
        what = "scenarios and recordings" if result.tally.recordings else "scenarios"
        yield f"not covered: {missed} of {total} {what}, of APIs that the adapter does not list"
    for place, count in places.most_common(_MOST_PLACES):
        yield f"    {counted(count, 'recording')} of {place}"
    if len(places) > _MOST_PLACES:
        yield f"    and {len(places) - _MOST_PLACES} more places; the JSON report has them"


def _more_inputs(result: Result) -> str:
    """Return how many inputs the effort of a run means, and which effort finds more."""
    count = f"{counted(result.examples, 'input')} of each kind or fewer"
    return f"{count}; gates draw {CI} ({as_typed('examples')}=ci)" if result.examples < CI else count


def _asked(result: Result, adapter: AdapterUnderTest) -> Iterator[str]:
    """Yield for how many bare recordings the adapter was called, and why it could not be called for the others."""
    asked, reasons = result.tally.asked[adapter.label], result.tally.cannot_be_asked.get(adapter.label, Counter())
    if asked or reasons:
        yield f"asked for {asked} of {asked + reasons.total()} recordings without a scenario"
    for reason, count in reasons.most_common():
        yield f"    {counted(count, 'recording')} cannot be asked for: {_short(reason)}"


def _short(reason: str) -> str:
    line = encodable(secrets.hide(" ".join(reason.split())))
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]} ..."


def _lacks_methods(result: Result, adapter: AdapterUnderTest) -> bool:
    """Return True if the adapter has none of the methods to which the run is restricted."""
    return bool(result.methods) and set(result.methods).isdisjoint(adapter.methods)


def _why_nothing(result: Result, adapter: AdapterUnderTest) -> str:
    if _lacks_methods(result, adapter):
        return f"the adapter has no method {' or '.join(result.methods)}; it has {', '.join(sorted(adapter.methods))}"
    return f"the adapter lists only {', '.join(sorted(adapter.providers))}"


def _colour(field: Right) -> dict[str, bool]:
    if not field.judged:
        return {}
    return {"green": True} if field.right == field.judged else {"red": True}
