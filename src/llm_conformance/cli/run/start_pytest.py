"""Start pytest with the suite's own configuration instead of the project's, and wait until it ends."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from llm_conformance.cli.command import Options
from llm_conformance.locations import RULES, STARTED_AS
from llm_conformance.options import OPTIONS

_CONFIGURATION = Path(__file__).resolve().parents[2] / "pytest.ini"
_PR_SET_PDEATHSIG = 1
"""The option of prctl(2) for the signal that a process gets when its parent ends."""
_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def start_pytest(options: Options) -> int:
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
    process = subprocess.Popen(command, env=environment, preexec_fn=_ending_with_parent())  # noqa: S603
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # pytest gets the interrupt as well, and ends the run
                code = process.wait()
                return code if code >= 0 else 128 - code
    finally:
        signal.signal(signal.SIGTERM, before)


def _ending_with_parent() -> Callable[[], None] | None:
    """Return a function for a new process to call. Linux then sends it SIGTERM when this process ends in any way."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))


def options_for_pytest(options: Options) -> Iterator[str]:
    """Yield the options that were given, under their long names."""
    for option in OPTIONS:
        given = getattr(options, option.dest, [])
        for value in given if isinstance(given, list) else [given]:
            yield f"{option.long_name}={value}"
