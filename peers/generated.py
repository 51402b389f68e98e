"""`python -m peers.generated DIR`: the table of docs/generated.md, made from reports on generated inputs.

    llm-conformance run --adapter=NAME --examples=quick -k generated --write-deviations=NEW.toml --report=DIR/NAME.json
    python -m peers.generated DIR [--write]

DIR has a report for each library, made without its known deviations, because a run with them reports only one of
several known causes. This program applies the deviations, so a change of deviations needs no new run.
`--write-deviations` saves the time that a run spends on making examples smaller.

Each row has the number of judged conversations, and the number of findings by the judgement of the entry that names
them. Below the rows are the findings that no entry names, and the parts of entries that name nothing in these runs.
`--write` puts the rows into docs/generated.md. Rows of libraries without a report stay as they are there. So do the
findings of shims and of the suite: they are counted by hand, because they are mended once they are known.

Exits with 1 if a finding has no entry, or a part of an entry names nothing.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from llm_conformance.adapter.libraries import Library, libraries, unknown
from llm_conformance.judging.causes import cause_of, each_fault
from llm_conformance.judging.deviations import GENERATED, Deviations
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.status import QUIET, Status
from llm_conformance.reports import files
from llm_conformance.reports.document import Document
from llm_conformance.reports.grouping import one_by_one
from peers import known
from peers.environments import ROOT

PAGE = ROOT / "docs" / "generated.md"

_HEAD = """\
| library | conversations | findings | library | by design, arguable | shim | suite | without an entry |
|---|---:|---:|---:|---:|---:|---:|---:|
"""
_TABLE = re.compile(rf"{re.escape(_HEAD)}((?:\|.*\n)*)")
_OF_A_FAILURE = ("message", "cause", "example", "command", "traceback", "think_profile", "missed", "other_failures")


@dataclass(frozen=True)
class Row:
    """A library in the table.

    Attributes:
        faults: How many findings are faults of the library.
        others: How many findings are by design or arguable.
        shim: How many findings were faults of its shim, and have been mended.
        suite: How many findings were faults of the suite, and have been mended.
        without_entry: How many findings nobody has judged.
    """

    library: str
    conversations: int
    faults: int
    others: int
    shim: int
    suite: int
    without_entry: int

    @property
    def findings(self) -> int:
        """The number of findings, including those that have been mended."""
        return self.faults + self.others + self.shim + self.suite + self.without_entry

    @classmethod
    def read(cls, line: str) -> Row:
        """Return the row of a line of the table.

        Raises ValueError if the line is not a row or its findings do not add up.
        """
        library, *cells = (each.strip() for each in line.strip().strip("|").split("|"))
        conversations, findings, *counts = map(int, cells)
        row = cls(library, conversations, *counts)
        if row.findings != findings:
            raise ValueError(f"{library}: {findings} findings, but the columns add up to {row.findings}")
        return row

    def __str__(self) -> str:
        """Return the row as a line of the table."""
        counts = (self.conversations, self.findings, self.faults, self.others, self.shim, self.suite)
        return f"| {self.library} | {' | '.join(map(str, (*counts, self.without_entry)))} |\n"


@dataclass(frozen=True)
class Judged:
    """What a report says about a library.

    Attributes:
        without_entry: The findings that no entry names, a line each.
        stale: The parts to remove from entries, because they name no failure.
    """

    conversations: int
    faults: int
    others: int
    without_entry: tuple[str, ...]
    stale: tuple[str, ...]

    def row(self, library: str, before: Row | None) -> Row:
        """Return the row of the library. The numbers of mended findings come from the row `before`."""
        mended = (before.shim, before.suite) if before else (0, 0)
        return Row(library, self.conversations, self.faults, self.others, *mended, len(self.without_entry))


def judged(library: Library, report: Document) -> Judged:
    """Apply the known deviations of a library to a report on generated inputs.

    Raises ValueError if the report is of another kind, and BadFileError if the deviations cannot be read.
    """
    if report["deviations"]:
        why = "made with known deviations, so it does not have all causes; CONTRIBUTING.md has the command"
        raise ValueError(f"{library.name}.json: {why}")
    deviations = known.deviations_of(library, report, has_recordings=False)
    deviations = replace(deviations, effort=Effort.named(report["effort"]))
    results = [each for each in _each_cause(report) if f"/{GENERATED}-" in each["scenario"]]
    applied = known.applied({**report, "results": results}, deviations)
    found = applied["findings"]
    kinds = [_judgements(each, applied) for each in found if each["status"] == Status.EXPECTED]
    return Judged(
        conversations=len({(each["scenario"], each["mode"]) for each in results if _is_judged(each)}),
        faults=sum("fault" in each for each in kinds),
        others=sum("fault" not in each for each in kinds),
        without_entry=tuple(_line(each) for each in found if each["status"] == Status.FAIL),
        stale=tuple(_stale(deviations, applied["results"])),
    )


def _each_cause(report: Document) -> Iterator[Document]:
    """Yield the results, and one more for each further cause that a search has found.

    Other entries may name that cause.
    """
    for each in one_by_one(report)["results"]:
        yield {name: value for name, value in each.items() if name != "other_failures"}
        shared = {name: value for name, value in each.items() if name not in _OF_A_FAILURE}
        yield from ({**shared, **further} for further in each.get("other_failures", ()))


def _is_judged(result: Document) -> bool:
    return result["status"] in {Status.PASS, Status.FAIL, Status.EXPECTED, Status.ERROR}


def _judgements(finding: Document, applied: Document) -> Collection[str]:
    """Return the judgements of the failures of a finding. The first entry that names a failure judges it."""
    return {
        str(applied["deviations"][each["deviation"]]["judgement"])
        for each in applied["results"]
        if each["status"] == Status.EXPECTED
        and any(cause_of(fault).text == finding["cause"] for fault in each_fault(each))
        and (each["rule"] == finding["rule"] or each.get("traceback"))
    }


def _line(finding: Document) -> str:
    scenarios = ", ".join(dict.fromkeys(each["scenario"] for each in finding["examples"]))
    return f"{finding['rule']} in {scenarios} ({', '.join(finding['methods'])}): {finding['cause']}"


def _stale(deviations: Deviations, results: Sequence[Document]) -> Iterator[str]:
    """Yield the parts of entries that name no failure, if generated inputs alone decide about the part."""
    alive = {at for at, each in enumerate(deviations.listed) if GENERATED not in each.scenario}
    for each in results:
        if each["status"] not in QUIET and each.get("deviation") is not None:
            alive |= {each["deviation"], *each.get("further_deviations", ())}
    yield from deviations.stale_entries(set(deviations.stale(alive)))


def read(page: str) -> Mapping[str, Row]:
    """Return the rows of the page by library. Raises ValueError if it has no table."""
    found = _TABLE.search(page)
    if found is None:
        raise ValueError(f"{PAGE.name}: there is no table that begins with {_HEAD.splitlines()[0]!r}")
    rows = map(Row.read, found[1].splitlines())
    return {row.library: row for row in rows}


def written(page: str, rows: Mapping[str, Row]) -> str:
    """Return the page with other rows."""
    lines = "".join(str(rows[name]) for name in sorted(rows))
    return _TABLE.sub(lambda _: _HEAD + lines, page)


def main(arguments: Sequence[str]) -> int:
    """Print the rows and what a person has to look at, or write the rows. Return the exit code."""
    parser = argparse.ArgumentParser("python -m peers.generated", description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=Path, metavar="DIR", help="the reports, NAME.json")
    parser.add_argument("--write", action="store_true", help="put the rows into docs/generated.md")
    options = parser.parse_args(arguments)
    reports = {path.stem: path for path in sorted(options.directory.glob("*.json"))}
    if wrong := [name for name in reports if name not in libraries()]:
        parser.error("; ".join(map(unknown, wrong)))
    page = PAGE.read_text("utf-8")
    before = read(page)
    found = {name: judged(libraries()[name], files.read(path)) for name, path in reports.items()}
    rows = {name: each.row(name, before.get(name)) for name, each in found.items()}
    print(_HEAD + "".join(map(str, rows.values())))
    for name, each in found.items():
        for title, lines in (("without an entry", each.without_entry), ("stale", each.stale)):
            print("".join(f"{name}: {title}: {line}\n" for line in lines), end="")
    if options.write:
        PAGE.write_text(written(page, {**before, **rows}), "utf-8")
    return 1 if any(each.without_entry or each.stale for each in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
