r"""Build the documentation: the pages in docs/, and the pages that are made from the suite itself.

    pytest conformance --adapter=adapters --conformance-examples=0 --conformance-probes=judge \
        --conformance-report=report.json
    python -m tools.site --report=report.json [--out build/site] [--no-html]

The pages are written to OUT/html, and their Markdown to OUT/source. Sphinx checks all links between pages. With
`--no-html`, that is all it does, and takes half of the time.

The exit code is 1 if Sphinx prints a warning, or if a proof is missing. Four things need one: each requirement is
tested somewhere, each rule passes somewhere, each rule has a broken adapter, and each scenario is judged by some rule
that does not judge every response.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from llm_conformance.reports import files
from tools.site import made, proof, requirements, staging
from tools.site.run import Run, read_run

REPORT_PAGE = "reference.html"
"""The HTML report of the reference adapters, beside the pages."""

_TOO_LITTLE = (
    "the report does not prove what is listed below. If it is of a part of the suite or of other adapters, make a "
    "whole one: pytest conformance --adapter=adapters --conformance-examples=0 --conformance-probes=judge "
    "--conformance-report=report.json"
)
"""The beginning of the message about a report that proves too little."""


def problems(run: Run) -> list[str]:
    """Return what the report of the reference adapters fails to prove."""
    return [*proof.problems(run), *requirements.problems(run)]


def main(arguments: Sequence[str]) -> int:
    """Build the site; print what is wrong, and return the exit code."""
    parser = argparse.ArgumentParser("python -m tools.site", description=__doc__.partition("\n")[0])
    parser.add_argument("--report", type=Path, required=True, help="a JSON report of the reference adapters")
    parser.add_argument("--out", type=Path, default=staging.ROOT / "build" / "site", help="where to build")
    parser.add_argument("--no-html", action="store_true", help="check the pages and their links, and write no HTML")
    parser.add_argument("--check", action="store_true", help="only check what the report proves; needs no Sphinx")
    options = parser.parse_args(arguments)
    run = read_run(options.report)
    if found := problems(run):
        print(f"{options.report}: {_TOO_LITTLE}", *found, sep="\n")
        return 1
    if options.check:
        return 0
    source, html = options.out / "source", options.out / "html"
    for each in (source, html):
        shutil.rmtree(each, ignore_errors=True)
    staging.stage(source, made.pages(run))
    (source / staging.EXTRA).mkdir()
    if not options.no_html:
        files.write(source / staging.EXTRA / REPORT_PAGE, run.report)
    builder = "dummy" if options.no_html else "html"
    command = ["-m", "sphinx", "-b", builder, "-W", "--keep-going", "-n", "-q", "-j", "auto", str(source), str(html)]
    return subprocess.run([sys.executable, *command], check=False).returncode  # noqa: S603 - our own command


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
