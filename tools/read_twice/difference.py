"""A difference between an expected value and the value that an SDK read."""

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
        field: The name of the value, such as `text` or `usage: prompt_tokens`. It is `error` if only one side is an
            error.
        shape: Which side has a value.
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
        """Both values, as they are listed."""
        return f"{self.ours} | {self.theirs}"

    @property
    def headline(self) -> str:
        """The line under which the recordings of an API with the same kind of difference are listed."""
        return f"{self.api} {self.mode}: {self.field}, {self.shape}"


def shape_of(ours: Any, theirs: Any) -> Shape:
    """Return which side has a value. 0 counts as a value; empty texts, lists and objects do not."""
    if theirs is None or theirs in ("", [], {}):
        return "only ours"
    return "only the SDK's" if ours is None or ours in ("", [], {}) else "not the same"


def shown(value: Any, other: Any = None) -> str:
    """Return a shortened value for a list. If both values are texts, start shortly before the first difference."""
    if isinstance(value, str) and isinstance(other, str):
        same = next((at for at, (one, two) in enumerate(zip(value, other, strict=False)) if one != two), None)
        start = max(0, (min(len(value), len(other)) if same is None else same) - 20)
        value = ("..." if start else "") + value[start:]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return repr(text if len(text) <= 90 else f"{text[:87]}...")[1:-1]
