"""`llm-conformance run`: run pytest on the rules, with the suite's own configuration instead of the project's.

`llm-conformance run LIBRARY` judges an installed library of the field by the suite's scenarios, through the suite's
shim, and compares its failures with the known ones.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import itertools
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from llm_conformance.adapter import libraries, loader
from llm_conformance.adapter.libraries import Library
from llm_conformance.cli import known_findings
from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.locations import RULES, STARTED_AS
from llm_conformance.options import ADAPTER, OPTIONS
from llm_conformance.reports import files
from llm_conformance.wording import did_you_mean, listed

_CONFIGURATION = Path(__file__).resolve().parent.parent / "pytest.ini"
_PR_SET_PDEATHSIG = 1
"""The option of prctl(2) for the signal that a process gets when its parent ends."""
_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
_DEVIATIONS, _EXAMPLES, _REPORT = (
    next(option for option in OPTIONS if option.name == name) for name in ("deviations", "examples", "report")
)


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "Judge adapters, or a library: `llm-conformance run litellm` (`llm-conformance list --libraries`). The options "
        "are those of pytest without the prefix `--conformance-`; all others are passed to pytest (-n 4, -x, "
        "--junitxml=FILE). In a GitHub workflow the result is added to the step summary."
    )
    for option in OPTIONS:
        # The `Reproduce` line of a failure has the long name of --adapter.
        names = [option.short_name, option.long_name] if option is ADAPTER else [option.short_name]
        parser.add_argument(*names, **{**option.arguments, "default": argparse.SUPPRESS})


def run(options: Options) -> int:
    """Run pytest; return its exit code. Raises UsageError."""
    adapters = getattr(options, ADAPTER.dest, None)
    if not adapters:
        return _run_library(options)
    if both := [word for word in options.pytest_arguments if word in libraries.libraries() and not Path(word).exists()]:
        raise UsageError(f"run: name a library ({both[0]}) or an adapter (--adapter={adapters[0]}), not both")
    return _run(options)


def _run_library(options: Options) -> int:
    """Judge the library that the first argument names; print how its failures differ from the known findings."""
    library = _library(options)
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.json"
        given = vars(options)
        given[ADAPTER.dest] = [library.name]
        given.setdefault(_EXAMPLES.dest, "0")
        given[_DEVIATIONS.dest] = [*given.get(_DEVIATIONS.dest, ()), str(library.deviations)]
        given[_REPORT.dest] = [*given.get(_REPORT.dest, ()), str(report)]
        print("\n".join(known_findings.before(library, Path.cwd())), flush=True)
        code = _run(options)
        if report.is_file():
            print("\n".join(known_findings.after(library, Path.cwd(), files.read(report))), flush=True)
    return code


def _library(options: Options) -> Library:
    """Return the library that the command names, and remove its name from the arguments for pytest."""
    names = list(itertools.takewhile(lambda word: not word.startswith("-"), options.pytest_arguments))
    if not names:
        if hint := next(filter(None, map(_misspelt, options.pytest_arguments)), ""):
            raise UsageError(f"run: {hint}")
        what = f"a library (`llm-conformance run litellm`; `{libraries.LIST_COMMAND}`) or an adapter (--adapter=SPEC)"
        raise UsageError(f"run: name what to judge: {what}")
    if len(names) > 1:
        raise UsageError(f"run: one library at a time, not {listed(names, 'and')}; `report show` compares two reports")
    (name,) = names
    if name not in libraries.libraries():
        if name.endswith(".py"):
            raise UsageError(f"run {name}: this is no library; did you mean {ADAPTER.short_name}={name}?")
        raise UsageError(f"run {libraries.unknown(name)}; an adapter of your own is named by --adapter=SPEC")
    library = loader.library_named(name, Path.cwd())
    if library is None:
        raise UsageError(f"run {name}: an adapter of this name is installed here, too; name it by --adapter={name}")
    try:
        library.check(Path.cwd())
    except libraries.NotHereError as error:
        raise UsageError(f"run {name}: {error}") from error
    options.pytest_arguments = options.pytest_arguments[1:]
    return library


def _misspelt(argument: str) -> str:
    """Return a message if an argument is an option that is nearly one of the suite's; else ""."""
    name = argument.partition("=")[0]
    hint = did_you_mean(name, [each.short_name for each in OPTIONS]) if name.startswith("--") else ""
    return hint and f"no such option: {name}{hint}"


def _run(options: Options) -> int:
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
