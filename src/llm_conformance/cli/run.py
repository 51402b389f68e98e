"""`llm-conformance run`: pytest on the rules with the suite's own configuration, whatever a project has of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from llm_conformance.cli.command import Options, Parser
from llm_conformance.locations import RULES, STARTED_AS

_CONFIGURATION = Path(__file__).resolve().parent.parent / "pytest.ini"
_SUMMARY = "GITHUB_STEP_SUMMARY"

_REPEATABLE = {
    "provider": "only scenarios of this provider, or provider:api",
    "scenario": "only scenarios whose id (provider/name) matches the glob",
    "rule": "only this rule",
    "method": "only this method of the adapter",
    "cassettes": "a directory with more scenarios or recordings",
    "deviations": "a file of known deviations",
    "report": "a report: .json, .html, .md or .svg",
}
_SINGLE = {
    "write-deviations": "write what fails as a file of known deviations",
    "transport": "server (the default) or vcr",
    "arrival": "frames (the default), or recorded: streams in the pieces and at the pace in which they came",
    "examples": "how many generated inputs each property gets: quick, ci, deep or a number",
    "timeout": "how many seconds one call may take",
}


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "Judge adapters. The options are those of `pytest` without the prefix `--conformance-`; all others are passed "
        "to pytest (-n 4, -x, --junitxml=FILE). In a GitHub workflow the result is added to the step summary."
    )
    names = ("--adapter", "--conformance-adapter")  # so that the `Reproduce` line of a failure is a command, too
    parser.add_argument(*names, action="append", required=True, metavar="SPEC", help="what is judged; repeatable")
    for name, said in _REPEATABLE.items():
        parser.add_argument(f"--{name}", action="append", default=[], metavar=name.upper(), help=f"{said}; repeatable")
    for name, said in _SINGLE.items():
        parser.add_argument(f"--{name}", metavar=name.upper(), help=said)


def run(options: Options) -> int:
    """Run pytest; return its exit code."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    environment[STARTED_AS] = "llm-conformance run"
    summary = environment.get(_SUMMARY)
    with tempfile.TemporaryDirectory() as directory:
        told = Path(directory) / "summary.md"
        ours = ["-c", str(_CONFIGURATION), f"--rootdir={Path.cwd()}", str(RULES), *_long(options)]
        ours += [f"--conformance-report={told}"] * bool(summary)
        # -P: what lies in the working directory must not stand in the way of what pytest imports.
        code = _wait([sys.executable, "-P", "-m", "pytest", *ours, *options.pytest_arguments], environment)
        if summary and told.is_file():
            try:
                with Path(summary).open("a", encoding="utf-8") as file:
                    file.write(told.read_text("utf-8"))
            except OSError as error:
                print(f"llm-conformance: the step summary {summary} cannot be written: {error}", file=sys.stderr)
    return code


def _wait(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end, which is its own to choose; return its exit code, as a shell would."""
    process = subprocess.Popen(command, env=environment)  # noqa: S603
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # pytest has had it, too, and will end in its own way
                code = process.wait()
                return code if code >= 0 else 128 - code
    finally:
        signal.signal(signal.SIGTERM, before)


def _long(options: Options) -> Iterator[str]:
    """Yield the options under the names that pytest has them by."""
    yield from (f"--conformance-adapter={spec}" for spec in options.adapter)
    for name in (*_REPEATABLE, *_SINGLE):
        value = getattr(options, name.replace("-", "_"))
        for each in value if isinstance(value, list) else [value] * (value is not None):
            yield f"--conformance-{name}={each}"
