"""Globs that match exactly a set of scenarios, so that a list of ids stays short."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection, Iterator

from llm_conformance.judging.deviations import GENERATED

_FEWEST = 3
"""The lowest number of scenarios that a glob is written for."""


def globs(wanted: Collection[str], all_ids: Collection[str]) -> list[str]:
    """Return a sorted list of globs and ids. Of the ids in `all_ids`, they match those in `wanted` and no others.

    A glob is the beginning of an id, up to and including a `/` or `-`, followed by `*`. Recordings of a bare cassette
    (ids with a `#`) are listed one by one.
    """
    found: set[str] = set()
    for is_generated in (False, True):
        mine = {id for id in wanted if _is_generated(id) is is_generated}
        others = {id for id in all_ids if _is_generated(id) is is_generated} - mine
        alone = {id for id in mine if "#" in id}
        found |= set(map(glob.escape, alone)) | set(_globs(mine - alone, others, is_generated))
    return sorted(found)


def _globs(mine: Collection[str], others: Collection[str], is_generated: bool) -> Iterator[str]:
    taken = {start for id in others for start in _starts(id, is_generated)}
    left = set(mine)
    for start in sorted({start for id in mine for start in _starts(id, is_generated)} - taken, key=len):
        matched = {id for id in left if id.startswith(start)}
        if len(matched) >= _FEWEST:
            yield f"{glob.escape(start)}*"
            left -= matched
    yield from map(glob.escape, left)


def _is_generated(id: str) -> bool:
    return f"/{GENERATED}-" in id


def _starts(id: str, is_generated: bool) -> Iterator[str]:
    for found in re.finditer(r"[/-]", id):
        if not is_generated or GENERATED in id[: found.end()]:
            yield id[: found.end()]
