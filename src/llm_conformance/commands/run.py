"""`llm-conformance run`: pytest on the rules with the suite's own configuration, whatever a project has of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from llm_conformance.commands import Commands, Options
from llm_conformance.locations import RULES

_CONFIGURATION = Path(__file__).resolve().parent.parent / "pytest.ini"
_SUMMARY = "GITHUB_STEP_SUMMARY"

_REPEATABLE = ("provider", "scenario", "invariant", "face", "cassettes", "deviations", "report")
_SINGLE = ("write-deviations", "transport", "examples", "timeout")


def add_to(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "run",
        help="judge an adapter: pytest with the suite's own configuration",
        description="Judge adapters. The options are those of `pytest` without their prefix `--conformance-`; what is "
        "no option of ours goes to pytest (-n 4, -x, --junitxml=FILE). In a GitHub workflow the result is written to "
        "the step summary.",
        allow_abbrev=False,
    )
    parser.add_argument("--adapter", action="append", required=True, metavar="SPEC")
    for name in _REPEATABLE:
        parser.add_argument(f"--{name}", action="append", default=[], metavar=name.upper())
    for name in _SINGLE:
        parser.add_argument(f"--{name}", metavar=name.upper())
    parser.set_defaults(command=run, passes_on=True)


def run(options: Options, rest: Sequence[str]) -> int:
    """Run pytest; return its exit code."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    summary = environment.get(_SUMMARY)
    with tempfile.TemporaryDirectory() as directory:
        told = Path(directory) / "summary.md"
        ours = ["-c", str(_CONFIGURATION), f"--rootdir={Path.cwd()}", str(RULES), *_long(options)]
        ours += [f"--conformance-report={told}"] * bool(summary)
        # -P: what lies in the working directory must not stand in the way of what pytest imports.
        process = subprocess.Popen([sys.executable, "-P", "-m", "pytest", *ours, *rest], env=environment)  # noqa: S603
        while True:
            try:
                code = process.wait()
                break
            except KeyboardInterrupt:  # pytest has had it, too, and will end in its own way
                continue
        if summary and told.is_file():
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(told.read_text("utf-8"))
    return code


def _long(options: Options) -> Iterator[str]:
    """Yield the options under the names that pytest has them by."""
    yield from (f"--conformance-adapter={spec}" for spec in options.adapter)
    for name in (*_REPEATABLE, *_SINGLE):
        value = getattr(options, name.replace("-", "_"))
        for each in value if isinstance(value, list) else [value] * (value is not None):
            yield f"--conformance-{name}={each}"
