"""`llm-conformance run`: pytest on the rules, with the suite's own configuration instead of the project's."""

from __future__ import annotations

import argparse
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
from llm_conformance.options import ADAPTER, OPTIONS

_CONFIGURATION = Path(__file__).resolve().parent.parent / "pytest.ini"
_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "Judge adapters. The options are those of pytest without the prefix `--conformance-`; all others are passed to "
        "pytest (-n 4, -x, --junitxml=FILE). In a GitHub workflow the result is added to the step summary."
    )
    for option in OPTIONS:
        # --adapter is required, and the `Reproduce` line of a failure has it under its long name.
        names = [option.short_name, option.long_name] if option is ADAPTER else [option.short_name]
        parser.add_argument(*names, **{**option.arguments, "default": argparse.SUPPRESS, "required": option is ADAPTER})


def run(options: Options) -> int:
    """Run pytest; return its exit code."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    environment[STARTED_AS] = "llm-conformance run"
    step_summary = environment.get(_STEP_SUMMARY)
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "summary.md"
        ours = ["-c", str(_CONFIGURATION), f"--rootdir={Path.cwd()}", str(RULES), *options_for_pytest(options)]
        ours += [f"--conformance-report={report}"] * bool(step_summary)
        # -P: a module in the working directory must not hide one that pytest imports.
        code = _wait([sys.executable, "-P", "-m", "pytest", *ours, *options.pytest_arguments], environment)
        if step_summary and report.is_file():
            try:
                with Path(step_summary).open("a", encoding="utf-8") as file:
                    file.write(report.read_text("utf-8"))
            except OSError as error:
                print(f"llm-conformance: cannot write the step summary {step_summary}: {error}", file=sys.stderr)
    return code


def _wait(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command until it ends by itself; return its exit code as a shell would (128 + signal)."""
    process = subprocess.Popen(command, env=environment)  # noqa: S603
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # pytest gets the interrupt, too, and ends the run
                code = process.wait()
                return code if code >= 0 else 128 - code
    finally:
        signal.signal(signal.SIGTERM, before)


def options_for_pytest(options: Options) -> Iterator[str]:
    """Yield the options that were given, under their long names."""
    for option in OPTIONS:
        given = getattr(options, option.dest, [])
        for value in given if isinstance(given, list) else [given]:
            yield f"{option.long_name}={value}"
