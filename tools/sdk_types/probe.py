"""`python -m tools.sdk_types.probe`: compare documents with an SDK's types. It runs with the Python of its environment.

Standard input is a JSON list of `{"types": [...], "document": ...}`. Standard output is a JSON list with `{"type": ...,
"differences": [...]}` for each document: the type with the fewest differences, and these differences. If a type cannot
be found or compared, the last line of standard error says why.

A type is `module:Name` or `botocore:service:Shape`. `module:Name at /error` is for a document whose only field,
`error`, has an object of this type.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from tools.sdk_types import shapes, type_hints
from tools.sdk_types.difference import Difference, child


def compared(types: Sequence[str], document: Any) -> tuple[str, list[Difference]]:
    """Return the type with the fewest differences, and these differences. Raises TypeError, LookupError."""
    found = {each: list(differences(each, document)) for each in types}
    nearest = min(found, key=lambda each: (_distance(each, document, found[each]), len(found[each])))
    return nearest, found[nearest]


def differences(kind: str, document: Any) -> Iterable[Difference]:
    """Return the differences between a document and a type."""
    kind, _, field = kind.partition(" at /")
    if field:
        return _of_field(kind, field, document)
    if kind.startswith("botocore:"):
        return shapes.differences(document, _shape(kind))
    return type_hints.differences(document, _annotation(kind))


def _of_field(kind: str, field: str, document: Any) -> Iterable[Difference]:
    if not isinstance(document, dict) or field not in document:
        yield Difference("", "unknown variant", kind, f"no field {field}")
        return
    for key in document:
        if key != field:
            yield Difference(child("", key), "unknown field", f"the object around {kind}")
    for each in differences(kind, document[field]):
        yield dataclasses.replace(each, pointer=child("", field) + each.pointer)


def _distance(kind: str, document: Any, found: Iterable[Difference]) -> int:
    """Return how far a document is from a type.

    0: the document may have this type. 1: the type has another tag, or is of another kind of value. 2: the type is for
    an object in a field (`at /error`), and the document lacks this field.
    """
    field = kind.partition(" at /")[2]
    if field and not (isinstance(document, dict) and field in document):
        return 2
    of_another_kind = {"wrong type": 0, "unknown variant": 0, "unknown value": 1}
    return int(any(each.pointer.count("/") == of_another_kind.get(each.kind, -1) for each in found))


@functools.cache
def _annotation(kind: str) -> Any:
    module, _, name = kind.partition(":")
    try:
        return functools.reduce(getattr, name.split("."), importlib.import_module(module))
    except (ImportError, AttributeError) as error:
        raise LookupError(f"there is no type {kind}: {error}") from error


@functools.cache
def _shape(kind: str) -> Any:
    from botocore.session import Session  # only one SDK is there

    _, service, name = kind.split(":")
    return Session().get_service_model(service).shape_for(name)


def main() -> None:
    """Read the documents, write the differences."""
    answers = []
    for each in json.load(sys.stdin):
        kind, found = compared(each["types"], each["document"])
        answers.append({"type": kind, "differences": [dataclasses.asdict(one) for one in found]})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    try:
        main()
    except (LookupError, TypeError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
