"""What a run of the suite costs, compared with the same number of empty parametrised pytest tests.

    python benchmarks/suite.py [--rounds N]

Without generated inputs, which generated.py measures. Prints the fastest of N interleaved rounds of each in seconds,
and the ratio. Aim: 3 or less.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EMPTY = """\
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_nothing(number):
    pass
"""


def timed(arguments: list[str], directory: Path) -> tuple[float, str]:
    """Return the wall-clock seconds of a pytest process and its last line of output."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"pytest {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return seconds, done.stdout.strip().splitlines()[-1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    suite = ["conformance", "--adapter=adapters", "--conformance-examples=0"]
    _, last = timed(suite, ROOT)
    count = int(last.split()[0])
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "test_empty.py").write_text(EMPTY.format(count=count))
        both = [(timed(suite, ROOT)[0], timed(["test_empty.py"], directory)[0]) for _ in range(rounds)]
    ours, empty = (min(times) for times in zip(*both, strict=True))
    print(f"{count} tests: suite {ours:.2f} s, empty {empty:.2f} s, ratio {ours / empty:.2f}")


if __name__ == "__main__":
    main()
