"""What OpenAI-shaped usage objects come to: where each count stands, and what the whole counts leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract import Usage

Path = tuple[str, ...]


@dataclass(frozen=True)
class Counting:
    """How one provider counts. A path of no names leads nowhere.

    Args:
        cached: Where the prompt tokens are that were read from a cache.
        cache_written: Where those are that were written to one.
        reasoned: Where the completion tokens are that are reasoning.
        prompt_beside: Where the prompt tokens are that `prompt_tokens` leaves out.
        reasoning_apart: Whether `completion_tokens` leaves reasoning out.
        hides_thoughts: Whether thoughts that are not shown are counted in the total alone.
    """

    cached: Path = ("prompt_tokens_details", "cached_tokens")
    cache_written: Path = ()
    reasoned: Path = ("completion_tokens_details", "reasoning_tokens")
    prompt_beside: Path = ()
    reasoning_apart: bool = False
    hides_thoughts: bool = False

    def usage(self, raw: Mapping[str, Any]) -> Usage | None:
        """Return the counts of a usage object; None where it has none."""
        asked, answered, total = (raw.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
        if asked is None and answered is None and total is None:
            return None
        if self.hides_thoughts:
            answered = None if total is None or asked is None or total < asked else total - asked
        if asked is not None:
            asked += at(raw, self.prompt_beside) or 0
        if self.reasoning_apart and answered is not None:
            answered += at(raw, self.reasoned) or 0
        if total is None and asked is not None and answered is not None:
            total = asked + answered
        return Usage(
            prompt_tokens=asked,
            completion_tokens=answered,
            total_tokens=total,
            cached_tokens=at(raw, self.cached),
            cache_write_tokens=at(raw, self.cache_written),
            reasoning_tokens=at(raw, self.reasoned),
            audio_prompt_tokens=at(raw, ("prompt_tokens_details", "audio_tokens")),
            audio_completion_tokens=at(raw, ("completion_tokens_details", "audio_tokens")),
            raw=raw,
        )


OPENAI = Counting()


def at(value: Any, path: Path) -> Any:
    """Return what stands at a path, None if nothing does, or the path is empty."""
    for key in path:
        value = (value or {}).get(key)
    return value if path else None
