"""What it costs to start the suite, compared with an empty pytest run.

    python benchmarks/startup.py [--rounds N] [--against DIR]

Judges Z.AI's scenarios through the reference adapters, without generated inputs. Prints the CPU seconds (user and
system) to the first verdict and to the end of the run, the fastest of N interleaved rounds, and the ratios to the
empty run. `--against` also measures another checkout, which needs its own environment in `DIR/.venv`.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUITE = ("conformance", "--adapter=adapters", "--conformance-provider=zai", "--conformance-examples=0")
EMPTY = "def test_nothing():\n    pass\n"
PLUGIN = """\
import os, time
from pathlib import Path

def pytest_runtest_logreport(report):
    path = Path(os.environ["FIRST_VERDICT"])
    if report.when == "call" and not path.exists():
        path.write_text(str(time.process_time()))
"""


def cpu_seconds(python: Path, arguments: tuple[str, ...], directory: Path, environment: Mapping[str, str]) -> float:
    """Return the CPU seconds of a pytest process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **environment}  # only the first round compiles modules
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"pytest {' '.join(arguments)} failed in {directory}:\n{done.stdout}{done.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def suite_seconds(checkout: Path, python: Path, scratch: Path) -> tuple[float, float]:
    """Return the CPU seconds of the suite to its first verdict and to its end."""
    noted = scratch / "first_verdict"
    noted.unlink(missing_ok=True)
    environment = {"PYTHONPATH": str(scratch), "FIRST_VERDICT": str(noted)}
    whole = cpu_seconds(python, ("-p", "first_verdict_plugin", *SUITE), checkout, environment)
    return float(noted.read_text()), whole


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path, metavar="DIR", help="another checkout to compare with")
    options = parser.parse_args()
    checkouts = {"suite": (ROOT, Path(sys.executable))}
    if options.against:
        other = options.against.resolve()
        checkouts["against"] = (other, other / ".venv" / "bin" / "python")
    empty: list[float] = []
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in checkouts}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        (scratch / "first_verdict_plugin.py").write_text(PLUGIN)
        (scratch / "test_empty.py").write_text(EMPTY)
        for _ in range(options.rounds):
            plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            empty.append(cpu_seconds(Path(sys.executable), ("test_empty.py",), scratch, plain))
            for checkout, (directory, python) in checkouts.items():
                times[checkout].append(suite_seconds(directory, python, scratch))
    print(f"{'empty run':<25}{min(empty):6.2f} s")
    for checkout, measured in times.items():
        for what, seconds in zip(("first verdict", "whole run"), map(min, zip(*measured, strict=True)), strict=True):
            print(f"{f'{checkout}: {what}':<25}{seconds:6.2f} s   x {seconds / min(empty):.1f}")


if __name__ == "__main__":
    main()
