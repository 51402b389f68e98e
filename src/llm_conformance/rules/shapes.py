"""What the schemas of the contract say of values that adapters return.

Nearly all values are valid, which takes little to see (`llm_conformance.schema.quick`). Only jsonschema can say what is
wrong with a value. Such values come again: rules compare exchanges with others, and each stream is cut in many ways. To
look one up takes a hundredth of the time.
"""

from __future__ import annotations

import functools
import marshal
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
    except ValueError:  # it is no JSON value, or has itself within it
        return tuple(schema.problems(name, value))
    return _problems(name, written)


@functools.lru_cache(maxsize=2048)
def _problems(name: str, written: bytes) -> tuple[tuple[Where, str], ...]:
    return tuple(schema.problems(name, marshal.loads(written)))  # noqa: S302 - written above
