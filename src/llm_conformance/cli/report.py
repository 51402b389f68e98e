"""`llm-conformance report`: reports joined, compared, or shown in another form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from llm_conformance.cli.command import Commands, Options, UsageError
from llm_conformance.judging.status import Status
from llm_conformance.reports import comparing, files, merging
from llm_conformance.reports.badge import NoBadgeError
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import verdict
from llm_conformance.yaml_files import BadFileError, FileProblem

_SHOWN = 50


def add_to(commands: Commands) -> None:
    """Describe the command and its parts."""
    parser = commands.add_parser("report", help="join, compare or show reports")
    parts = parser.add_subparsers(metavar="WHAT", required=True)

    def part(name: str, command: Callable[[Options, Sequence[str]], int], said: str) -> Commands:
        made = parts.add_parser(name, help=said.partition(";")[0], description=f"{said[0].upper()}{said[1:]}.")
        made.set_defaults(command=command, passes_on=False)
        return made

    merge_ = part("merge", merge, "join the reports of shards; those of different suites or adapters are refused")
    merge_.add_argument("reports", nargs="+", type=Path, metavar="REPORT.json")
    merge_.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help=", ".join(files.FORMS))
    compare_ = part("compare", compare, "say what got better and what got worse; exit code 1 if anything got worse")
    compare_.add_argument("before", type=Path, metavar="BEFORE.json")
    compare_.add_argument("after", type=Path, metavar="AFTER.json")
    show_ = part("show", show, "write reports in another form; a page shows several side by side")
    show_.add_argument("reports", nargs="+", type=Path, metavar="REPORT.json")
    show_.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help=".html, .md, .svg")


def merge(options: Options, _rest: Sequence[str]) -> int:
    """Write one report of all; return what the exit code of one run would have been."""
    try:
        merged = merging.merge(_read(options.reports))
    except merging.NotOfOneRunError as error:
        raise UsageError(str(error)) from error
    _write(options.output, merged)
    counts = merged["summary"]
    print(f"{options.output}: {verdict(merged)}; " + ", ".join(f"{count} {status}" for status, count in counts.items()))
    if merged["bare_recordings"]["bad_files"]:
        return 4
    if counts.get(Status.ERROR):
        return 3
    if counts.get(Status.FAIL) or counts.get(Status.STALE):
        return 1
    return 0 if counts.get(Status.PASS) or counts.get(Status.EXPECTED) else 5


def compare(options: Options, _rest: Sequence[str]) -> int:
    """Print what changed; return 1 if a cell got worse."""
    before, after = _read([options.before, options.after])
    for which, document in (("the first", before), ("the second", after)):
        if not document["complete"]:
            print(f"{which} report is of a part of the suite; what is not in it is not counted as worse")
    if before["suite"] != after["suite"]:
        print("the reports are of different suites: scenarios may be new, or have changed")
    whole = before["complete"] and after["complete"] and before["suite"] == after["suite"]
    changes = [each for each in comparing.compare(before, after) if whole or each.is_judged]
    worse = [each for each in changes if each.is_worse]
    better = [each for each in changes if each.is_better]
    for title, found in (("worse", worse), ("better", better)):
        print(f"{len(found)} cells got {title}")
        for each in found[:_SHOWN]:
            print(f"  {each}")
        if len(found) > _SHOWN:
            print(f"  and {len(found) - _SHOWN} more")
    return 1 if worse else 0


def show(options: Options, _rest: Sequence[str]) -> int:
    """Write reports as a page, a summary or a badge."""
    if options.output.suffix == ".json":
        raise UsageError(f"{options.output}: they are JSON already; to join shards: llm-conformance report merge")
    _write(options.output, *_read(options.reports))
    return 0


def _read(paths: Sequence[Path]) -> list[Document]:
    found: list[Document] = []
    problems: list[FileProblem] = []
    for path in paths:
        try:
            found.append(files.read(path))
        except BadFileError as bad:
            problems += bad.problems
    if problems:
        raise UsageError("\n".join(map(str, problems)))
    return found


def _write(path: Path, *documents: Document) -> None:
    if path.suffix not in files.FORMS:
        raise UsageError(f"{path}: the suffix has to be one of {', '.join(files.FORMS)}")
    try:
        files.write(path, *documents)
    except NoBadgeError as error:
        raise UsageError(f"{path}: not written, {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
