"""How the time of code that reads long or untrusted text grows with the size of the text.

    python benchmarks/growth.py [--largest N] [NAME ...]

Makes each input in five sizes. Each size is twice the size before it; the largest is N code points, items or turns.
Prints the milliseconds of CPU time of each size, and the slope of their logarithms over the last three: 1 is linear, 2
is quadratic. Ends with exit code 1 if a slope is above 1.6 and the time above 20 ms, unless `KNOWN` says why.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from adapters import _framing
from adapters._think import ThinkSplitter
from llm_conformance import compare, secrets
from llm_conformance.recording.scrubbing import cleaned
from llm_conformance.reports.findings import findings
from llm_conformance.wire.framings.registry import named
from llm_conformance.yaml_files import reader

SIZES = 5
STEEPEST = 1.6
SHORTEST_MS = 20
"""Less than that may be noise."""
KEYS = [f"acme-q7Rk2VnX9bTz4LmW8c{number:02}Hd" for number in range(20)]
KNOWN = {
    "SSE event without end, in chunks": "sseclient copies what it holds at each line",
}
"""Inputs whose time grows faster, and why."""


def pieces(data: bytes, size: int = 64) -> Iterator[bytes]:
    """Return bytes in chunks, as a connection hands them over."""
    return (data[at : at + size] for at in range(0, len(data), size))


def read(items: Iterable[Any]) -> None:
    """Read all items."""
    for _ in items:
        pass


def split(texts: Iterable[str]) -> None:
    """Split texts into reasoning and visible text."""
    splitter = ThinkSplitter("anywhere")
    for text in texts:
        read(splitter.feed(text))
    read(splitter.end())


def failures(number: int) -> list[dict[str, Any]]:
    """Return failures of one rule in as many scenarios."""
    shared = {"adapter": "a", "status": "fail", "rule": "MSG-2", "provider": "zai", "api": "chat", "mode": "json"}
    shared |= {"method": "parse"}
    return [
        {
            **shared,
            **{
                "scenario": f"zai/{n}",
                "provenance": "synthetic",
                "message": f"expected {n}; got {n + 1}",
                "cause": "c",
            },
            **{"expected": f"the message {n}", "actual": f"{n + 1}", "reproduce": f"pytest --rule=MSG-2 -s {n}"},
        }
        for n in range(number)
    ]


def scenario(turns: int) -> str:
    """Return the messages of a scenario file with many turns."""
    return "messages:\n" + "".join(f"- role: user\n  content: 'Question {n}'\n" for n in range(turns))


READERS: dict[str, Callable[[int], Callable[[], object]]] = {
    "SSE event without end, in chunks": lambda n: lambda: read(_framing.events(pieces(b"data: a\n" * (n // 8)))),
    "SSE line, in chunks": lambda n: lambda: read(_framing.events(pieces(b"data: " + b"a" * n + b"\n\n"))),
    "line, in chunks": lambda n: lambda: read(_framing.lines(pieces(b"a" * n))),
    "item of an array, in chunks": lambda n: (
        lambda: read(_framing.array(pieces(json.dumps([{"a": "b" * n}]).encode())))
    ),
    "SSE event without end, of the suite": lambda n: (
        lambda: read(named("server-sent events").frames(b"data: a\n" * (n // 8)))
    ),
    "think text of many blocks, at once": lambda n: lambda: split(["a<think>b</think>" * (n // 17)]),
    "think text of many blocks, in pieces": lambda n: lambda: split("a<think>b</think>" * (n // 17)),
    "think text of many beginnings of tags": lambda n: lambda: split(["<thin" * (n // 5)]),
    "think block of white space, in pieces": lambda n: lambda: split(["<think>", *" " * n]),
    "parts of 20 keys in a text": lambda n: lambda: cleaned("The answer is 42. " * (n // 18), KEYS),
    "what looks like a secret": lambda n: lambda: secrets.masked("sk-" * (n // 3)),
    "scenario of many turns": lambda n: lambda: reader._read(scenario(n // 100)),
    "first difference of long texts": lambda n: lambda: compare.first_difference("a" * n, "a" * (n - 1) + "b"),
    "findings among many failures": lambda n: lambda: findings(failures(n // 100)),
}


def milliseconds(action: Callable[[], object]) -> float:
    """Return the CPU time of the quicker of two calls."""
    took = []
    for _ in range(2):
        started = time.process_time()
        action()
        took.append((time.process_time() - started) * 1e3)
    return max(min(took), 1e-3)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="measure these alone")
    parser.add_argument("--largest", type=int, default=800_000)
    options = parser.parse_args()
    sizes = [options.largest >> step for step in reversed(range(SIZES))]
    print("".join(f"{size:>10,}" for size in sizes), " slope")
    steep = []
    for name, make in READERS.items():
        if options.names and name not in options.names:
            continue
        took = [milliseconds(make(size)) for size in sizes]
        slope = math.log2(took[-1] / took[-3]) / 2
        print("".join(f"{each:>10.1f}" for each in took), f"{slope:>6.2f}  {name}", flush=True)
        if slope > STEEPEST and took[-1] > SHORTEST_MS and name not in KNOWN:
            steep.append(name)
    for name, why in KNOWN.items():
        print(f"known: {name}: {why}")
    for name in steep:
        print(f"grows faster than its input: {name}")
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
