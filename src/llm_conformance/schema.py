"""The JSON Schemas of `schemas/` and of the wire formats, each compiled once (draft 2020-12).

Compiling costs 35 times a validation, so nothing else in the project builds a validator.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from llm_conformance import toml_files, yaml_files
from llm_conformance.locations import FORMATS, SCHEMAS
from llm_conformance.toml_files import Where
from llm_conformance.yaml_files import FileProblem


def _is_integer(_checker: Any, instance: Any) -> bool:
    return isinstance(instance, int) and not isinstance(instance, bool)


# In JSON Schema 3.0 is an integer. Here an offset or a count that is a float is a fault.
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

    `name` is the name of a file in `schemas/`, or `wire/<format>` for the schema of a wire format. It may end in a
    JSON pointer to a part: `wire/chat#/$defs/chunk`.
    """
    name, _, pointer = name.partition("#")
    # A $ref to a whole document would use the validator that its $schema names, not this module's.
    whole = document(name)
    return _Validator({"$ref": f"{whole['$id']}#{pointer}"} if pointer else whole, registry=_registry())


@functools.cache
def document(name: str) -> Mapping[str, Any]:
    """Return a schema as JSON values. `name` is the same as for `validator`, without a pointer."""
    wire = name.removeprefix("wire/")
    path = SCHEMAS / f"{name}.schema.json" if wire == name else FORMATS / wire / "schema.json"
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def problems(name: str, instance: Any) -> Iterator[tuple[Where, str]]:
    """Yield every violation of schema `name` by `instance`: its path, and a sentence without the whole instance.

    The path of a key that the schema does not have leads to that key.
    """
    for error in validator(name).iter_errors(instance):
        error = _deepest(error)
        where = tuple(error.absolute_path)
        if error.validator == "additionalProperties" and error.validator_value is False:
            keys: Any = error.instance
            known = cast("Mapping[str, Any]", error.schema).get("properties", {})
            for key in (key for key in keys if key not in known):
                yield (*where, key), f"no such key{did_you_mean(key, known)}"
        else:
            yield where, _sentence(error)


def file_problems(name: str, path: Path, text: str, document: Any) -> list[FileProblem]:
    """Return every violation of schema `name` by the document of a YAML or TOML file, by line."""
    line_of = toml_files.line_of if path.suffix == ".toml" else yaml_files.line_of
    found = (
        FileProblem(path, line_of(text, where), f"{dotted(where)}: {message}")
        for where, message in problems(name, document)
    )
    return sorted(found, key=lambda problem: problem.line)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown word: the closest known one as a question, "" if none is close."""
    close = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


def dotted(where: Where) -> str:
    """Return a path in a document as people read it."""
    return ".".join(map(str, where)) or "the file"


def _deepest(error: ValidationError) -> ValidationError:
    return best_match([error]) or error


def _sentence(error: ValidationError) -> str:
    message = error.message
    return message if len(message) <= 300 else f"{message[:140]} ... {message[-140:]}"
