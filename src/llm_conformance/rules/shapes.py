"""Check the values that adapters return against the schemas of the contract.

Nearly all values are valid, and a quick check accepts them (`llm_conformance.schema.quick`). For the invalid values,
the slower jsonschema says what is wrong. Many of them come again, because rules compare exchanges, and the suite cuts a
stream in many ways. So the results are kept: to look up a result takes a hundredth of the time.
"""

from __future__ import annotations

import functools
import marshal
from collections.abc import Sequence
from typing import Any

from llm_conformance import schema
from llm_conformance.toml_files import Where

_WITHOUT_REFERENCES = 2
"""The version of marshal's format in which equal values are the same bytes."""


def problems(name: str, value: Any) -> tuple[tuple[Where, str], ...]:
    """Return every violation of a schema by a value, as `schema.problems` does."""
    if schema.quick_check(name)(value):
        return ()
    try:
        written = marshal.dumps(value, _WITHOUT_REFERENCES)
    except ValueError:  # it is no JSON value, or contains itself
        return tuple(schema.problems(name, value))
    return _problems(name, written)


def sentence(found: Sequence[tuple[Where, str]], most: int = 1) -> str:
    """Return what is wrong with a value: the first `most` problems, and the number of the others."""
    places = (f"/{'/'.join(map(str, where))} " if where else "" for where, _ in found[:most])
    shown = [f"{place}{message}" for place, (_, message) in zip(places, found, strict=False)]
    more = len(found) - len(shown)
    return "; ".join([*shown, f"and {more} more"] if more else shown)


@functools.lru_cache(maxsize=2048)
def _problems(name: str, written: bytes) -> tuple[tuple[Where, str], ...]:
    return tuple(schema.problems(name, marshal.loads(written)))  # noqa: S302 - written above
