"""`python -m peers.rediscovery`: check that the suite fails releases with a published bug and passes the fixed ones.

    python -m peers.rediscovery [NAME ...] [--work DIR] [--jobs N]

`rediscovered.toml` has the bugs. Each release is installed into an environment of its own. When the release has been
judged, the environment is deleted, and its log stays. Results of an earlier run in DIR are used again, unless the
entry, its shim or the suite have changed.

Exits with 1 if the rule does not fail for the broken release or does not pass for the fixed release, or if one of them
cannot be installed. `overrides.txt` of the library replaces requirements that no index can meet.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance.adapter.libraries import Library
from llm_conformance.locations import LIBRARIES
from peers.environments import Environment, NotInstalledError, arguments
from peers.judge import suite_digest
from peers.steps import Progress, digest, in_parallel, once

_FAILS = re.compile(r"^cells: (?:.*, )?\d+ fail(?:,|$)", re.MULTILINE)
_PASSES = re.compile(r"^cells: (?:.*, )?\d+ pass(?:,|$)", re.MULTILINE)

PASSES, FAILS = "passes", "fails"
NOT_INSTALLED = "cannot be installed"
NOT_JUDGED = "could not be judged"
"""Stands instead of FAILS or PASSES if no cell fails or passes, because the suite may have judged nothing."""


@dataclass(frozen=True)
class Bug:
    """A published bug.

    Attributes:
        name: The bug, in a few words.
        link: The issue, the pull request or the line of a changelog.
        reason: What a user of the broken release would notice.
        peer: The library, a folder of `peers/`.
        rule: The rule that fails for the broken release.
        scenarios: The scenarios in which it fails.
        broken: The requirements of the broken release, the library's own first.
        fixed: The requirements of the fixed release, in the same form.
        adapter: The shim, a path in `peers/`; "" for the library's own.
        method: The method whose answers the fix is about; "" if it is about all methods.
    """

    name: str
    link: str
    reason: str
    peer: str
    rule: str
    scenarios: tuple[str, ...]
    broken: tuple[str, ...]
    fixed: tuple[str, ...]
    adapter: str = ""
    method: str = ""

    @property
    def library(self) -> Library:
        """The library."""
        return Library(LIBRARIES / self.peer)

    @property
    def shim(self) -> Path:
        """The shim."""
        return LIBRARIES / self.adapter if self.adapter else self.library.shim

    @property
    def overrides(self) -> tuple[Path, ...]:
        """The file with the library's overrides, if there is one. npm has no use for it."""
        file = self.library.folder / "overrides.txt"
        return (file,) if file.is_file() else ()

    @property
    def releases(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The requirements of the broken and of the fixed release."""
        return self.broken, self.fixed


def bugs() -> list[Bug]:
    """Return the bugs of `rediscovered.toml`."""
    entries: list[dict[str, Any]] = tomllib.loads((LIBRARIES / "rediscovered.toml").read_text("utf-8"))["bug"]
    lists = ("scenarios", "broken", "fixed")
    return [Bug(**{**entry, **{name: tuple(entry[name]) for name in lists}}) for entry in entries]


@dataclass(frozen=True)
class Found:
    """A bug, and what the suite says about its broken and its fixed release."""

    bug: Bug
    said: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        """Whether the suite tells the releases apart."""
        return self.said == (FAILS, PASSES)

    def __str__(self) -> str:
        """Return a line that says what was seen."""
        seen = ", ".join(f"{of[0]} {said}" for of, said in zip(self.bug.releases, self.said, strict=True))
        return f"{'' if self.is_good else 'NOT FOUND: '}{seen}"


@dataclass(frozen=True)
class Rediscovery:
    """Judges the releases of bugs in `work`."""

    work: Path
    suite: str
    progress: Progress
    stop: threading.Event

    def find(self, bug: Bug) -> Found:
        """Judge both releases. Raises StoppedError."""
        return Found(bug, tuple(self._judged(bug, release) for release in bug.releases))

    def _judged(self, bug: Bug, release: Sequence[str]) -> str:
        name = folder(bug, release)
        environment = Environment(self.work / name, self.work / f"{name}.log")

        def judge() -> str:
            try:
                return _judge(bug, release, environment)
            except NotInstalledError:
                return NOT_INSTALLED
            finally:
                shutil.rmtree(environment.folder, ignore_errors=True)

        return once(
            self.work / f"{name}.done",
            digest(self.suite, bug.shim, *bug.overrides, bug.rule, bug.method, *bug.scenarios, *release),
            judge,
            {PASSES, FAILS}.__contains__,
            lambda what: self.progress.say(bug.name, f"{release[0]}: {what}"),
            self.stop,
        )


def folder(bug: Bug, release: Sequence[str]) -> str:
    """Return the name of the environment for a release."""
    return re.sub(r"[^\w.]+", "-", f"{bug.peer}-{bug.rule}-{bug.method}-{bug.scenarios[0]}-{release[0]}")


def _judge(bug: Bug, release: Sequence[str], environment: Environment) -> str:
    only = [f"--rule={bug.rule}", *(f"--scenario={scenario}" for scenario in bug.scenarios)]
    if bug.method:
        only.append(f"--method={bug.method}")
    if bug.shim.suffix == ".mjs":
        environment.install_node(*release)
        # Node looks for packages in the folder above the shim, and the shim looks there for `program.mjs`.
        shim = environment.folder / "shim" / bug.shim.name
        shim.parent.mkdir()
        shutil.copy(bug.shim, shim)
        shutil.copy(LIBRARIES / "program.mjs", environment.folder)
        _, *options = arguments(Library.spec(shim), *only)
        code = environment.run(sys.executable, "-m", "llm_conformance", *options)
    else:
        environment.install(*release, *(f"--override={file}" for file in bug.overrides))
        code = environment.run(*arguments(Library.spec(bug.shim), *only))
    return result(code, environment.log.read_text("utf-8"))


def result(exit_code: int, output: str) -> str:
    """Return what a run of the suite says about a release."""
    if exit_code not in (0, 1):
        return f"exit code {exit_code}"
    told, cells = (FAILS, _FAILS) if exit_code else (PASSES, _PASSES)
    return told if cells.search(output) else NOT_JUDGED


def _chosen(names: Sequence[str]) -> Iterator[Bug]:
    for bug in bugs():
        if not names or bug.peer in names:
            yield bug


def main(arguments: Sequence[str]) -> int:
    """Check each bug and print the results. Return the exit code."""
    known = sorted({bug.peer for bug in bugs()})
    parser = argparse.ArgumentParser("python -m peers.rediscovery", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"the libraries; default: all of {', '.join(known)}")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep results and logs here")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="bugs at a time")
    options = parser.parse_args(arguments)
    if wrong := sorted(set(options.names) - set(known)):
        parser.error(f"no bugs of {', '.join(wrong)}")
    work: Path = (options.work or Path(tempfile.mkdtemp(prefix="rediscovery-"))).resolve()
    work.mkdir(parents=True, exist_ok=True)
    chosen = list(_chosen(options.names))
    progress = Progress(len(chosen))
    rediscovery = Rediscovery(work, suite_digest(), progress, threading.Event())
    found = in_parallel(
        rediscovery.find,
        chosen,
        options.jobs,
        rediscovery.stop,
        lambda each: progress.finish(each.bug.name, str(each)),
    )
    print("\n".join(["", *(f"{each.bug.peer} {each.bug.rule}: {each} ({each.bug.name})" for each in found)]))
    told = sum(each.is_good for each in found)
    print(f"\n{told} of {len(found)} bugs are found in the broken release and not in the fixed one")
    return 0 if all(each.is_good for each in found) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("stopped; the same command with the same --work goes on from here")
