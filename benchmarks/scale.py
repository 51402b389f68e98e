"""How time and memory of a run grow with the number of scenarios, and of bare recordings.

    python benchmarks/scale.py [--copies N] [--provider NAME ...] [--report SUFFIX ...] [--kind NAME ...] [--workers N]

Judges N, 2 N and 4 N copies of the scenarios of some providers through the reference adapters, then the same numbers of
their bare recordings. All copies are in a temporary directory under other names. Prints for each run the CPU time and
the peak memory of its largest process, including pytest and the reports. Then prints the cost of each further copy, and
the slope of the time: 1 is linear, 2 is quadratic. Ends with exit code 1 if a slope is above 1.4, and the last doubling
adds more than 2 s.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIX = ".scenario.yaml"
STEEPEST = 1.4
SHORTEST_S = 2
"""Less than that may be noise."""


@dataclass(frozen=True)
class Cost:
    """What a run costs: the CPU time of all processes in seconds, and the peak memory of the largest in megabytes."""

    cpu_s: float
    peak_mb: float


def copied(directory: Path, providers: Sequence[str], copies: int, is_bare: bool) -> int:
    """Copy the scenarios of providers, or only their recordings, `copies` times. Return the number of copies."""
    made = 0
    for number, provider in itertools.product(range(copies), providers):
        target = directory / f"copy{number}-{provider}"
        target.mkdir(parents=True)
        for path in sorted((ROOT / "cassettes" / provider).iterdir()):
            is_scenario = path.name.endswith(SUFFIX)
            if not (is_bare and is_scenario):
                shutil.copy(path, target)
                made += is_scenario or is_bare
    return made


def cost(directory: Path, options: Sequence[str]) -> Cost:
    """Return what a run over a directory costs."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "conformance", "--adapter=adapters"]
    command += ["--conformance-examples=0", "--conformance-scenario=copy*", f"--conformance-cassettes={directory}"]
    # pytest writes to a file, as in CI: a pipe that nobody reads would stop it.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen([*command, *options], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):  # 1: without its scenario, a recording may claim more than it shows
            output.seek(0)
            sys.exit(f"the run ended with {process.returncode}:\n{output.read()}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def slope(few: float, more: float, most: float) -> float:
    """Return the slope of what grows while the number doubles. Costs that do not depend on the number are left out."""
    first, second = more - few, most - more
    return math.log2(second / first) if first > 0 and second > 0 else 0.0


def measured(kind: str, given: argparse.Namespace) -> tuple[list[int], list[Cost]]:
    """Judge three numbers of copies of a kind, and print the costs. Return the numbers and the costs."""
    counts, costs = [], []
    for copies in (given.copies, 2 * given.copies, 4 * given.copies):
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name) / "cassettes"
            counts.append(copied(directory, given.provider, copies, kind == "recordings"))
            reports = [Path(name) / f"report{suffix}" for suffix in given.report]
            options = [f"--conformance-report={path}" for path in reports]
            options += ["-n", str(given.workers)] if given.workers else []
            costs.append(cost(directory, options))
            sizes = "".join(f"  {path.suffix} {path.stat().st_size / 1e6:.1f} MB" for path in reports)
        run = costs[-1]
        print(f"{counts[-1]:>6} {kind:<10} {run.cpu_s:7.1f} s CPU {run.peak_mb:6.0f} MB{sizes}", flush=True)
    return counts, costs


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--provider", nargs="*", default=["anthropic", "cohere", "gemini", "ollama", "zai"])
    parser.add_argument("--kind", nargs="*", default=["scenarios", "recordings"])
    parser.add_argument("--report", nargs="*", default=[".json", ".html"], metavar="SUFFIX")
    parser.add_argument("--workers", type=int, default=0)
    given = parser.parse_args()
    too_steep = False
    for kind in given.kind:
        counts, costs = measured(kind, given)
        further = counts[-1] - counts[-2]
        times, sizes = [each.cpu_s for each in costs], [each.peak_mb for each in costs]
        time_ms, memory_kb = (times[-1] - times[-2]) / further * 1e3, (sizes[-1] - sizes[-2]) / further * 1024
        print(f"each further one: {time_ms:.1f} ms CPU, slope {slope(*times):.2f}; {memory_kb:.1f} kB")
        too_steep |= slope(*times) > STEEPEST and times[-1] - times[-2] > SHORTEST_S
    return 1 if too_steep else 0


if __name__ == "__main__":
    sys.exit(main())
