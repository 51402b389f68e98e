"""Compare JSON documents with the shapes of botocore's service models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.sdk_types.difference import Difference, child, shown

_SCALARS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "character": (str,),
    "blob": (str,),  # base64
    "boolean": (bool,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "timestamp": (str, int, float),
}


def differences(value: Any, shape: Any, pointer: str = "") -> Iterator[Difference]:
    """Yield the differences between a JSON value and a shape."""
    if value is None:
        yield Difference(pointer, "null", shape.name)
    elif shape.type_name == "structure":
        yield from _of_structure(value, shape, pointer)
    elif shape.type_name == "list":
        if isinstance(value, list):
            for number, item in enumerate(value):
                yield from differences(item, shape.member, child(pointer, number))
        else:
            yield Difference(pointer, "wrong type", shape.name, shown(value))
    elif shape.type_name == "map":
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from differences(inner, shape.value, child(pointer, key))
        else:
            yield Difference(pointer, "wrong type", shape.name, shown(value))
    else:
        accepted = _SCALARS[shape.type_name]
        if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
            yield Difference(pointer, "wrong type", shape.name, shown(value))
        elif shape.metadata.get("enum") and value not in shape.metadata["enum"]:
            yield Difference(pointer, "unknown value", shape.name, shown(value))


def _of_structure(value: Any, shape: Any, pointer: str) -> Iterator[Difference]:
    if getattr(shape, "is_document_type", False):
        return
    if not isinstance(value, dict):
        yield Difference(pointer, "wrong type", shape.name, shown(value))
        return
    in_body = {key: member for key, member in shape.members.items() if "location" not in member.serialization}
    known = {member.serialization.get("name", key): member for key, member in in_body.items()}
    is_union = getattr(shape, "is_tagged_union", False) or getattr(shape, "is_eventstream", False)
    unknown = [key for key in value if key not in known]
    if is_union and (len(value) != 1 or unknown):
        yield Difference(pointer, "unknown variant", shape.name, ", ".join(value))
        return
    for key, inner in value.items():
        if key in known:
            yield from differences(inner, known[key], child(pointer, key))
        else:
            yield Difference(child(pointer, key), "unknown field", shape.name, shown(inner))
    for key in shape.required_members:
        if key in in_body and in_body[key].serialization.get("name", key) not in value:
            yield Difference(child(pointer, key), "missing field", shape.name)
