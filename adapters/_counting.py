"""Token counts of OpenAI-shaped usage objects: the place of each count, and what the totals leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract import Usage

Path = tuple[str, ...]


@dataclass(frozen=True)
class Counting:
    """How one provider counts tokens. An empty path means that the provider does not report the count.

    Args:
        cached: Path of the prompt tokens that were read from a cache.
        cache_written: Path of the prompt tokens that were written to a cache.
        reasoned: Path of the completion tokens that are reasoning.
        prompt_beside: Path of prompt tokens that `prompt_tokens` leaves out.
        reasoning_apart: Whether `completion_tokens` leaves out the reasoning.
        hides_thoughts: Whether only `total_tokens` includes hidden thoughts.
    """

    cached: Path = ("prompt_tokens_details", "cached_tokens")
    cache_written: Path = ()
    reasoned: Path = ("completion_tokens_details", "reasoning_tokens")
    prompt_beside: Path = ()
    reasoning_apart: bool = False
    hides_thoughts: bool = False

    def usage(self, raw: Mapping[str, Any]) -> Usage | None:
        """Return the counts of a usage object, or None if it has no counts."""
        prompt, completion, total = (raw.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
        if prompt is None and completion is None and total is None:
            return None
        if self.hides_thoughts:
            completion = None if total is None or prompt is None or total < prompt else total - prompt
        if prompt is not None:
            prompt += at(raw, self.prompt_beside) or 0
        if self.reasoning_apart and completion is not None:
            completion += at(raw, self.reasoned) or 0
        if total is None and prompt is not None and completion is not None:
            total = prompt + completion
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=completion,
            total_tokens=total,
            cached_tokens=at(raw, self.cached),
            cache_write_tokens=at(raw, self.cache_written),
            reasoning_tokens=at(raw, self.reasoned),
            audio_prompt_tokens=at(raw, ("prompt_tokens_details", "audio_tokens")),
            audio_completion_tokens=at(raw, ("completion_tokens_details", "audio_tokens")),
            raw=raw,
        )


OPENAI = Counting()
WITH_CACHE_WRITES = Counting(cache_written=("prompt_tokens_details", "cache_write_tokens"))
"""OpenAI's counts, with the tokens that were written to a cache. Azure, Bedrock and local servers have them, too."""


def at(value: Any, path: Path) -> Any:
    """Return the value at a path; None if there is none or the path is empty."""
    for key in path:
        value = (value or {}).get(key)
    return value if path else None
