"""The provider's answer, shortened for the text of a failure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llm_conformance.judging.shown.exchange_details import recorded
from llm_conformance.judging.shown.missed import lacking
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import Rule
from llm_conformance.wording import printable

_LONGEST = 1500
_PIECE = 500
_SHOWN = ("status", "fault", "outage", "body")


def answer(exchange: Exchange, rule: Rule) -> Mapping[str, Any]:
    """Return the labelled parts of the recorded answer: status unless 200, fault of the connection, outage, and body.

    A body of more than 1,500 characters is cut to three pieces: the beginning, the end, and the text around an expected
    value of the rule's family that the response lacks.
    """
    replayed = recorded(exchange.scenario, exchange.mode)
    body = excerpt(replayed["body"], lacking(exchange, rule))
    return {name: replayed.get(name) for name in _SHOWN} | {"body": body}


def excerpt(text: str, values: Iterable[Any]) -> str:
    """Return a short text whole, and a long text as its beginning, its end, and the text around one of the values.

    The value is the longest one that is not in the beginning or the end. Control characters are escaped.
    """
    text = "\n".join(map(printable, text.split("\n")))
    if len(text) <= _LONGEST:
        return text
    last = len(text) - _PIECE
    by_length = sorted(values, key=lambda each: -len(str(each)))
    around = next((at for value in by_length for at in _places(text, value) if _PIECE <= at < last), 0)
    shown, end = "", 0
    for start in (0, max(0, around - _PIECE // 2), last):
        shown += f" ... {start - end} characters ... " * (start > end) + text[max(start, end) : start + _PIECE]
        end = start + _PIECE
    return shown


def _places(text: str, value: Any) -> Iterator[int]:
    """Yield the offsets at which a text contains a value, written as in JSON."""
    if isinstance(value, str):
        forms = {re.escape(json.dumps(value, ensure_ascii=is_ascii)[1:-1]) for is_ascii in (False, True)}
        pattern = "|".join(sorted(forms))
    else:
        pattern = rf"(?<![\w.]){re.escape(str(value))}(?![\w.])"
    yield from (found.start() for found in re.finditer(pattern, text))
