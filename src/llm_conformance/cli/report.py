"""`llm-conformance report`: merge, compare or convert reports, and write their examples as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.judging.status import exit_code
from llm_conformance.reports import comparing, counterexamples, files, merging
from llm_conformance.reports.document import Document
from llm_conformance.reports.findings import Finding
from llm_conformance.reports.forms.badge import NoBadgeError
from llm_conformance.reports.matrix import verdict
from llm_conformance.server.reports import comparing as server_comparing
from llm_conformance.server.reports import files as server_files
from llm_conformance.wording import command_line, counted, printable
from llm_conformance.yaml_files import BadFileError, FileProblem

_SHOWN = 50
_MESSAGE = 100


def add_options(parser: Parser) -> None:
    """Describe the command and its verbs."""
    parser.description = "Merge, compare or convert JSON reports, or write the examples that they have."
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

    def verb(name: str, help: str) -> Parser:
        added: Parser = verbs.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
        return added

    merge = verb("merge", "merge the reports of the shards of one run, or of parts of a server")
    merge.add_argument("reports", nargs="+", type=Path, metavar="REPORT.json")
    merge.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help=", ".join(files.FORMS))
    compare = verb(
        "compare",
        "list the findings that are new or gone, and the cells that got better or worse; exit code 1 if one got worse",
    )
    compare.add_argument("before", type=Path, metavar="BEFORE.json")
    compare.add_argument("after", type=Path, metavar="AFTER.json")
    examples = verb(
        "examples",
        "write the generated inputs that fail as scenario files, which run without the report; list their commands",
    )
    examples.add_argument("report", type=Path, metavar="REPORT.json")
    examples.add_argument("-o", "--output", required=True, type=Path, metavar="DIR", help="a directory, made if needed")
    show = verb(
        "show",
        "write reports as a page, a summary or a badge, also those on servers; a page can show several",
    )
    show.add_argument("reports", nargs="+", type=Path, metavar="REPORT.json")
    show.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help=".html, .md or .svg")


def run(options: Options) -> int:
    """Run the verb; return its exit code."""
    return {"merge": _merge, "compare": _compare, "examples": _examples, "show": _show}[options.verb](options)


def _merge(options: Options) -> int:
    """Write one report of all shards; return the exit code that a single run would have had.

    | code | meaning |
    |---|---|
    | 0 | nothing fails |
    | 1 | a cell fails, a known deviation is stale, or cells are blocked and no failure says why |
    | 3 | an error of the suite itself |
    | 4 | a cassette could not be read |
    | 5 | nothing was judged |
    """
    documents, of_servers = _of_one_kind(options.reports, "merged")
    try:
        merged = _merged_of_servers(documents) if of_servers else merging.merge(documents)
    except merging.NotOfOneRunError as error:
        raise UsageError(str(error)) from error
    _write(options.output, merged, write=server_files.write if of_servers else files.write)
    counts = merged["summary"]
    print(f"{options.output}: {verdict(merged)}; " + ", ".join(f"{count} {status}" for status, count in counts.items()))
    if not of_servers and merged["bare_recordings"]["bad_files"]:
        return 4
    return exit_code(counts)


def _merged_of_servers(documents: list[Document]) -> Document:
    from llm_conformance.server.reports import merging as of_servers  # slow: it loads what a run on a server needs

    return of_servers.merge(documents)


def _compare(options: Options) -> int:
    """Print the changes; return 1 if a cell got worse."""
    paths = (options.before, options.after)
    (before, after), of_servers = _of_one_kind(paths, "compared")
    try:
        (server_comparing if of_servers else comparing).check_comparable(before, after)
    except comparing.NotComparableError as error:
        raise UsageError(str(error)) from error
    for path, document in zip(paths, (before, after), strict=True):
        if not document["complete"]:
            print(f"{path} is a partial report; cells that it does not have are not compared")
    if before["suite"] != after["suite"]:
        added = "rules" if of_servers else "scenarios"
        print(f"the reports are of different versions of the suite; {added} may have been added or changed")
    return _compare_servers(before, after) if of_servers else _compare_adapters(before, after)


def _compare_adapters(before: Document, after: Document) -> int:
    if comparing.explores(before):
        print(_EXPLORED.format(effort=before["effort"]))
    complete = before["complete"] and after["complete"] and before["suite"] == after["suite"]
    new, gone = comparing.compare_findings(before, after, complete)
    _print_list(f"{counted(len(new), 'new finding')}", map(_in_one_line, new))
    _print_list(f"{counted(len(gone), 'finding')} gone", map(_in_one_line, gone))
    changes = [each for each in comparing.compare(before, after) if complete or each.is_judged]
    worse = [each for each in changes if each.is_worse]
    better = [each for each in changes if each.is_better]
    for title, found in (("worse", worse), ("better", better)):
        _print_list(f"{counted(len(found), 'cell')} got {title}", map(str, found))
    by_chance = [each for each in changes if each.by_chance]
    if by_chance:
        _print_list(f"{counted(len(by_chance), 'cell')} with other inputs in each run", map(str, by_chance))
    return 1 if worse else 0


def _compare_servers(before: Document, after: Document) -> int:
    for name in ("url", "model"):
        if before["server"][name] != after["server"][name]:
            print(f"the {name} differs: {printable(before['server'][name])} and {printable(after['server'][name])}")
    found = server_comparing.compare(before, after)
    _print_list(f"{counted(len(found.new), 'new finding')}", map(_of_server_in_one_line, found.new))
    _print_list(f"{counted(len(found.gone), 'finding')} gone", map(_of_server_in_one_line, found.gone))
    _print_list(f"{counted(len(found.worse), 'cell')} got worse", map(str, found.worse))
    _print_list(f"{counted(len(found.better), 'cell')} got better", map(str, found.better))
    if found.one_sided:
        title = f"{counted(len(found.one_sided), 'failing cell')} that only one of the runs could judge"
        _print_list(title, map(str, found.one_sided))
    return 1 if found.worse else 0


def _of_server_in_one_line(finding: Mapping[str, Any]) -> str:
    where = f"{counted(len(finding['failures']), 'answer')}, such as {' '.join(finding['failures'][0])}"
    return f"{finding['harm']}: {finding['rule']} in {where}: {' '.join(finding['message'].split())}"


_EXPLORED = """\
--examples={effort} draws other inputs in every run: a failure that only one report has need not be new in the adapter.
To find out, write the inputs that fail with `llm-conformance report examples`, and run both versions with them."""


def _in_one_line(finding: Finding) -> str:
    message = " ".join(finding.message.split())
    where = f"{counted(finding.conversations, 'conversation')}, such as {finding.examples[0]['scenario']}"
    return f"{finding.harm}: {finding.rule} in {where}: {message}"


def _print_list(title: str, lines: Iterable[str]) -> None:
    """Print a title and the first lines, indented."""
    listed = list(lines)
    print(title)
    for line in listed[:_SHOWN]:
        print(f"  {printable(line)}")
    if len(listed) > _SHOWN:
        print(f"  and {len(listed) - _SHOWN} more")


def _show(options: Options) -> int:
    """Write the reports in the form of the output's suffix."""
    if options.output.suffix == ".json":
        raise UsageError(f"{options.output}: reports are JSON already; to merge shards: llm-conformance report merge")
    documents, of_servers = _of_one_kind(options.reports, "shown together")
    _write(options.output, *documents, write=server_files.write if of_servers else files.write)
    return 0


def _of_one_kind(paths: Iterable[Path], done: str) -> tuple[list[Document], bool]:
    """Return (reports, whether they are about servers). Raises UsageError if only some are."""
    documents = _each(paths, _of_any_kind)
    of_servers = {server_files.is_report(each) for each in documents}
    if len(of_servers) > 1:
        raise UsageError(f"reports on servers and reports on adapters cannot be {done}")
    return documents, True in of_servers


def _of_any_kind(path: Path) -> Document:
    """Read a report, on adapters or on a server. Raises BadFileError."""
    document = files.loaded(path)
    check = server_files.checked if server_files.is_report(document) else files.of_adapters
    return check(path, document)


def _examples(options: Options) -> int:
    """Write the examples of a report; print for each the results that it explains and the command that runs it."""
    (document,) = _each([options.report], _of_adapters)
    specs = {each["name"]: each["spec"] for each in document["adapters"]}
    try:
        written = list(counterexamples.write(document, options.output))
    except (counterexamples.BadExamplesError, OSError) as error:
        raise UsageError(str(error)) from error
    for id, results in written:
        print(id)
        for (adapter, method), failed in _by_callee(results).items():
            command = ["llm-conformance", "run", f"--cassettes={options.output}", f"--adapter={specs[adapter]}"]
            command += [f"--transport={document['transport']}"] * (document["transport"] != "server")
            first, *others = failed
            also = f" (also {', '.join(each['rule'] for each in others)})" if others else ""
            print(f"  {first['rule']}{also}: {' '.join(first['message'].split())[:_MESSAGE]}")
            print(f"  {command_line([*command, f'--scenario={id}', f'--method={method}'])}")
    print(f"{counted(len(written), 'example')} in {options.output}")
    if missing := counterexamples.left_out(document):
        print(f"{counted(missing, 'example')} not in the report: too large")
    return 0


def _by_callee(results: Iterable[Document]) -> dict[tuple[str, str], list[Document]]:
    """Return the results by adapter and method."""
    found: dict[tuple[str, str], list[Document]] = {}
    for each in results:
        found.setdefault((each["adapter"], each["method"]), []).append(each)
    return found


def _of_adapters(path: Path) -> Document:
    """Read a report on adapters. Raises BadFileError."""
    document = files.loaded(path)
    if server_files.is_report(document):
        raise BadFileError(FileProblem(path, 1, "is a report on a server, which has no generated inputs"))
    return files.of_adapters(path, document)


def _each(paths: Iterable[Path], read: Callable[[Path], Document]) -> list[Document]:
    """Read files. Raises UsageError with the problems of all of them."""
    found = []
    problems: list[FileProblem] = []
    for path in paths:
        try:
            found.append(read(path))
        except BadFileError as bad:
            problems += bad.problems
    if problems:
        raise UsageError("\n".join(map(str, problems)))
    return found


def _write(path: Path, *documents: Document, write: Callable[..., None] = files.write) -> None:
    if path.suffix not in files.FORMS:
        raise UsageError(f"{path}: the suffix must be one of {', '.join(files.FORMS)}")
    try:
        write(path, *documents)
    except NoBadgeError as error:
        raise UsageError(f"{path}: not written: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
