"""Ids in the forms that a provider gives them.

A form is a regular expression of only literal characters and repeated character classes, such as
`call_[A-Za-z0-9]{24}`. In the id of a tool call, `{name}` is the name of the tool, and `{number}` is the number of the
call in its answer, as in `{name}_{number}`.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator, Mapping

from hypothesis.strategies import DrawFn

from llm_conformance.generate.chance import pick
from llm_conformance.wire.providers.api import Api

_PART = re.compile(
    r"\[(?P<set>[^\]]+)\](?:\{(?P<least>\d+)(?:,(?P<most>\d+))?\})?|\{(?P<blank>name|number)\}|\\?(?P<literal>.)"
)
_RANGE = re.compile(r"(.)-(.)|(.)")


def draw_id(draw: DrawFn, api: Api, kind: str, number: int = 0, name: str = "") -> str:
    """Draw an id in one of the forms of an API. Different numbers give different ids of the same kind.

    If the provider table has no form for the kind, the id is `<kind>-<number>`.

    Args:
        draw: Hypothesis' `draw`.
        api: The API.
        kind: The kind of the id, as in the column `ids`.
        number: The number of the thing that the id identifies, from 0.
        name: For the id of a tool call, the name of the tool.
    """
    forms = api.ids.get(kind, ())
    return example(pick(draw, *forms), number, name) if forms else f"{kind}-{number}"


def has_form(api: Api, kind: str, id: str, name: str = "") -> bool:
    """Return True if an id has one of the forms of an API, or if the API has none for the kind."""
    forms = api.ids.get(kind, ())
    patterns = (form.replace("{name}", re.escape(name)).replace("{number}", "[0-9]+") for form in forms)
    return not forms or any(re.fullmatch(pattern, id) for pattern in patterns)


@functools.cache
def example(form: str, number: int, name: str = "") -> str:
    """Return an id of a form. It is always the same for the same number and name."""
    chance = random.Random(f"{form} {number}")  # noqa: S311 - these ids are no secrets
    return "".join(_parts(form, {"name": name, "number": str(number)}, chance))


def _parts(form: str, blanks: Mapping[str, str], chance: random.Random) -> Iterator[str]:
    for part in _PART.finditer(form):
        if part["set"] is None:
            yield blanks[part["blank"]] if part["blank"] else part["literal"]
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
