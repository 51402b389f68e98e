"""Ids in the forms that a provider gives them.

A form is a pattern of literal characters and character classes, such as `call_[A-Za-z0-9]{24}`. It is a regular
expression, so a recogniser can match it; there is nothing else in it, so an example is easily made.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator

from hypothesis.strategies import DrawFn

from llm_conformance.generate.chance import pick
from llm_conformance.wire.providers.api import Api

_PART = re.compile(r"\[(?P<set>[^\]]+)\](?:\{(?P<least>\d+)(?:,(?P<most>\d+))?\})?|\\?(?P<literal>.)")
_RANGE = re.compile(r"(.)-(.)|(.)")


def draw_id(draw: DrawFn, api: Api, kind: str, number: int = 0) -> str:
    """Draw an id in one of the forms of an API. Another `number` gives another id of the same kind.

    A provider whose row has no form for the kind is given `<kind>-<number>`.
    """
    forms = api.ids.get(kind, ())
    return example(pick(draw, *forms), number) if forms else f"{kind}-{number}"


def has_form(api: Api, kind: str, id: str) -> bool:
    """Return True if an id has one of the forms of an API, or if its row has no form for the kind."""
    forms = api.ids.get(kind, ())
    return not forms or any(re.fullmatch(form, id) for form in forms)


@functools.cache
def example(form: str, number: int) -> str:
    """Return an id of a form, always the same for the same number."""
    chance = random.Random(f"{form} {number}")  # noqa: S311 - these ids are no secrets
    return "".join(_parts(form, chance))


def _parts(form: str, chance: random.Random) -> Iterator[str]:
    for part in _PART.finditer(form):
        if part["set"] is None:
            yield part["literal"]
            continue
        least = int(part["least"] or 1)
        length = chance.randint(least, int(part["most"] or least))
        yield "".join(chance.choice(_characters(part["set"])) for _ in range(length))


@functools.cache
def _characters(inner: str) -> str:
    found: list[str] = []
    for each in _RANGE.finditer(inner):
        first, last, single = each.groups()
        found += [single] if single else [chr(code) for code in range(ord(first), ord(last) + 1)]
    return "".join(found)
