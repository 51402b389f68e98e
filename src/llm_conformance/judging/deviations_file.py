"""The TOML file of known deviations, read and checked."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from llm_conformance import limits, schema, toml_files
from llm_conformance.adapter.declarations import METHODS
from llm_conformance.judging.deviations import ANYTHING, LISTS, WRITTEN_WITH, Deviation, is_recording_of, names
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.known import links
from llm_conformance.locations import is_library_file
from llm_conformance.scenarios import core_faults
from llm_conformance.wording import did_you_mean, did_you_mean_scenario, no_such
from llm_conformance.yaml_files import BadFileError, FileProblem


def load(
    path: Path, rules: Collection[str], scenarios: Collection[str], elsewhere: Collection[str] = ()
) -> tuple[Deviation, ...]:
    """Read a file of known deviations; `rules` and `scenarios` are the ids that it may name.

    The file may also name recordings of the packages in `elsewhere`. Their ids are not checked, because only runs that
    judge by these recordings know them. Raises BadFileError with all problems: wrong form, unknown rules and scenarios,
    and redundant entries.
    """
    document, text = toml_files.read(path)
    problems = []
    for where, message in schema.problems("deviations", document):
        key = ".".join(map(str, where[2:] if len(where) > 1 else where)) or "the entry"
        problems.append(FileProblem(path, toml_files.line_of(text, where), f"{key}: {_plain(message)}"))
    try:
        Effort.named(document.get("examples", WRITTEN_WITH))
    except (TypeError, AttributeError, ValueError) as error:
        problems.append(FileProblem(path, toml_files.line_of(text, ("examples",)), f"examples: must be {error}"))
    if problems:
        raise BadFileError(*problems)
    lines = [toml_files.line_of(text, ("deviation", number)) for number in range(len(document.get("deviation", ())))]
    number = 0
    for line, entry in zip(lines, document.get("deviation", ()), strict=True):
        number += math.prod(len(_listed(entry.get(name))) for name in LISTS)
        if number > limits.DEVIATIONS:
            message = f"its rules times globs times messages make more than {limits.DEVIATIONS:,} with those above it"
            raise BadFileError(FileProblem(path, line, f"{message}; write wider globs, or several files"))
    found = list(_deviations(path, document, lines))
    numbers = {line: number for number, line in enumerate(lines)}

    def line_of(each: Deviation, key: str) -> int:
        return toml_files.line_of(text, ("deviation", numbers[each.line], key))

    problems += _problems(found, rules, scenarios, elsewhere, line_of)
    if problems:
        raise BadFileError(*dict.fromkeys(problems))
    return tuple(found)


def _plain(message: str) -> str:
    """Return an error message of the schema in the words of this file format."""
    return next((plain for pattern, plain in _MESSAGES.items() if re.search(pattern, message)), message)


_MESSAGES = {
    "must not be blank": "is empty; say why the adapter deviates",
    "must be a URL": "must be the URL (https://...) of an issue or a page about the deviation",
    "`link` is missing or `report` is missing": "`link` is missing; if nobody has reported it, `report` names a text",
    "more than one of the forms": "has `link` and `report`; keep one",
    "must be a list": "write [[deviation]], in double brackets, above each entry",
    "must be a string or a list": "must be a string, or a list of different strings",
    "must not have the same item twice": "must be a string, or a list of different strings",
}


def _deviations(path: Path, document: Mapping[str, Any], lines: list[int]) -> Iterator[Deviation]:
    for line, entry in zip(lines, document.get("deviation", ()), strict=True):
        lists = (_listed(entry.get(name)) for name in LISTS)
        for values in itertools.product(*lists):
            fields = {**entry, **dict(zip(LISTS, values, strict=True))}
            fields.setdefault("link", fields.pop("report", None))
            yield Deviation(path, line, **fields, examples=document.get("examples", WRITTEN_WITH))


def _listed(value: str | list[str] | None) -> Sequence[str | None]:
    return value if isinstance(value, list) else [value]


def _problems(
    found: list[Deviation],
    rules: Collection[str],
    scenarios: Collection[str],
    elsewhere: Collection[str],
    line_of: Callable[[Deviation, str], int],
) -> Iterator[FileProblem]:
    """Yield what is wrong with entries. `line_of` returns the line of a key of an entry."""
    matched = {pattern: _matched(pattern, scenarios) for pattern in {each.scenario for each in found}}
    earlier: dict[tuple[str, str], list[Deviation]] = {}  # by (rule, scenario): comparing all takes too long
    for each in found:
        if each.rule not in rules:
            unknown = no_such("rule", did_you_mean(each.rule, rules, 3), "llm-conformance list rules")
            yield FileProblem(each.path, line_of(each, "rule"), f"{each.rule}: {unknown}")
        if not matched[each.scenario] and not is_recording_of(each.scenario, elsewhere):
            hint = did_you_mean_scenario(each.scenario, scenarios)
            unknown = no_such("scenario", hint, core_faults.list_command(each.scenario))
            yield FileProblem(each.path, line_of(each, "scenario"), f"{each.scenario}: {unknown}")
        if each.message is not None and not each.message.strip(f"{ANYTHING} "):
            message = "message: is empty; write a part of the message of the failure, or leave it out"
            yield FileProblem(each.path, line_of(each, "message"), message)
        if links.is_url(each.link):
            if problem := links.problem(each.link):
                yield FileProblem(each.path, line_of(each, "link"), f"link: {problem}")
        elif _is_missing(each.path.parent / each.link):
            yield FileProblem(each.path, line_of(each, "report"), f"report: there is no file {each.link}")
        if each.reproduction is not None and _is_missing(each.path.parent / each.reproduction):
            message = f"reproduction: there is no file {each.reproduction}"
            yield FileProblem(each.path, line_of(each, "reproduction"), message)
        if each.versions is not None and (problem := _bad_specifier(each.versions)):
            yield FileProblem(each.path, line_of(each, "versions"), f"versions: {problem}")
        if each.method is not None and each.mode is not None and each.method not in METHODS[each.mode]:
            message = f"method: {each.method} is not a method of the mode {each.mode}"
            yield FileProblem(each.path, line_of(each, "method"), message)
        mine = matched[each.scenario]
        places = [earlier.setdefault((each.rule, id), []) for id in mine]
        before = dict.fromkeys(other for place in places for other in place)
        within = [other for other in before if mine <= matched[other.scenario] and each.is_covered_by(other)]
        wider = [other for other in before if mine >= matched[other.scenario] and other.is_covered_by(each)]
        if within:
            message = f"{each.about}: redundant, the entry in line {within[0].line} covers it; remove this one"
            yield FileProblem(each.path, each.line, message)
        elif wider:
            lines = ", ".join(str(line) for line in dict.fromkeys(other.line for other in wider))
            yield FileProblem(each.path, each.line, f"{each.about}: also covers the entry in line {lines}; keep one")
        for place in places:
            place.append(each)


def _is_missing(path: Path) -> bool:
    """Return True if a file is missing that should exist.

    A wheel leaves out the reports on libraries, so these may be missing.
    """
    return not is_library_file(path) and not path.is_file()


def _matched(pattern: str, scenarios: Collection[str]) -> frozenset[str]:
    """Return the ids of the scenarios that a glob matches. It may also match the id of an interaction (`#1`)."""
    whole = pattern.partition("#")[0]
    if whole in scenarios:
        return frozenset([whole])
    return frozenset(id for id in scenarios if names(pattern, id) or names(whole, id))


def _bad_specifier(text: str) -> str | None:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return f"{text!r} is not a version specifier; write one like '<2.1' or '>=1.4,<1.6'"
    return None
