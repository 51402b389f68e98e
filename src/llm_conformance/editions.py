"""The editions of the suite. A rule or a scenario states the edition in which it was new (`since`).

A run may be pinned to an edition. Newer rules and scenarios are judged, but do not fail the run.
"""

from __future__ import annotations

from collections.abc import Iterable

EDITIONS = ("0.1",)
"""All editions, the oldest first: `major.minor` of the suite's versions. No edition is ever removed."""

FIRST, CURRENT = EDITIONS[0], EDITIONS[-1]


def is_newer(since: str, edition: str) -> bool:
    """Return True if edition `since` is newer than `edition`. Raises ValueError for a text without a dot."""
    return _numbers(since) > _numbers(edition)


def any_is_newer(since: Iterable[str], edition: str) -> bool:
    """Return True if any of the editions in `since` is newer than `edition`."""
    return any(is_newer(each, edition) for each in since)


def _numbers(edition: str) -> tuple[int, int]:
    major, minor = edition.split(".")
    return int(major), int(minor)
