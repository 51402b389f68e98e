"""Arguments of a tool call that are sent value by value, each with its JSON path.

    {"jsonPath": "$.ports[0].name", "stringValue": "Bre", "willContinue": true}

A later piece with the same path continues a string. Numbers, booleans and null are sent whole. Vertex AI sends such
pieces as `functionCall.partialArgs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_STEP = re.compile(r"""\.(?P<name>[^.\[\]]+)|\[(?P<position>\d+)\]|\[(?P<quote>["'])(?P<quoted>.*?)(?P=quote)\]""")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


def extended(arguments: Any, pieces: Iterable[Mapping[str, Any]]) -> Any:
    """Return the arguments with the pieces put into their places."""
    for piece in pieces:
        kind = next((name for name in _VALUES if name in piece), None)
        if kind is not None:
            value = None if kind == "nullValue" else piece[kind]
            arguments = _placed(arguments, _steps(piece["jsonPath"]), value)
    return arguments


def _steps(json_path: str) -> list[str | int]:
    """Return the steps of a normalized JSON path: field names and positions in lists."""
    if not json_path.startswith("$") or _STEP.sub("", json_path[1:]):
        raise ValueError(f"not a JSON path: {json_path!r}")
    return [
        int(step["position"]) if step["position"] else step["name"] or step["quoted"]
        for step in _STEP.finditer(json_path)
    ]


def _placed(whole: Any, steps: list[str | int], value: Any) -> Any:
    """Return `whole` with a value at the end of the steps. A string that is already there is continued."""
    if not steps:
        return whole + value if isinstance(whole, str) and isinstance(value, str) else value
    step, *deeper = steps
    if isinstance(step, int):
        items = list(whole) if isinstance(whole, list) else []
        items += [None] * (step + 1 - len(items))
        items[step] = _placed(items[step], deeper, value)
        return items
    fields = dict(whole) if isinstance(whole, Mapping) else {}
    fields[step] = _placed(fields.get(step), deeper, value)
    return fields
