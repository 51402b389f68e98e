"""`python -m peers.rediscovery`: check that the suite fails releases with a published bug and passes the fixed ones.

Exits with 1 if it does not, for any bug of `rediscovered.toml`. Prints and skips bugs with a release that cannot be
installed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_conformance.locations import LIBRARIES
from peers.environments import Environment, NotInstalledError, arguments

BUGS: Sequence[Mapping[str, Any]] = tomllib.loads((LIBRARIES / "rediscovered.toml").read_text("utf-8"))["bug"]


_FAILS = re.compile(r"^cells: (?:.*, )?\d+ fail(?:,|$)", re.MULTILINE)
BLOCKED = -1
"""Instead of exit code 1, if no cell fails: the suite also exits with 1 if it could judge nothing."""


def code_of(exit_code: int, output: str) -> int:
    """Return the exit code of a run, or BLOCKED if it is 1 and the output tells of no cell that fails."""
    return BLOCKED if exit_code == 1 and not _FAILS.search(output) else exit_code


def verdict(bug: Mapping[str, Any], release: str, work: Path) -> int | None:
    """Return the result of `code_of` for the bug's rule and scenarios; None if the release cannot be installed."""
    name = f"{bug['peer']}-{bug['rule']}-{release}"
    environment = Environment(work / name, work / f"{name}.log")
    try:
        environment.install(*bug[release])
    except NotInstalledError:
        return None
    scenarios = (f"--scenario={scenario}" for scenario in bug["scenarios"])
    code = environment.run(
        *arguments(f"peers/{bug['peer']}/{bug.get('adapter', 'adapter.py')}", f"--rule={bug['rule']}", *scenarios)
    )
    return code_of(code, environment.log.read_text("utf-8"))


def main(arguments: Sequence[str]) -> int:
    """Check each bug and print the results; return the exit code."""
    parser = argparse.ArgumentParser("python -m peers.rediscovery", description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep environments and logs here")
    options = parser.parse_args(arguments)
    work: Path = (options.work or Path(tempfile.mkdtemp(prefix="rediscovery-"))).resolve()
    work.mkdir(parents=True, exist_ok=True)
    good = True
    for bug in BUGS:
        codes = {release: verdict(bug, release, work) for release in ("broken", "fixed")}
        results = {None: "cannot be installed", 0: "passes", 1: "fails", BLOCKED: "could not be judged"}
        seen = ", ".join(f"{bug[name][0]} {results.get(code, f'exit code {code}')}" for name, code in codes.items())
        print(f"{bug['peer']} {bug['rule']}: {seen} ({bug['name']})", flush=True)
        good = good and (None in codes.values() or list(codes.values()) == [1, 0])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
