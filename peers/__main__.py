"""`python -m peers`: judge published libraries, each in its own environment, and generate docs/field.md.

    python -m peers [NAME ...] [--work DIR] [--page FILE.html]

Exits with 1 if a
library cannot be installed or its failures differ from its deviations.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.adapter.libraries import Library, libraries
from llm_conformance.reports import files
from llm_conformance.reports.document import Document
from peers import page
from peers.environments import ROOT, Environment, NotInstalledError, arguments
from peers.faults import Judged

PAGE = ROOT / "docs" / "field.md"


@dataclass(frozen=True)
class Outcome:
    """The report on a library, None if there is none, and what went wrong, "" if nothing did."""

    name: str
    report: Document | None
    trouble: str
    log: Path


def judge(library: Library, work: Path) -> Outcome:
    """Install a library in an environment below `work`, and run the suite on it."""
    report = work / f"{library.name}.json"
    environment = Environment(work / library.name, work / f"{library.name}.log")
    log = environment.log
    try:
        if library.is_node:
            environment.install()
            if environment.run("npm", "ci", "--ignore-scripts", "--prefix", library.folder):
                raise NotInstalledError("npm failed")
        else:
            environment.install_frozen(library.folder / "requirements.txt", library.python)
    except NotInstalledError as error:
        return Outcome(library.name, None, f"could not be installed: {error}", log)
    options = (f"--deviations={library.deviations}", f"--report={report}")
    shim = library.shim.relative_to(ROOT).as_posix()
    spec = f"cmd:node {shim}" if library.is_node else shim
    code = environment.run(*arguments(spec, *options))
    if not report.is_file():
        return Outcome(library.name, None, f"was not judged (exit code {code})", log)
    trouble = f"its failures differ from its deviations (exit code {code})" if code else ""
    return Outcome(library.name, files.read(report), trouble, log)


def main(arguments: Sequence[str]) -> int:
    """Judge the libraries, write the pages, print what went wrong; return the exit code."""
    known = libraries()
    parser = argparse.ArgumentParser("python -m peers", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"the libraries; default: all of {', '.join(known)}")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep environments, reports and logs here")
    parser.add_argument("--page", type=Path, metavar="FILE.html", help="write an HTML report on the libraries")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"unknown library: {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    work: Path = (options.work or Path(tempfile.mkdtemp(prefix="peers-"))).resolve()
    work.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for name in options.names or known:
        print(f"{name} ...", end=" ", flush=True)
        outcome = judge(known[name], work)
        print(f"{outcome.trouble}: see {outcome.log}" if outcome.trouble else "judged")
        outcomes.append(outcome)
    reports = {each.name: each.report for each in outcomes if each.report is not None}
    if options.page and reports:
        files.write(options.page, *reports.values())
    if not options.names:  # the page covers all libraries
        missing = {each.name: each.trouble for each in outcomes if each.report is None}
        field = [Judged(name, report, None) for name, report in reports.items()]
        PAGE.write_text(page.page(field, missing), "utf-8")
    return 1 if any(each.trouble for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
