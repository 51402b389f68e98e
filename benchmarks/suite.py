"""What a run of the suite costs, compared with as many empty parametrised pytest tests as it has judged cells.

    python benchmarks/suite.py [--rounds N]

The run has no generated inputs; generated.py measures those. Prints the CPU seconds of all processes in the fastest of
N interleaved rounds of each, and the ratio. Aim: 1 or less.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EMPTY = """\
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_nothing(number):
    pass
"""


def timed(arguments: list[str], directory: Path) -> tuple[float, str]:
    """Return the seconds of CPU of a pytest process and its children, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"pytest {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    suite = ["conformance", "--adapter=adapters", "--conformance-examples=0"]
    _, output = timed(suite, ROOT)
    judged = sum(int(count) for count in re.findall(r"(\d+) (?:pass|probe-passed)\b", output.partition("\ncells: ")[2]))
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "test_empty.py").write_text(EMPTY.format(count=judged), "utf-8")
        both = [(timed(suite, ROOT)[0], timed(["test_empty.py"], directory)[0]) for _ in range(rounds)]
    ours, empty = (min(times) for times in zip(*both, strict=True))
    print(f"{judged} judged cells: suite {ours:.1f} s, as many empty tests {empty:.1f} s, ratio {ours / empty:.2f}")


if __name__ == "__main__":
    main()
