"""Token counts of summaries: a provider may summarise a conversation before it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SUMMED = ("message", "compaction")


def with_compactions(raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return Claude's usage object with the counts of its summaries added; None if there is no summary.

    Anthropic bills the summaries, reports their counts only in `iterations`, and says to add them up for the total:
    <https://platform.claude.com/docs/en/build-with-claude/compaction#understanding-usage>.
    """
    iterations = raw.get("iterations")
    summed = [
        each
        for each in (iterations if isinstance(iterations, list) else ())
        if isinstance(each, Mapping) and each.get("type") in _SUMMED
    ]
    if not any(each["type"] == "compaction" for each in summed):
        return None
    names = {name for each in summed for name, count in each.items() if _is_count(count)}
    return {**raw, **{name: sum(count for each in summed if _is_count(count := each.get(name))) for name in names}}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
