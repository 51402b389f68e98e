"""How time and memory of a run grow with the number of bare cassettes.

    python benchmarks/bare.py [--cassettes N]

Judges 1, N and 10 N cassettes of half a kilobyte to 100 kilobytes by all rules through the reference adapters. Prints
the seconds and the peak memory of each run, including pytest. The aim: ten times as many cassettes take ten times as
long, and each takes a few kilobytes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUITE = ("conformance", "--adapter=adapters", "--conformance-examples=0", "--conformance-scenario=bench/*")
URI = "https://api.deepseek.com/chat/completions"


def write(directory: Path, count: int) -> None:
    """Write `count` cassettes; every hundredth has a long response."""
    directory.mkdir(parents=True)
    request = json.dumps(json.dumps({"model": "deepseek-chat", "messages": [{"role": "user", "content": "Go on."}]}))
    for number in range(count):
        message = {"role": "assistant", "content": f"Number {number}. " * (8000 if number % 100 == 0 else 4)}
        answer = {
            "id": f"b-{number}",
            "model": "deepseek-chat",
            "created": 1737480952,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16, "prompt_cache_hit_tokens": 0},
        }
        (directory / f"{number:05}.yaml").write_text(
            f"version: 1\ninteractions:\n- request: {{method: POST, uri: '{URI}', body: {request}, headers: {{}}}}\n"
            "  response:\n    status: {code: 200, message: OK}\n    headers: {content-type: [application/json]}\n"
            f"    body: {{string: {json.dumps(json.dumps(answer))}}}\n"
        )


def judged(directory: Path) -> tuple[float, float]:
    """Return the seconds and the peak megabytes of a run over the cassettes."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    started = time.perf_counter()
    process = subprocess.Popen(
        [*command, *SUITE, f"--conformance-cassettes={directory}"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    output = process.stdout.read() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"the run failed:\n{output}")
    return time.perf_counter() - started, used.ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cassettes", type=int, default=1000)
    few = parser.parse_args().cassettes
    with tempfile.TemporaryDirectory() as name:
        results = []
        for count in (1, few, 10 * few):
            directory = Path(name) / str(count) / "bench"
            write(directory, count)
            results.append(judged(directory))
            print(f"{count:>6} cassettes: {results[-1][0]:6.1f} s, {results[-1][1]:6.0f} MB", flush=True)
    (one_s, one_mb), (few_s, _), (many_s, many_mb) = results
    print(f"ten times the cassettes: {(many_s - one_s) / (few_s - one_s):.1f} times the time")
    print(f"each cassette: {(many_s - one_s) / few * 100:.2f} ms, {(many_mb - one_mb) * 1024 / few / 10:.1f} kB")


if __name__ == "__main__":
    main()
