"""The form of ids, inferred from examples."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

_SEGMENT = re.compile(r"\{name\}|[A-Za-z0-9]+|[^A-Za-z0-9]")
_CLASSES = ("0-9", "0-9a-f", "0-9A-F", "a-z", "a-z0-9", "A-Z0-9", "A-Za-z0-9")
_WORD = re.compile(r"[a-z]{1,12}")
_HEX = re.compile(r"[a-f]+")
_MASKED = re.compile(r"REDACTED|[xX]{4,}")


def forms(ids: Collection[str]) -> list[str]:
    """Return the forms of ids. Ids with the same separators and words have the same form. Masked ids have none."""
    groups: dict[tuple[str, ...], list[Sequence[str]]] = {}
    for id in sorted(ids):
        segments = _SEGMENT.findall(id)
        if not is_masked(id):
            groups.setdefault(tuple(_kinds(segments)), []).append(segments)
    return [_form(kinds, group) for kinds, group in groups.items()]


def _kinds(segments: Sequence[str]) -> Iterator[str]:
    """Yield the kind of each segment: a separator or a word itself, or `random`."""
    for number, segment in enumerate(segments):
        is_word = _WORD.fullmatch(segment) and len(segments) > 1 and (number == 0 or not _HEX.fullmatch(segment))
        yield segment if is_word or not segment.isalnum() else "random"


def _form(kinds: Sequence[str], group: Sequence[Sequence[str]]) -> str:
    parts = []
    for kind, column in zip(kinds, zip(*group, strict=True), strict=True):
        parts.append(_random(column) if kind == "random" else re.escape(kind) if kind in "()*+?|^${}\\." else kind)
    return "".join(parts)


def _random(column: Sequence[str]) -> str:
    name = next(each for each in _CLASSES if all(re.fullmatch(f"[{each}]+", segment) for segment in column))
    least, most = min(map(len, column)), max(map(len, column))
    return f"[{name}]{{{least}}}" if least == most else f"[{name}]{{{least},{most}}}"


def is_masked(id: str) -> bool:
    """Return True if a recorder has replaced the id."""
    return bool(_MASKED.search(id))
