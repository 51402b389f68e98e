"""The JSON Schemas of `schemas/` and of the wire formats, each compiled once (draft 2020-12).

Compiling costs 35 times a validation, so nothing else in the project builds a validator.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from llm_conformance import yaml_files
from llm_conformance.locations import FORMATS, SCHEMAS
from llm_conformance.yaml_files import FileProblem


def _is_integer(_checker: Any, instance: Any) -> bool:
    return isinstance(instance, int) and not isinstance(instance, bool)


# JSON Schema takes 3.0 for an integer; an offset or a count that is a float is a fault here.
_Validator = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
)


@functools.cache
def _registry() -> Registry[Any]:
    paths = [*sorted(SCHEMAS.glob("*.schema.json")), *sorted(FORMATS.glob("*/schema.json"))]
    documents = (json.loads(path.read_text("utf-8")) for path in paths)
    resources = (Resource.from_contents(document, default_specification=DRAFT202012) for document in documents)
    return Registry().with_resources((resource.id() or "", resource) for resource in resources)


@functools.cache
def validator(name: str) -> Any:
    """Return the compiled validator of a schema.

    `name` is that of a file in `schemas/`, or `wire/<format>` for the schema of a wire format. It may end in a JSON
    pointer to a part: `wire/chat#/$defs/chunk`.
    """
    name, _, pointer = name.partition("#")
    # A reference to a whole document would be followed by the validator that its $schema names, not by ours.
    whole = document(name)
    return _Validator({"$ref": f"{whole['$id']}#{pointer}"} if pointer else whole, registry=_registry())


@functools.cache
def document(name: str) -> Mapping[str, Any]:
    """Return a schema as JSON values; `name` is as in `validator`, without a pointer."""
    wire = name.removeprefix("wire/")
    path = SCHEMAS / f"{name}.schema.json" if wire == name else FORMATS / wire / "schema.json"
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def problems(name: str, instance: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every violation of schema `name` by `instance` as its path and a sentence without the whole instance."""
    for error in validator(name).iter_errors(instance):
        error = _deepest(error)
        yield tuple(error.absolute_path), _sentence(error)


def file_problems(name: str, path: Path, text: str, document: Any) -> list[FileProblem]:
    """Return every violation of schema `name` by a YAML file's document, with its line."""
    return [
        FileProblem(path, yaml_files.line_of(text, where), f"{dotted(where)}: {message}")
        for where, message in problems(name, document)
    ]


def dotted(where: tuple[str | int, ...]) -> str:
    """Return a path in a document as people read it."""
    return ".".join(map(str, where)) or "the file"


def _deepest(error: ValidationError) -> ValidationError:
    return best_match([error]) or error


def _sentence(error: ValidationError) -> str:
    message = error.message
    return message if len(message) <= 300 else f"{message[:140]} ... {message[-140:]}"
