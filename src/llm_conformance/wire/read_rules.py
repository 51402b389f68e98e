"""Read rules (`formats/<wire>/read.toml`) say where a response of a wire format has its values.

`schemas/read-rules.schema.json` explains the keys of a rule, and `llm_conformance.wire.paths` its paths.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_conformance import schema, toml_files
from llm_conformance.locations import FORMATS
from llm_conformance.wire import paths
from llm_conformance.wire.paths import Step, compiled
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError, FileProblem

ReadRule = Mapping[str, Any]

REASONING_FIELDS = "$reasoning_fields"
"""A path of `reasoning` that stands for the `reasoning_fields` of the API."""

ONLY_CALL = "-"
"""A key of `call` which says that there is only one call."""

_NOT_PATHS = ("at", "span", "start_default", "usage_replaces", "usage_as")


@functools.cache
def reading_rules() -> Mapping[str, tuple[ReadRule, ...]]:
    """Return the read rules by wire format. Raises BadFileError with all problems of all files."""
    return load(FORMATS)


def load(formats: Path) -> Mapping[str, tuple[ReadRule, ...]]:
    """Return the rules of `<wire>/read.toml` in a directory, by wire format. Raises BadFileError with all problems."""
    rules: dict[str, tuple[ReadRule, ...]] = {}
    problems: list[FileProblem] = []
    for path in sorted(formats.glob("*/read.toml")):
        try:
            document, text = toml_files.read(path)
        except BadFileError as bad:
            problems += bad.problems
            continue
        wrong_form = schema.file_problems("read-rules", path, text, document)
        problems += wrong_form or _path_problems(path, text, document["read"])
        rules[path.parent.name] = tuple(document.get("read", ()))
    if problems:
        raise BadFileError(*problems)
    return rules


def places_of(rule: ReadRule) -> Mapping[str, str]:
    """Map each mode (`json`, `stream`) to the `at` of a rule. If `at` is one text, it is for both modes."""
    at = rule.get("at", "")
    return at if isinstance(at, Mapping) else {"json": at, "stream": at}


def as_list(paths: str | Sequence[str]) -> Sequence[str]:
    """Return one path as a list, or several paths unchanged."""
    return [paths] if isinstance(paths, str) else paths


def paths_of(rule: ReadRule, key: str, api: Api) -> Sequence[str]:
    """Return the paths of a key of a rule; for `$reasoning_fields`, the fields of the API."""
    return api.reasoning_fields if rule[key] == REASONING_FIELDS else as_list(rule[key])


@functools.cache
def compiled_rules(wire: str, streamed: bool) -> tuple[tuple[tuple[Step, ...], ReadRule], ...]:
    """Return (compiled steps of `at`, rule) for each read rule of a wire format in one mode."""
    mode = "stream" if streamed else "json"
    return tuple((compiled(at[mode]), rule) for rule in reading_rules()[wire] if mode in (at := places_of(rule)))


def _path_problems(path: Path, text: str, rules: list[ReadRule]) -> Iterator[FileProblem]:
    for number, rule in enumerate(rules):
        for key, message in _rule_problems(rule):
            line = toml_files.line_of(text, ("read", number, key))
            yield FileProblem(path, line, f"read.{number}.{key}: {message}")


def _rule_problems(rule: ReadRule) -> Iterator[tuple[str, str]]:
    try:
        lists = min(sum("*" in step.names for step in compiled(at)) for at in places_of(rule).values())
    except ValueError as error:
        yield "at", str(error)
        return
    for key, value in rule.items():
        for path in as_list(value) if key not in _NOT_PATHS else ():
            if (key, path) in (("reasoning", REASONING_FIELDS), ("call", ONLY_CALL)):
                continue
            message = paths.problem(path, lists)
            if message:
                yield key, message
