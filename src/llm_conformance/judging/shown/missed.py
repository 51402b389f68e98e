"""Expected values that the library's own object has and the response lacks.

An adapter for another project's library may keep the library's object as the attribute `native` of its response. If
this object has a value that the response lacks, the adapter may have missed the value. Then the failure says nothing
about the library.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llm_conformance.compare import as_json
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios.expected import Expected
from llm_conformance.shims.native import fields

_SHORTEST_TEXT = 4
_SMALLEST_NUMBER = 10  # smaller numbers occur everywhere by chance
_DEEPEST = 40
_MOST_VALUES = 20_000


def missed(exchange: Exchange, rule: Rule) -> str | None:
    """Return where the library's own object has an expected value of the rule's family that the response lacks.

    The place is a JSON pointer into the object, to the longest such value. None if the object has no such value, or if
    the adapter keeps no object.
    """
    native = getattr(exchange.outcome.returned, "native", None)
    if native is None or exchange.outcome.response is None:
        return None
    wanted = lacking(exchange, rule)
    found = [each for each in _leaves(native) if _is_among(each[1], wanted)] if wanted else []
    return max(found, key=lambda each: len(str(each[1])))[0] if found else None


def lacking(exchange: Exchange, rule: Rule) -> list[Any]:
    """Return the expected texts and numbers of the rule's family, without those that the response has."""
    response = exchange.outcome.response
    if response is None:
        return list(_wanted(rule.family, exchange.expected))
    data = {key: value for key, value in response.data.items() if key not in ("usage", "raw_events")}
    counts = response.data.get("usage")
    counts = {key: value for key, value in counts.items() if key != "raw"} if isinstance(counts, Mapping) else {}
    has = [value for _, value in _leaves([data, counts])]
    return [value for value in _wanted(rule.family, exchange.expected) if not _is_among(value, has)]


def _wanted(family: str, expected: Expected) -> Iterator[Any]:
    values: Iterable[Any] = ()
    match family:
        case "MSG":
            values = (expected.message,)
        case "RSN":
            values = (expected.reasoning, [[each.content, each.metadata] for each in expected.segments])
        case "ANN":
            values = ([[each.text, each.data] for each in expected.annotations],)
        case "ATT":
            values = (expected.attachments,)
        case "TOOL":
            values = ([[each.id, each.name, each.arguments] for each in expected.tool_calls],)
        case "USE" if expected.usage is not None:
            values = ({key: value for key, value in expected.usage.to_dict().items() if key != "raw"},)
        case "FIN":
            values = (expected.raw_finish_reasons,)
        case "PRV":
            values = (expected.ids, expected.model, expected.request_id)
    for _, value in _leaves(list(values)):
        if _tells(value):
            yield value


def _tells(value: Any) -> bool:
    """Return True if a value is unlikely to occur by chance."""
    if isinstance(value, str):
        return len(value) >= _SHORTEST_TEXT
    return isinstance(value, int) and not isinstance(value, bool) and value >= _SMALLEST_NUMBER


def _is_among(value: Any, values: Iterable[Any]) -> bool:
    if not _tells(value):
        return False
    parsed = as_json(value)
    return any(
        value == each or (parsed is not value and isinstance(each, str) and parsed == as_json(each)) for each in values
    )


def _leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each text and number in a value, with its JSON pointer. Bytes are base64, as in the contract."""
    left: list[tuple[str, Any, int]] = [("", value, 0)]
    for _ in range(_MOST_VALUES):
        if not left:
            return
        pointer, each, depth = left.pop()
        if isinstance(each, bytes):
            each = base64.b64encode(each).decode()
        if each is None or isinstance(each, str | int | float):
            yield pointer, each
        elif depth < _DEEPEST:
            left += reversed([(f"{pointer}/{key}", inner, depth + 1) for key, inner in _inside(each)])


def _inside(value: Any) -> list[tuple[Any, Any]]:
    """Return (key, value) for each item or field of a library's object; an empty list if it cannot be read."""
    if isinstance(value, list | tuple):
        return list(enumerate(value))
    try:
        return list(fields(value).items())
    except Exception:  # reading the object may run any code of the library
        own = getattr(value, "__dict__", None)
        return [(key, inner) for key, inner in own.items() if key[:1] != "_"] if isinstance(own, dict) else []
