"""Arguments of a streamed call that are sent value by value, as pieces of `partialArgs` with JSON paths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.generate import texts
from llm_conformance.generate.answers import Call
from llm_conformance.generate.chance import either

Fields = dict[str, Any]


def can_be_in_pieces(call: Call) -> bool:
    """Return True if the arguments have values, but no empty list or object, because no path can name these."""
    return _has_values(json.loads(call.arguments or "{}"))


def in_pieces(draw: DrawFn, call: Call) -> Iterator[Fields]:
    """Draw the `functionCall`s that send a call. The first has the name; the last is empty or has the last value."""
    yield _identified(call) | {"willContinue": True}
    pieces = [
        {"partialArgs": [piece], "willContinue": True} for piece in _pieces(draw, "$", json.loads(call.arguments))
    ]
    if either(draw):
        yield from pieces
        yield {}
    else:
        yield from pieces[:-1]
        yield {"partialArgs": pieces[-1]["partialArgs"]}


def _identified(call: Call) -> Fields:
    return {"name": call.name} if call.id is None else {"id": call.id, "name": call.name}


def _has_values(value: Any) -> bool:
    if isinstance(value, dict | list):
        return bool(value) and all(map(_has_values, value.values() if isinstance(value, dict) else value))
    return True


def _pieces(draw: DrawFn, path: str, value: Any) -> Iterator[Fields]:
    """Draw the pieces of a value. A text has several pieces, of which the last one is empty."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _pieces(draw, f"{path}.{name}", each)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _pieces(draw, f"{path}[{number}]", each)
    elif isinstance(value, str):
        for piece in texts.pieces(draw, value):
            yield {"jsonPath": path, "stringValue": piece, "willContinue": True}
        yield {"jsonPath": path, "stringValue": ""}
    elif value is None:
        yield {"jsonPath": path, "nullValue": "NULL_VALUE"}
    else:
        yield {"jsonPath": path, "boolValue" if isinstance(value, bool) else "numberValue": value}
