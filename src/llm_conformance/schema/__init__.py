"""The JSON Schemas of `schemas/` and of the wire formats, each compiled once (draft 2020-12).

To compile a schema takes 35 times as long as a validation, so only this module builds validators. Nearly all files are
valid, which `quick` recognises. jsonschema says what is wrong with the others.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from llm_conformance import limits, toml_files, yaml_files
from llm_conformance.locations import FORMATS, SCHEMAS
from llm_conformance.pointers import at_pointer
from llm_conformance.schema import quick
from llm_conformance.toml_files import Where
from llm_conformance.wording import counted, did_you_mean, listed
from llm_conformance.yaml_files import FileProblem

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from referencing import Registry


def _is_integer(_checker: Any, instance: Any) -> bool:
    return isinstance(instance, int) and not isinstance(instance, bool)


@functools.cache
def _validator_class() -> Any:
    """Return the class of all validators. Unlike in JSON Schema, 3.0 is no integer: a float is no valid count."""
    from jsonschema import Draft202012Validator, validators  # most runs need none, and importing it takes 0.1 s

    integer = Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
    return validators.extend(Draft202012Validator, type_checker=integer)  # type: ignore[no-untyped-call]


@functools.cache
def _registry() -> Registry[Any]:
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012

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
    # For a $ref to a whole document, jsonschema would use the validator of its $schema, and not this one.
    whole = document(name)
    return _validator_class()({"$ref": f"{whole['$id']}#{pointer}"} if pointer else whole, registry=_registry())


def of(document: Mapping[str, Any]) -> Any:
    """Return the compiled validator of a schema that is given as JSON values."""
    return _validator_class()(document)


@functools.cache
def document(name: str) -> Mapping[str, Any]:
    """Return a schema as JSON values. `name` is the same as for `validator`, without a pointer."""
    wire = name.removeprefix("wire/")
    path = SCHEMAS / f"{name}.schema.json" if wire == name else FORMATS / wire / "schema.json"
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return found


@functools.cache
def quick_check(name: str) -> quick.Check:
    """Return a function that quickly tells whether a value is valid.

    `name` is a file in `schemas/`. It may end in a JSON pointer, as for `validator`.

    Raises quick.UnknownKeywordError if the schema has a keyword that `quick` does not know.
    """
    return quick.check(part(name), str(document(name.partition("#")[0])["$id"]), part)


def part(reference: str) -> Any:
    """Return the part of a schema to which `reference` refers.

    A reference is the name of a document, `#`, and maybe a JSON pointer.
    """
    name, _, pointer = reference.partition("#")
    return at_pointer(document(name.removesuffix(".schema.json")), pointer)


def problems(name: str, instance: Any) -> Iterator[tuple[Where, str]]:
    """Yield (path, sentence) for every violation of schema `name` by `instance`.

    A sentence does not quote the whole instance. For a key that the schema does not allow, the path ends with that key.
    """
    # Schemas of wire formats have keywords that `quick` does not know, and refer to themselves.
    if name.startswith("wire/") or not quick_check(name)(instance):
        yield from violations(validator(name), instance)


def violations(validator: Any, instance: Any) -> Iterator[tuple[Where, str]]:
    """Yield every violation of the schema of a compiled validator, as `problems` does."""
    for error in itertools.chain.from_iterable(map(_leaves, validator.iter_errors(instance))):
        where = tuple(error.absolute_path)
        other_keys = _OTHER_KEYS.get(str(error.validator))
        if other_keys and error.validator_value is False:
            for key, known in other_keys(error):
                yield (*where, key), f"no such key{_suggestion(key, known)}"
        else:
            yield where, _sentence(error)


def file_problems(name: str, path: Path, text: str, document: Any) -> list[FileProblem]:
    """Return the violations of schema `name` by the document of a YAML or TOML file, sorted by line.

    If there are more than `limits.PROBLEMS`, the list ends with a problem that says so.
    """
    line_of = toml_files.line_of if path.suffix == ".toml" else yaml_files.line_of
    found = [
        FileProblem(path, line_of(text, where), f"{dotted(where)}: {message}")
        for where, message in itertools.islice(problems(name, document), limits.PROBLEMS + 1)
    ]
    listed = sorted(found[: limits.PROBLEMS], key=lambda problem: problem.line)
    more = FileProblem(path, 1, f"has more than {limits.PROBLEMS} problems; mend the first ones to see the others")
    return [*listed, more] if len(found) > len(listed) else listed


def dotted(where: Where) -> str:
    """Return a path in a document in a form for people."""
    return ".".join(map(str, where)) or "the file"


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """Yield the innermost errors of an error.

    If only one of a schema's forms has the value's type, these are the errors of that form. Otherwise, this is the
    error that jsonschema finds best.
    """
    from jsonschema.exceptions import best_match

    forms: dict[Any, list[ValidationError]] = {}
    for each in error.context or ():
        forms.setdefault(each.relative_schema_path[0], []).append(each)
    meant = [found for found in forms.values() if not any(map(_is_of_other_type, found))]
    if len(meant) == 1:
        for each in meant[0]:
            yield from _leaves(each)
    else:
        yield best_match([error]) or error


def _is_of_other_type(error: ValidationError) -> bool:
    return error.validator == "type" and not error.relative_path


_RENAMED = {"invariant": "rule", "truth": "expected", "face": "method", "evidence": "provenance"}
"""Maps keys of earlier versions to their present names."""


def _suggestion(key: Any, known: Collection[str]) -> str:
    renamed = _RENAMED.get(key)
    return f"; it is called {renamed} now" if renamed in known else did_you_mean(str(key), known)


def _additional(error: ValidationError) -> Iterator[tuple[Any, Collection[str]]]:
    """Yield (key that the schema does not allow, keys that it allows)."""
    known = _schema(error).get("properties", {})
    yield from ((key, known) for key in _keys(error) if key not in known)


def _unevaluated(error: ValidationError) -> Iterator[tuple[Any, Collection[str]]]:
    known = frozenset(_properties(_schema(error), _registry().resolver("scenario.schema.json")))
    yield from ((key, known) for key in _keys(error) if key not in known)


_OTHER_KEYS: Mapping[str, Callable[[ValidationError], Iterator[tuple[Any, Collection[str]]]]] = {
    "additionalProperties": _additional,
    "unevaluatedProperties": _unevaluated,  # only schemas/scenario.schema.json has it
}


def _schema(error: ValidationError) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", error.schema)


def _keys(error: ValidationError) -> Mapping[Any, Any]:
    return cast("Mapping[Any, Any]", error.instance)


def _properties(schema: Any, resolver: Any) -> Iterator[str]:
    """Yield the names of the properties of a schema and of those that it refers to."""
    if not isinstance(schema, Mapping):
        return
    yield from schema.get("properties", ())
    if "$ref" in schema:
        found = resolver.lookup(schema["$ref"])
        yield from _properties(found.contents, found.resolver)
    for part in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ()), schema.get("then")):
        yield from _properties(part, resolver)


_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "object": "an object",
    "array": "a list",
}

PATTERNS = {
    "^http": "must begin with http",
    "^/": "must be a JSON pointer, which begins with /",
    r"^\d{4}-\d\d-\d\d$": "must be a date like 2025-01-31",
    "^sha256:[0-9a-f]{64}$": "must be sha256: and 64 hexadecimal digits",
    "^https?://": "must be a URL, which begins with http:// or https://",
    r"^[\x20-\x7e]*$": "must have printable ASCII characters only",
    r"\S": "must not be blank",
    r"^https?://\S+$": "must be a URL, which begins with http:// or https://",
    "^[A-Z]{3,4}-[0-9]+$": "must be the id of a rule like ANN-5",
    r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$": "must be a time in UTC like 2025-01-31T12:00:00Z",
    r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$": "must be a time like 2025-01-31T12:00:00Z",
    "^[A-Za-z0-9+/]*={0,2}$": "must be base64",
    "^[^.]*[^.]$": "must not have a full stop",
    r"^[0-9]+\.[0-9]+$": "must be an edition like 0.1",
    r"^[a-z0-9][a-z0-9.-]* \S+, .+, interaction \d+$": "must be PACKAGE VERSION, PATH, interaction INDEX",
    "^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$": "must be a path below this folder",
    "^[^/]+(/[^/]+)*$": "must be names of fields, with a slash between them",
    "^[a-z0-9-]+$": "must have lower-case letters, digits and dashes only",
    "^[0-9a-f]{64}$": "must be 64 hexadecimal digits in lower case",
    r"^[A-Za-z0-9._+-]+\.tar\.gz$": "must be the name of a file that ends in .tar.gz",
    "^[a-z0-9.-]+$": "must have lower-case letters, digits, dots and dashes only",
}
"""Maps the patterns of the schemas to their meaning. The tests check that each pattern has one."""


def _sentence(error: ValidationError) -> str:
    """Return a sentence with what is required and what was found. Those of jsonschema need knowledge of JSON Schema."""
    says = _SENTENCES.get(str(error.validator))
    sentence = says(error) if says else _short(error.message)
    return f"a key {sentence}" if "propertyNames" in error.absolute_schema_path else sentence


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:140]} ... {text[-40:]}"


def _show(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # bytes, or a value that contains itself or is nested too deep
        text = repr(value)
    return _short(text).encode("utf-8", "backslashreplace").decode("utf-8")


def _found(error: ValidationError) -> str:
    return f"and is {_show(error.instance)}"


def _types(error: ValidationError) -> str:
    named: Any = error.validator_value
    return listed([_TYPES[each] for each in ([named] if isinstance(named, str) else named)])


def _enum(error: ValidationError) -> str:
    allowed = cast("list[Any]", error.validator_value)
    words = [each for each in allowed if isinstance(each, str)]
    similar = did_you_mean(error.instance, words) if isinstance(error.instance, str) else ""
    return f"must be {listed([_show(each) for each in allowed])}, {_found(error)}{similar}"


def _pattern(error: ValidationError) -> str:
    pattern = str(error.validator_value)
    return f"{PATTERNS.get(pattern, f'must match the pattern {pattern}')}, {_found(error)}"


def _at_least(noun: str) -> Callable[[ValidationError], str]:
    def sentence(error: ValidationError) -> str:
        least = cast("int", error.validator_value)
        return "must not be empty" if least == 1 else f"must have at least {counted(least, noun)}, {_found(error)}"

    return sentence


def _at_most(error: ValidationError) -> str:
    text: Any = error.instance
    return f"must have at most {counted(cast('int', error.validator_value), 'character')}, and has {len(text)}"


def _dependent(error: ValidationError) -> str:
    missing, key = re.findall("'([^']*)'", error.message)[:2]
    return f"`{key}` needs `{missing}`, which is missing"


def _must_not_have(keys: Iterable[str]) -> str:
    return f"must not have {listed([f'`{key}`' for key in keys])} here"


def _not(error: ValidationError) -> str:
    wrong = cast("Mapping[str, Any]", error.validator_value)
    if not wrong:
        return "must be left out"
    if "required" in wrong:
        return _must_not_have(wrong["required"])
    if "type" in wrong:
        return f"must not be {listed([_TYPES[each] for each in wrong['type']])}, {_found(error)}"
    return _short(error.message)


def _alternatives(error: ValidationError) -> str:
    """Return a sentence for a value that fits none of several forms, if none is more likely than the others."""
    context = error.context or []
    if not context:
        return "has more than one of the forms of which it may have one"
    if all(map(_is_of_other_type, context)):
        return f"must be {listed([_types(each) for each in context])}, {_found(error)}"
    return listed(list(dict.fromkeys(map(_sentence, context))))


_SENTENCES: Mapping[str, Callable[[ValidationError], str]] = {
    "type": lambda error: f"must be {_types(error)}, {_found(error)}",
    "enum": _enum,
    "const": lambda error: f"must be {_show(error.validator_value)}, {_found(error)}",
    "pattern": _pattern,
    "required": lambda error: f"`{error.message.removesuffix(' is a required property')[1:-1]}` is missing",
    "minLength": _at_least("character"),
    "maxLength": _at_most,
    "minItems": _at_least("item"),
    "minProperties": _at_least("key"),
    "uniqueItems": lambda error: f"must not have the same item twice, {_found(error)}",
    "minimum": lambda error: f"must be at least {error.validator_value}, {_found(error)}",
    "maximum": lambda error: f"must be at most {error.validator_value}, {_found(error)}",
    "exclusiveMinimum": lambda error: f"must be more than {error.validator_value}, {_found(error)}",
    "additionalProperties": lambda error: _must_not_have(key for key, _ in _additional(error)),
    "unevaluatedProperties": lambda error: _must_not_have(key for key, _ in _unevaluated(error)),
    "dependentRequired": _dependent,
    "not": _not,
    "anyOf": _alternatives,
    "oneOf": _alternatives,
}
