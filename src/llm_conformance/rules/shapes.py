"""What the schemas of the contract say of values that adapters return.

Nearly all values are valid, which takes little to see: each part of a schema is made a function once, some twenty times
as quick as jsonschema. Only jsonschema can say what is wrong with a value. Such values come again: rules compare
exchanges with others, and each stream is cut in many ways. To look one up takes a hundredth of the time.
"""

from __future__ import annotations

import functools
import marshal
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llm_conformance import schema
from llm_conformance.toml_files import Where

_WITHOUT_REFERENCES = 2
"""The version of marshal's format in which equal values are the same bytes."""


def problems(name: str, value: Any) -> tuple[tuple[Where, str], ...]:
    """Return every violation of a schema by a value, as `schema.problems` does."""
    if is_valid(name)(value):
        return ()
    try:
        written = marshal.dumps(value, _WITHOUT_REFERENCES)
    except ValueError:  # it is no JSON value, or has itself within it
        return tuple(schema.problems(name, value))
    return _problems(name, written)


@functools.cache
def is_valid(name: str) -> Check:
    """Return a function that tells quickly whether a value is valid. `name` is that of a file in `schemas/`.

    Raises UnknownKeywordError if the schema has a keyword that is not known here.
    """
    whole = schema.document(name)
    return check(whole, str(whole["$id"]), schema.part)


@functools.lru_cache(maxsize=2048)
def _problems(name: str, written: bytes) -> tuple[tuple[Where, str], ...]:
    return tuple(schema.problems(name, marshal.loads(written)))  # noqa: S302 - written above


Check = Callable[[Any], bool]
Find = Callable[[str], Any]
"""Returns the schema that a `$ref` means, which must not begin with `#`."""

_TYPES: Mapping[str, Check] = {
    "string": lambda value: isinstance(value, str),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}

_SAYS_NOTHING = frozenset({"$schema", "$id", "$defs", "title", "description", "then", "else"})


class UnknownKeywordError(ValueError):
    """A schema has a keyword that is not known here."""


def check(schema: Mapping[str, Any], base: str, find: Find) -> Check:
    """Return a function that tells whether a value is valid.

    Args:
        schema: The schema, which must not refer to itself.
        base: The name of its document, to which its references are relative.
        find: See `Find`.

    Raises:
        UnknownKeywordError: It has a keyword that is not known here.
    """
    checks = []
    for keyword, said in schema.items():
        if keyword == "$ref":
            name, _, pointer = said.partition("#")
            other = name or base
            checks.append(check(find(f"{other}#{pointer}"), other, find))
        elif keyword == "if":
            branches = (check(schema.get(each, {}), base, find) for each in ("if", "then", "else"))
            checks.append(_conditional(*branches))
        elif keyword in _OF_PARTS:
            checks.append(_OF_PARTS[keyword](said, lambda part: check(part, base, find)))
        elif keyword in _OF_VALUES:
            checks.append(_OF_VALUES[keyword](said))
        elif keyword not in _SAYS_NOTHING:
            raise UnknownKeywordError(keyword)
    return checks[0] if len(checks) == 1 else _all(checks)


def _all(checks: Sequence[Check]) -> Check:
    def is_valid(value: Any) -> bool:
        for each in checks:  # noqa: SIM110 - `all` with a generator takes twice as long
            if not each(value):
                return False
        return True

    return is_valid


def _any(checks: Sequence[Check]) -> Check:
    return lambda value: any(each(value) for each in checks)


def _conditional(condition: Check, then: Check, otherwise: Check) -> Check:
    return lambda value: then(value) if condition(value) else otherwise(value)


def _properties(checks: Mapping[str, Check]) -> Check:
    def is_valid(value: Any) -> bool:
        if isinstance(value, dict):
            for key, item in value.items():
                each = checks.get(key)
                if each is not None and not each(item):
                    return False
        return True

    return is_valid


def _items(each: Check) -> Check:
    return lambda value: not isinstance(value, list) or all(map(each, value))


def _type(names: str | Sequence[str]) -> Check:
    return _TYPES[names] if isinstance(names, str) else _any([_TYPES[name] for name in names])


def _enum(allowed: Sequence[Any]) -> Check:
    if not all(each is None or isinstance(each, str) for each in allowed):
        raise UnknownKeywordError("enum, with values that are not text")
    return lambda value: (value is None or isinstance(value, str)) and value in allowed


def _required(names: Sequence[str]) -> Check:
    return lambda value: not isinstance(value, dict) or all(name in value for name in names)


def _pattern(pattern: str) -> Check:
    found = re.compile(pattern).search
    return lambda value: not isinstance(value, str) or found(value) is not None


_OF_PARTS: Mapping[str, Callable[[Any, Callable[[Any], Check]], Check]] = {
    "properties": lambda said, make: _properties({key: make(part) for key, part in said.items()}),
    "items": lambda said, make: _items(make(said)),
    "allOf": lambda said, make: _all([make(part) for part in said]),
    "anyOf": lambda said, make: _any([make(part) for part in said]),
}
_OF_VALUES: Mapping[str, Callable[[Any], Check]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda said: _enum([said]),
    "required": _required,
    "pattern": _pattern,
    "minLength": lambda least: lambda value: not isinstance(value, str) or len(value) >= least,
    "minItems": lambda least: lambda value: not isinstance(value, list) or len(value) >= least,
    "minimum": lambda least: lambda value: not (_TYPES["number"](value) and value < least),  # NaN is not less
}
