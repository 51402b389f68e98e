"""`python -m tools.same_verdicts`: run the suite many times, and compare the verdicts and their messages.

    python -m tools.same_verdicts [--runs N] [--busy N] [--log FILE] -- --adapter=SPEC --conformance-provider=P ...

Each run has the items in another order (`tools.shuffled`). Run number k has `k % 3` workers of pytest-xdist. With
`--busy=N`, N other processes keep the machine busy. The options behind `--` go to pytest. The exit code is 1 if the
exit code or a verdict of a run differs from the first run. `--log` names a file that gets a line for each run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from llm_conformance.locations import ROOT, RULES
from llm_conformance.reports import files
from tools.shuffled import SEED

RUNS = 100
WORKERS = 3
"""Run k has `k % WORKERS` workers."""
_SHOWN = 10


class Verdicts(NamedTuple):
    """The result of a run.

    Attributes:
        exit_code: The exit code of pytest.
        results: The results of its report, sorted by their text.
    """

    exit_code: int
    results: list[dict[str, Any]]


def verdicts(directory: Path, options: Sequence[str], **environment: str) -> Verdicts:
    """Run the suite in a directory and return its verdicts. Raises FileNotFoundError if the run wrote no report."""
    report = directory / "report.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", str(RULES), "-q", "--tb=no", "--no-summary", "-p", "no:cacheprovider"]
    path = os.pathsep.join([str(directory), str(ROOT)])
    done = subprocess.run(  # noqa: S603 - the options of whoever calls it
        [*command, f"--conformance-report={report}", *options],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    found: list[dict[str, Any]] = files.read(report)["results"]
    for each in found:
        each.get("example", {}).pop("kept", None)  # a path that differs between runs
    return Verdicts(done.returncode, sorted(found, key=_text))


def shuffled(directory: Path, number: int, options: Sequence[str]) -> Verdicts:
    """Return the verdicts of run `number`, which has its own order and number of workers."""
    workers = ["-n", str(number % WORKERS)] if number % WORKERS else []
    return verdicts(directory, ["-p", "tools.shuffled", *workers, *options], **{SEED: str(number)})


def differences(first: Verdicts, other: Verdicts) -> Iterator[str]:
    """Yield the differences between a run and the first run."""
    if first.exit_code != other.exit_code:
        yield f"exit code {other.exit_code} instead of {first.exit_code}"
    before, after = ({_text(each) for each in run.results} for run in (first, other))
    yield from (f"- {each}" for each in sorted(before - after))
    yield from (f"+ {each}" for each in sorted(after - before))


def _text(result: dict[str, Any]) -> str:
    return json.dumps(result, sort_keys=True, ensure_ascii=False)


@contextlib.contextmanager
def _busy(processes: int) -> Iterator[None]:
    """Keep the machine busy during the block."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite as often as asked; return 1 if a run differs from the first one."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    at = given.index("--") if "--" in given else len(given)
    parser = argparse.ArgumentParser(prog="python -m tools.same_verdicts", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--log", type=Path)
    asked = parser.parse_args(given[:at])
    wrong = 0
    with tempfile.TemporaryDirectory() as directory, _busy(asked.busy):
        first = shuffled(Path(directory), 0, given[at + 1 :])
        for number in range(1, asked.runs):
            started = time.monotonic()
            found = list(differences(first, shuffled(Path(directory), number, given[at + 1 :])))
            wrong += bool(found)
            line = f"run {number}, {number % WORKERS} workers, {time.monotonic() - started:.0f} s: "
            line += f"{len(found)} differences" if found else f"the same {len(first.results)} verdicts"
            text = "\n".join([line, *found[:_SHOWN]])
            print(text, flush=True)
            if asked.log is not None:
                with asked.log.open("a", encoding="utf-8") as log:
                    log.write(f"{text}\n")
    print(f"{asked.runs} runs, {wrong} unlike the first")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
