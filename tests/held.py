"""A table of what the suite withstands in each isolation.

    python -m tests.held

It counts the functions of `tests/hostile/` and `tests/escapes/` by what is expected of each. The tests there prove it.
"""

from __future__ import annotations

import importlib
from collections import Counter

from tests.escapes.ways import WAYS
from tests.hostile.expected import BATTERY


def table() -> str:
    """Return the table as Markdown."""
    importlib.import_module("tests.hostile.adapter")
    seen = Counter(way.seen_by_hook for way in WAYS.values())
    spoilt = sum(bool(hostile.spoils) for hostile in BATTERY.values())
    rows = {
        "misbehaving adapters: the call ends with a verdict of its own": (len(BATTERY),) * 3,
        "misbehaving adapters: the next call of the same adapter is right": (
            len(BATTERY),
            *(len(BATTERY) - spoilt,) * 2,
        ),
        "ways out by Python's own code: nothing leaves": (seen[True],) * 3,
        "ways out by another program or by calls of C: nothing leaves": (seen[False], seen[False], 0),
    }
    lines = (f"| {' | '.join([what, *map(str, numbers)])} |" for what, numbers in rows.items())
    return "\n".join(["| | tried | `namespace` | `process` |", "|---|---:|---:|---:|", *lines])


if __name__ == "__main__":
    print(table())
