"""A difference between an expected value and what an SDK read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

Shape = Literal["only ours", "only the SDK's", "not the same"]


@dataclass(frozen=True)
class Difference:
    """One difference.

    Attributes:
        api: `provider:api`.
        recording: The id of the scenario or the recording.
        mode: `json` or `stream`.
        field: The value, such as `text` or `usage: prompt_tokens`. `error`: one of the two is an error.
        shape: Which of the two has a value.
        ours: The expected value, shortened.
        theirs: What the SDK read, shortened.
    """

    api: str
    recording: str
    mode: str
    field: str
    shape: Shape
    ours: str
    theirs: str

    @property
    def found(self) -> str:
        """What is listed of both."""
        return f"{self.ours} | {self.theirs}"

    @property
    def headline(self) -> str:
        """What is the same for all recordings of an API."""
        return f"{self.api} {self.mode}: {self.field}, {self.shape}"


def shape_of(ours: Any, theirs: Any) -> Shape:
    """Return which of two different values is there. Empty texts and lists are not; 0 is."""
    if theirs is None or theirs in ("", [], {}):
        return "only ours"
    return "only the SDK's" if ours is None or ours in ("", [], {}) else "not the same"


def shown(value: Any, other: Any = None) -> str:
    """Return a value for a list, shortened; of two texts, from a little before the place where they differ."""
    if isinstance(value, str) and isinstance(other, str):
        same = next((at for at, (one, two) in enumerate(zip(value, other, strict=False)) if one != two), None)
        start = max(0, (min(len(value), len(other)) if same is None else same) - 20)
        value = ("..." if start else "") + value[start:]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return repr(text if len(text) <= 90 else f"{text[:87]}...")[1:-1]
