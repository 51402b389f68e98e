"""`llm-conformance run LIBRARY`: judge an installed library of the field, and compare its failures with the known ones.

It is judged by the suite's scenarios, through the suite's shim.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path

from llm_conformance.adapter import libraries, loader
from llm_conformance.adapter.libraries import Library
from llm_conformance.cli.command import Options, UsageError
from llm_conformance.cli.run import known_findings
from llm_conformance.cli.run.start_pytest import start_pytest
from llm_conformance.options import ADAPTER, OPTIONS
from llm_conformance.reports import files
from llm_conformance.wording import did_you_mean, listed

_DEVIATIONS, _EXAMPLES, _REPORT = (
    next(option for option in OPTIONS if option.name == name) for name in ("deviations", "examples", "report")
)


def check_no_library(adapters: Sequence[str], words: Sequence[str]) -> None:
    """Raise UsageError if one of the words names a library; that is, if a library is named besides the adapters."""
    if both := [word for word in words if word in libraries.libraries() and not Path(word).exists()]:
        raise UsageError(f"run: name a library ({both[0]}) or an adapter (--adapter={adapters[0]}), not both")


def run_library(options: Options) -> int:
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
        code = start_pytest(options)
        if report.is_file():
            document = files.read(report)
            print("\n".join(known_findings.after(library, Path.cwd(), document)), flush=True)
            code = known_findings.exit_code(code, document)
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
