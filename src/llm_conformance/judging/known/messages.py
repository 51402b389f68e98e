"""The part of a failure's cause that an entry quotes as its `message`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llm_conformance import secrets
from llm_conformance.judging.deviations import ANYTHING, is_part

_LONGEST = 160
_EXCEPTION = re.compile(r"(?P<type>[\w.]+(?: from [\w.]+)?) in (?P<path>\S+):\d+ [^\s,]+(?P<field>, .+)?")


def stable_part(cause: str) -> str | None:
    """Return the part of a cause that is the same in later runs; None if there is none.

    For an exception it is the class and the end of the file's path, because line numbers change and a package may be
    installed elsewhere.
    """
    place = _EXCEPTION.fullmatch(cause)
    if place is None:
        shown = secrets.hide(cause)
        same = next((at for at, (one, other) in enumerate(zip(cause, shown, strict=False)) if one != other), len(cause))
        cut = cause[:same]
        return (cut if len(cut) <= _LONGEST else cut[:_LONGEST].rpartition(" ")[0]).strip() or None
    *parents, file = place["path"].split("/")
    start = ANYTHING if len(parents) > 1 else ""
    end = f"{ANYTHING}{place['field']}" if place["field"] else ""
    return f"{place['type']} in {start}{'/'.join([*parents[-1:], file])}{end}"


def widest(parts: Iterable[str]) -> dict[str, str]:
    """Map each part to its replacement.

    A part may contain other parts, and it contains itself. The replacement is the one of these that most parts contain.
    """
    found = sorted(set(parts))
    within = {part: [each for each in found if is_part(part, each)] for part in found}
    order = sorted(found, key=lambda part: (-len(within[part]), len(part), part))
    return {part: next(each for each in order if part in within[each]) for part in found}
