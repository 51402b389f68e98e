"""Turn what an adapter returns into exact JSON values, so that the suite need not touch the adapter's objects again.

A subclass of `str` may say that it equals everything, a property may raise, and JSON may not accept a number of another
library. A value that JSON does not have becomes an `Odd`. No schema accepts an `Odd`, and its repr names the original
value.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections import UserString
from collections.abc import Mapping, Sequence
from typing import Any

from llm_conformance.compare import shown

_DEEPEST = 200
_LONGEST_INT_BITS = 4096
"""In bits. Python does not write longer numbers into JSON."""
_TEXTS = (bytearray, memoryview, UserString)
"""Sequences that are texts or bytes, not lists."""
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+(?=>)")
"""The end of the repr of most objects. It differs in each run."""
_MARK = "$llm-conformance"
"""An object with only this key represents a value that JSON does not have."""
_ESCAPED_ASCII = "\\u00"
"""How escapes of the mark's characters begin. Programs in other languages may write `\\u0024` for `$`."""


class NoMappingError(TypeError):
    """The returned value is not a mapping, and cannot be read as a mapping."""


class Odd:
    """A value that JSON does not have.

    Args:
        what: What the value was, such as `numpy.int64`.
    """

    def __init__(self, what: str) -> None:
        self.what = what

    def __repr__(self) -> str:
        """Return what the value was."""
        return f"<{self.what}>"


class Kept:
    """Stands for an object that the adapter's process keeps: an earlier answer in a later call.

    Args:
        number: The number of the object in that process.
    """

    def __init__(self, number: int) -> None:
        self.number = number


def as_mapping(value: Any) -> dict[str, Any]:
    """Return a mapping, a dataclass, or an object with `to_dict` or `model_dump` as a dict of exact JSON values.

    Raises NoMappingError for any other object. Reading the object may raise anything else.
    """
    result = value
    if not isinstance(value, Mapping):
        if callable(getattr(value, "to_dict", None)):
            result = value.to_dict()
        elif not (dataclasses.is_dataclass(value) and not isinstance(value, type)):
            dump = getattr(value, "model_dump", None)
            result = dump(mode="json") if callable(dump) else None
    made = exact(result)
    if not isinstance(made, dict):
        raise NoMappingError(
            f"{_described(value)}, which is neither a mapping nor an object with to_dict, model_dump or fields"
        )
    return made


def exact(value: Any, depth: int = 0) -> Any:
    """Return a value made only of dict, list, str, int, float, bool, bytes, None, and Odd for everything else.

    Instances of subclasses become instances of these types. Mappings and dataclasses become dicts, and sequences become
    lists.
    """
    kind: type = type(value)
    if kind is str or kind is bool or value is None or kind is float or kind is bytes:
        return value
    if kind is int:
        return value if value.bit_length() <= _LONGEST_INT_BITS else Odd(f"an int of {value.bit_length()} bits")
    if depth > _DEEPEST:
        return Odd(f"a value nested deeper than {_DEEPEST}")
    if kind is dict:
        return dict(_item(key, item, depth + 1) for key, item in value.items())
    if kind is list or kind is tuple:
        return [exact(item, depth + 1) for item in value]
    return _of_another_kind(value, kind, depth)


def _of_another_kind(value: Any, kind: type, depth: int) -> Any:
    for builtin, convert in ((str, str.__str__), (bool, bool), (int, int.__int__), (float, float.__float__)):
        if issubclass(kind, builtin):
            return exact(convert(value), depth)
    if issubclass(kind, bytes):
        return bytes.__getitem__(value, slice(None))
    if dataclasses.is_dataclass(kind):
        return {field.name: exact(getattr(value, field.name), depth + 1) for field in dataclasses.fields(kind)}
    if isinstance(value, Mapping):
        return dict(_item(key, value[key], depth + 1) for key in value)
    if isinstance(value, Sequence) and not issubclass(kind, _TEXTS):
        return [exact(item, depth + 1) for item in value]
    return Odd(kind_of(value))


def _item(key: Any, value: Any, depth: int) -> tuple[str, Any]:
    """Return (key, value) of a mapping's item. JSON keys are texts, so the value of any other key becomes an Odd."""
    if isinstance(key, str):
        return str.__str__(key), exact(value, depth)
    return shown(key), Odd(f"a value whose key is of the type {kind_of(key)}")


def kind_of(value: Any) -> str:
    """Return the name of a value's class, with its module unless it is Python's own."""
    kind = type(value)
    name: str = type.__dict__["__qualname__"].__get__(kind)  # a metaclass may have a property `__qualname__`
    module = kind.__dict__.get("__module__")
    return f"{module}.{name}" if isinstance(module, str) and module != "builtins" else name


def _described(value: Any) -> str:
    text = _ADDRESS.sub("", shown(value))
    return f"{kind_of(value).rpartition('.')[2]} {text if len(text) <= 80 else text[:80] + ' ...'}"


def to_line(value: Any) -> bytes:
    """Return an exact value as one line of JSON. Bytes, Odd and Kept become objects with the key `_MARK`."""
    return _TO_JSON(value).encode("ascii") + b"\n"


def _marked(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_MARK: ["bytes", base64.b64encode(value).decode("ascii")]}
    if isinstance(value, Odd):
        return {_MARK: ["odd", value.what]}
    if isinstance(value, Kept):
        return {_MARK: ["kept", value.number]}
    raise TypeError(f"a line has no {kind_of(value)}")


def of_line(line: bytes | str) -> Any:
    """Return the value of a line. Raises ValueError or RecursionError if it is not JSON."""
    text = line if isinstance(line, str) else line.decode("utf-8")
    may_have_a_mark = _MARK in text or _ESCAPED_ASCII in text
    return (_OF_JSON if may_have_a_mark else _OF_PLAIN_JSON)(text)


def _unmarked(found: dict[str, Any]) -> Any:
    match found.get(_MARK) if len(found) == 1 else None:
        case ["bytes", str(text)]:
            return _bytes_of(text)
        case ["odd", str(what)]:
            return Odd(what)
        case ["kept", int(number)]:
            return Kept(number)
    return found


def _bytes_of(text: str) -> bytes | Odd:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return Odd("bytes that are not in base64")


# Made once on import, so that an adapter that patches `json` does not break the protocol.
_TO_JSON = json.JSONEncoder(default=_marked).encode
_OF_JSON = json.JSONDecoder(object_hook=_unmarked).decode
_OF_PLAIN_JSON = json.JSONDecoder().decode  # faster, as it calls nothing for each object
