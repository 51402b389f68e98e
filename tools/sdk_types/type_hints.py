"""Compare JSON documents with Python types: pydantic models, dataclasses, TypedDicts, literals, enums, unions.

SDKs accept more than their types say: their models keep unknown fields, and their unions fall back to a first member.
This comparison is strict instead. Only a union with `str` beside its literals accepts other values.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from tools.sdk_types.difference import Difference, child, shown

_SCALARS: Mapping[type, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (int, float), str: (str,)}
_TEXTS = (bytes, datetime.datetime, datetime.date)
_LISTS = (list, set, frozenset, tuple, Sequence)
_NOT_JSON = ("Unset", "NotGiven", "Omit", "Undefined", "IO", "PathLike")
"""Names of classes whose values are not JSON: a field that is not sent, or a file that the SDK reads."""
_CATCH_ALL = ("Unrecognized", "Unknown")
"""The names of classes begin like this if they take what no other member of a union takes."""


@dataclasses.dataclass(frozen=True)
class Field:
    """A field of an object type."""

    annotation: Any
    required: bool

    @functools.cached_property
    def tag(self) -> Any:
        """The only value that the field may have besides null; None if it may have several."""
        plain = _plain(self.annotation)
        is_union = typing.get_origin(plain) in (typing.Union, types.UnionType)
        members = [each for each in (_members(plain) if is_union else [plain]) if each is not types.NoneType]
        values = typing.get_args(members[0]) if len(members) == 1 and typing.get_origin(members[0]) is Literal else ()
        return _bare(values[0]) if len(values) == 1 else None


def differences(value: Any, annotation: Any, pointer: str = "") -> Iterator[Difference]:
    """Yield the differences between a JSON value and a type. Raises TypeError for an unknown kind of type."""
    kind = _plain(annotation)
    origin = typing.get_origin(kind) or kind
    arguments = typing.get_args(kind)
    if kind in (Any, object):
        return
    if origin in (typing.Union, types.UnionType):
        yield from _of_union(value, kind, pointer)
    elif origin is Literal:
        yield from _of_values(value, kind, arguments, pointer)
    elif value is None:
        if kind is not types.NoneType:
            yield Difference(pointer, "null", name(kind))
    elif isinstance(origin, type) and issubclass(origin, enum.Enum):
        yield from _of_values(value, kind, [member.value for member in origin], pointer)
    elif _is_object(origin):
        yield from _of_object(value, kind, pointer)
    elif isinstance(origin, type) and issubclass(origin, Mapping | dict):
        yield from _of_mapping(value, kind, arguments, pointer)
    elif origin in _LISTS or getattr(origin, "__name__", "") in ("Iterable", "Sequence", "SequenceNotStr"):
        yield from _of_list(value, kind, arguments, pointer)
    else:
        yield from _of_scalar(value, kind, pointer)


def name(annotation: Any) -> str:
    """Return the name of a type for people."""
    module = getattr(annotation, "__module__", "").partition(".")[0]
    own = getattr(annotation, "__qualname__", "")
    if own and not typing.get_args(annotation):
        return own if module in ("builtins", "typing") else f"{module}: {own}"
    return str(annotation).replace("typing.", "")[:120]


def _of_union(value: Any, union: Any, pointer: str) -> Iterator[Difference]:
    members = list(_members(union))
    if value is None:
        if types.NoneType not in members:
            yield Difference(pointer, "null", name(union))
        return
    members = [member for member in members if member is not types.NoneType]
    # `Any` beside other members means that the SDK does not fail. It says nothing about the wire.
    members = [member for member in members if member not in (Any, object)] or members
    if isinstance(value, dict):
        tagged = [member for member in members if _is_object(typing.get_origin(member) or member)]
        fitting = [member for member in tagged if _has_its_tags(value, member)]
        if tagged and not fitting:
            tags = sorted({key for member in tagged for key, field in fields(member).items() if field.tag is not None})
            said = (
                ", ".join(f"{key}={shown(value[key])}" for key in tags if key in value) or f"none of {', '.join(tags)}"
            )
            yield Difference(pointer, "unknown variant", f"{name(tagged[0])} and {len(tagged) - 1} others", said)
            return
        members = fitting or members
    results = [list(differences(value, member, pointer)) for member in members]
    of_its_kind = [each for each in results if not any(_is_of_another_kind(one, pointer) for one in each)]
    yield from min(of_its_kind or results, key=len, default=[])


def _is_of_another_kind(difference: Difference, pointer: str) -> bool:
    return difference.pointer == pointer and difference.kind == "wrong type"


def _members(union: Any) -> Iterator[Any]:
    """Yield the members of a union and of the unions in it, except catch-alls and classes that are not JSON."""
    for argument in typing.get_args(union):
        member = _plain(argument)
        if typing.get_origin(member) in (typing.Union, types.UnionType):
            yield from _members(member)
        elif not _name_of_class(member).startswith(_CATCH_ALL) and _name_of_class(member) not in _NOT_JSON:
            yield member


def _name_of_class(member: Any) -> str:
    return getattr(typing.get_origin(member) or member, "__name__", "")


def _has_its_tags(value: Mapping[str, Any], member: Any) -> bool:
    """Return True if the object has the tags of a type: the value of each field that may have only one value."""
    return all(
        value[key] == field.tag if key in value else not field.required
        for key, field in fields(member).items()
        if field.tag is not None
    )


def _of_values(value: Any, kind: Any, allowed: Sequence[Any], pointer: str) -> Iterator[Difference]:
    if not any(value == each and type(value) is type(each) for each in map(_bare, allowed)):
        yield Difference(pointer, "null" if value is None else "unknown value", name(kind), shown(value))


def _bare(value: Any) -> Any:
    return value.value if isinstance(value, enum.Enum) else value


def _of_object(value: Any, kind: Any, pointer: str) -> Iterator[Difference]:
    known = fields(kind)
    if set(known) == {"root"} and getattr(kind, "__pydantic_root_model__", False):
        yield from differences(value, known["root"].annotation, pointer)
        return
    if not isinstance(value, dict):
        yield Difference(pointer, "wrong type", name(kind), shown(value))
        return
    for key, inner in value.items():
        if key in known:
            yield from differences(inner, known[key].annotation, child(pointer, key))
        else:
            yield Difference(child(pointer, key), "unknown field", name(kind), shown(inner))
    for key, field in known.items():
        if field.required and key not in value:
            yield Difference(child(pointer, key), "missing field", name(kind))


def _of_mapping(value: Any, kind: Any, arguments: Sequence[Any], pointer: str) -> Iterator[Difference]:
    if not isinstance(value, dict):
        yield Difference(pointer, "wrong type", name(kind), shown(value))
    elif len(arguments) == 2:
        for key, inner in value.items():
            yield from differences(inner, arguments[1], child(pointer, key))


def _of_list(value: Any, kind: Any, arguments: Sequence[Any], pointer: str) -> Iterator[Difference]:
    if not isinstance(value, list):
        yield Difference(pointer, "wrong type", name(kind), shown(value))
        return
    for number, item in enumerate(value if arguments else ()):
        is_one_each = typing.get_origin(kind) is tuple and Ellipsis not in arguments
        yield from differences(item, arguments[number if is_one_each else 0], child(pointer, number))


def _of_scalar(value: Any, kind: Any, pointer: str) -> Iterator[Difference]:
    if not isinstance(kind, type):
        raise TypeError(f"a type that is not understood: {kind!r}")
    accepted = next((_SCALARS[base] for base in kind.__mro__ if base in _SCALARS), (str,) if kind in _TEXTS else None)
    if accepted is None:
        raise TypeError(f"a type that is not understood: {kind!r}")
    if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
        yield Difference(pointer, "wrong type", name(kind), shown(value))


def _is_object(kind: Any) -> bool:
    return isinstance(kind, type) and (
        hasattr(kind, "model_fields") or dataclasses.is_dataclass(kind) or hasattr(kind, "__required_keys__")
    )


@functools.cache
def fields(kind: Any) -> Mapping[str, Field]:
    """Return the fields of a pydantic model, a dataclass or a TypedDict, by their names in JSON."""
    if hasattr(kind, "model_fields"):
        if not getattr(kind, "__pydantic_complete__", True):
            kind.model_rebuild()
        return {
            key: Field(field.annotation, field.is_required())
            for own, field in kind.model_fields.items()
            for key in _keys(own, field)
        }
    hints = typing.get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        missing = dataclasses.MISSING
        return {
            field.name: Field(hints[field.name], field.default is missing and field.default_factory is missing)
            for field in dataclasses.fields(kind)
        }
    # If annotations are strings, `__required_keys__` does not know which keys are required.
    optional = {key for key, hint in hints.items() if _qualifier(hint) == "NotRequired"}
    stated = {key for key, hint in hints.items() if _qualifier(hint) == "Required"}
    return {key: Field(hint, key in (kind.__required_keys__ - optional) | stated) for key, hint in hints.items()}


def _qualifier(annotation: Any) -> str:
    origin = typing.get_origin(annotation)
    return getattr(origin, "_name", None) or getattr(origin, "__name__", None) or ""


def _keys(own: str, field: Any) -> Sequence[str]:
    """Return the names in JSON of a field of a pydantic model."""
    alias = field.validation_alias or field.alias
    if isinstance(alias, str):
        return (alias,)
    choices = [choice for choice in getattr(alias, "choices", ()) if isinstance(choice, str)]
    return choices or (own,)


def _plain(annotation: Any) -> Any:
    """Return a type without aliases, `Annotated`, `Required` and the like."""
    while True:
        origin = typing.get_origin(annotation)
        if origin is not None and hasattr(origin, "__value__"):  # a generic alias with its arguments
            annotation = origin.__value__[typing.get_args(annotation)]
        elif hasattr(annotation, "__value__"):
            annotation = Any if annotation.__name__ == "JsonValue" else annotation.__value__
        elif hasattr(annotation, "__metadata__"):
            annotation = annotation.__origin__
        elif _qualifier(annotation) in ("Required", "NotRequired", "ReadOnly", "ClassVar", "Final"):
            annotation = typing.get_args(annotation)[0]
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif isinstance(annotation, typing.TypeVar):
            annotation = annotation.__bound__ or Any
        else:
            return types.NoneType if annotation is None else annotation
