"""What it costs to start an adapter in a process of its own, compared with starting Python.

    python benchmarks/places.py [--rounds N]

`alone` starts a Python that does nothing, and waits for its end. `process` and `namespace` start the same Python behind
`enter.py`, which forks a process that ends this Python when the suite ends. `namespace` also has a network of its own.
`adapter` loads the reference adapters in such a process, until they have described themselves. A run does this once,
and again after a call that has ended its process. Prints the median milliseconds of each and the ratios to `alone`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from llm_conformance.adapter import loader
from llm_conformance.calling.place import Place

NOTHING = [sys.executable, "-c", "pass"]
HERE = Path.cwd()


def alone() -> None:
    """Start Python."""
    subprocess.run(NOTHING, check=True)


def place(wants_network: bool) -> str:
    """Start Python in a place. Return why it got no network of its own, although it was to have one."""
    made = Place(NOTHING, HERE, wants_network)
    made.process.wait()
    made.kill()
    return made.refused


def adapter() -> None:
    """Load the reference adapters in a process of their own."""
    loader.load("adapters", HERE, (), "process").close()


WAYS: dict[str, Callable[[], object]] = {
    "alone": alone,
    "process": lambda: place(wants_network=False),
    "namespace": lambda: place(wants_network=True),
    "adapter": adapter,
}


def milliseconds(action: Callable[[], object]) -> float:
    """Return how long one call of `action` takes."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1e3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    if refused := place(wants_network=True):
        print(f"no network of its own, so `namespace` is `process`: {refused}")
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(rounds):
        for name, way in WAYS.items():
            times[name].append(milliseconds(way))
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, median in medians.items():
        print(f"{name:<10}{median:7.0f} ms   x {median / medians['alone']:.1f}")


if __name__ == "__main__":
    main()
