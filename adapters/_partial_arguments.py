"""Arguments of a streamed Gemini function call: values, each with its JSON path.

https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling: streamFunctionCallArguments
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_STEPS = re.compile(r"[.]([^.\[]+)|\[([0-9]+)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")


class PartialArguments:
    """Puts values into their places, and joins the pieces of texts."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._root: list[Any] = [dict(arguments)]

    @property
    def text(self) -> str:
        """The arguments so far, as JSON."""
        return json.dumps(self._root[0], ensure_ascii=False)

    def feed(self, pieces: Sequence[Mapping[str, Any]]) -> None:
        """Take the pieces of one chunk. A piece without a value only says that its text has ended."""
        for piece in pieces:
            path = [name or quoted or other or int(at) for name, at, quoted, other in _STEPS.findall(piece["jsonPath"])]
            if "stringValue" in piece:
                place, last = self._place(path)
                place[last] = (place[last] or "") + piece["stringValue"]
            elif value := next((key for key in ("numberValue", "boolValue", "nullValue") if key in piece), None):
                place, last = self._place(path)
                place[last] = None if value == "nullValue" else piece[value]

    def _place(self, path: Sequence[str | int]) -> tuple[Any, Any]:
        """Return (the list or object that holds the value at a path, the index or key of this value).

        Missing lists and objects on the way are created.
        """
        place: Any = self._root
        step: str | int = 0
        for deeper in path:
            if place[step] is None:
                place[step] = [] if isinstance(deeper, int) else {}
            place, step = place[step], deeper
            if isinstance(step, int):
                place += [None] * (step + 1 - len(place))
            else:
                place.setdefault(step, None)
        return place, step
