"""What workers of pytest-xdist and shards of pytest-split cost and save.

    python benchmarks/distributed.py [--provider NAME ...]

Judges the reference adapters without generated inputs: in one process, with 2 and 4 workers, and in 2 and 4 shards. The
shards run one after the other, as if each had a machine of its own. Prints for each way the wall time (of the slowest
shard), the CPU time of all processes, the ratios of both to the run in one process, and the number of exchanges. If the
exchanges of the shards add up to those of one process, no shard repeats work of another.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Cost:
    """What runs cost: the wall seconds of the slowest run, the CPU seconds of all runs, and all their exchanges."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    exchanges: int = 0

    def beside(self, other: Cost) -> Cost:
        """Return the cost of both runs at the same time, each on a machine of its own."""
        return Cost(max(self.wall_s, other.wall_s), self.cpu_s + other.cpu_s, self.exchanges + other.exchanges)


def cost(*options: str) -> Cost:
    """Return what a run with these options costs."""
    command = [sys.executable, "-m", "pytest", "conformance", "--adapter=adapters", "--conformance-examples=0", "-q"]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    wall_s, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    passed = re.search(r"^(\d+) passed", done.stdout, re.MULTILINE)
    if done.returncode or passed is None:
        sys.exit(f"pytest {' '.join(options)} failed:\n{done.stdout}{done.stderr}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall_s, cpu_s, int(passed[1]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--provider", nargs="*", default=[])
    filters = [f"--conformance-provider={name}" for name in parser.parse_args().provider]
    alone = cost(*filters)
    costs = {"one process": alone}
    for workers in (2, 4):
        costs[f"{workers} workers"] = cost(*filters, "-n", str(workers))
    for shards in (2, 4):
        total = Cost()
        for group in range(1, shards + 1):
            total = total.beside(cost(*filters, "--splits", str(shards), "--group", str(group)))
        costs[f"{shards} shards"] = total
    for name, each in costs.items():
        ratios = f"wall x {each.wall_s / alone.wall_s:4.2f}   CPU x {each.cpu_s / alone.cpu_s:4.2f}"
        print(f"{name:<12}{each.wall_s:7.1f} s wall {each.cpu_s:7.1f} s CPU   {ratios}   {each.exchanges} exchanges")


if __name__ == "__main__":
    main()
