"""The ways to cut a stream that the option `--cuts` can name.

The names are byte offsets (`12,57`), `/3` for a cut after every 3 bytes, and `none`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST = 2000
"""The most cuts that `/3` and the like make. Each piece is a write to a socket."""

_NONE = "none"
_FORM = re.compile(rf"{_NONE}|/[1-9]\d*|[1-9]\d*(?:,[1-9]\d*)*")


def is_well_formed(name: str) -> bool:
    """Return True if a text names a way to cut streams."""
    return bool(_FORM.fullmatch(name))


def named(name: str, length: int) -> tuple[int, ...]:
    """Return the byte offsets that a name means for a stream of `length` bytes, in rising order."""
    if name == _NONE:
        return ()
    if name.startswith("/"):
        return every(int(name[1:]), length)
    return tuple(sorted({int(each) for each in name.split(",") if int(each) < length}))


def name_of(cuts: Sequence[int], length: int) -> str:
    """Return the name of cuts (byte offsets) in a stream of `length` bytes."""
    if not cuts:
        return _NONE
    return f"/{cuts[0]}" if tuple(cuts) == every(cuts[0], length) else ",".join(map(str, cuts))


def every(size: int, length: int) -> tuple[int, ...]:
    """Return the offsets of cuts after every `size` bytes."""
    last = length - 1
    return tuple(range(size, min(last, size * MOST) + 1, size))
