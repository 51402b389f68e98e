"""`python -m peers.rediscovery`: is the suite red on releases with a published bug, and green on those without it?

Ends with 1 unless it is, for each bug of `rediscovered.toml` whose two releases can be installed; those that cannot are
named.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from peers.__main__ import HERE
from peers.environments import Environment, NotInstalledError, arguments

BUGS: Sequence[Mapping[str, Any]] = tomllib.loads((HERE / "rediscovered.toml").read_text("utf-8"))["bug"]


def verdict(bug: Mapping[str, Any], release: str, work: Path) -> int | None:
    """Return the exit code of the suite on a release, as far as the bug is about it; None if it cannot be installed."""
    name = f"{bug['peer']}-{bug['rule']}-{release}"
    environment = Environment(work / name, work / f"{name}.log")
    try:
        environment.install(*bug[release])
    except NotInstalledError:
        return None
    scenarios = (f"--scenario={scenario}" for scenario in bug["scenarios"])
    return environment.run(
        *arguments(f"peers/{bug['peer']}/{bug.get('adapter', 'adapter.py')}", f"--rule={bug['rule']}", *scenarios)
    )


def main(arguments: Sequence[str]) -> int:
    """Look at each bug; print what was seen."""
    parser = argparse.ArgumentParser("python -m peers.rediscovery", description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, metavar="DIR", help="where environments and logs are (and stay)")
    options = parser.parse_args(arguments)
    work: Path = (options.work or Path(tempfile.mkdtemp(prefix="rediscovery-"))).resolve()
    work.mkdir(parents=True, exist_ok=True)
    good = True
    for bug in BUGS:
        codes = {release: verdict(bug, release, work) for release in ("broken", "fixed")}
        said = {None: "cannot be installed", 0: "green", 1: "red"}
        seen = ", ".join(f"{bug[name][0]} {said.get(code, f'exit code {code}')}" for name, code in codes.items())
        print(f"{bug['peer']} {bug['rule']}: {seen} ({bug['name']})", flush=True)
        good = good and (None in codes.values() or list(codes.values()) == [1, 0])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
