"""`python -m peers.rediscovery`: is the suite red on releases with a published bug, and green on those without it?

Ends with 1 unless it is, for each bug of `rediscovered.toml` whose two releases can be installed; those that cannot are
named.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from peers.__main__ import HERE, ROOT

BUGS: Sequence[Mapping[str, Any]] = tomllib.loads((HERE / "rediscovered.toml").read_text("utf-8"))["bug"]


def verdict(bug: Mapping[str, Any], release: str, work: Path) -> int | None:
    """Return the exit code of the suite on a release, as far as the bug is about it; None if it cannot be installed."""
    environment = work / f"{bug['peer']}-{bug['invariant']}-{release}"
    with (work / f"{environment.name}.log").open("w", encoding="utf-8") as log:

        def run(*command: str) -> int:
            return subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, check=False).returncode  # noqa: S603

        commands = environment / "bin"
        if run(sys.executable, "-m", "venv", str(environment)) or run(
            str(commands / "pip"), "install", "-q", str(ROOT), *bug[release]
        ):
            return None
        return run(
            str(commands / "llm-conformance"),
            "run",
            f"--adapter=peers/{bug['peer']}/adapter.py",
            "--examples=0",
            f"--invariant={bug['invariant']}",
            *(f"--scenario={scenario}" for scenario in bug["scenarios"]),
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
        print(f"{bug['peer']} {bug['invariant']}: {seen} ({bug['name']})", flush=True)
        good = good and (None in codes.values() or list(codes.values()) == [1, 0])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
