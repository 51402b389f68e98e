"""The TOML file of known deviations: read and checked, or written with the failures of a run."""

from __future__ import annotations

import glob
import itertools
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from llm_conformance import schema, secrets, toml_files
from llm_conformance.adapter.declarations import METHODS, AdapterUnderTest
from llm_conformance.judging.deviations import ANYTHING, LISTS, Deviation, Deviations, names
from llm_conformance.judging.known import links
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.scenarios import core_faults
from llm_conformance.templating import render
from llm_conformance.wording import did_you_mean, did_you_mean_scenario, no_such
from llm_conformance.yaml_files import BadFileError, FileProblem

_COMMENT = 110
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")

_RESTRICTIONS = ("adapter", "versions", "mode", "method")

Entry = dict[str, Any]
Fields = tuple[tuple[str, str | None], ...]
"""The keys and values of an entry, without its rules and scenarios."""


def load(path: Path, rules: Collection[str], scenarios: Collection[str]) -> tuple[Deviation, ...]:
    """Read a file of known deviations; `rules` and `scenarios` are the ids that it may name.

    Raises BadFileError with all problems: wrong form, unknown rules and scenarios, and redundant entries.
    """
    document, text = toml_files.read(path)
    problems = []
    for where, message in schema.problems("deviations", document):
        key = ".".join(map(str, where[2:] if len(where) > 1 else where)) or "the entry"
        problems.append(FileProblem(path, toml_files.line_of(text, where), f"{key}: {_plain(message)}"))
    if problems:
        raise BadFileError(*problems)
    lines = [toml_files.line_of(text, ("deviation", number)) for number in range(len(document.get("deviation", ())))]
    found = list(_deviations(path, document, lines))
    problems += _problems(found, rules, scenarios)
    if problems:
        raise BadFileError(*dict.fromkeys(problems))
    return tuple(found)


def _plain(message: str) -> str:
    """Return a message of the schema in the words of this file format."""
    return next((plain for pattern, plain in _MESSAGES.items() if re.search(pattern, message)), message)


_MESSAGES = {
    "must not be blank": "is empty; say why the adapter deviates",
    "must be a URL": "must be the URL (https://...) of an issue or a page about the deviation",
    "must be a list": "write [[deviation]], in double brackets, above each entry",
    "must be a string or a list": "must be a string, or a list of different strings",
    "must not have the same item twice": "must be a string, or a list of different strings",
}


def _deviations(path: Path, document: Mapping[str, Any], lines: list[int]) -> Iterator[Deviation]:
    for line, entry in zip(lines, document.get("deviation", ()), strict=True):
        lists = (_listed(entry.get(name)) for name in LISTS)
        for values in itertools.product(*lists):
            yield Deviation(path, line, **{**entry, **dict(zip(LISTS, values, strict=True))})


def _listed(value: str | list[str] | None) -> Sequence[str | None]:
    return value if isinstance(value, list) else [value]


def _problems(found: list[Deviation], rules: Collection[str], scenarios: Collection[str]) -> Iterator[FileProblem]:
    matched = {pattern: _matched(pattern, scenarios) for pattern in {each.scenario for each in found}}
    earlier: dict[str, list[Deviation]] = {}
    for each in found:
        if each.rule not in rules:
            unknown = no_such("rule", did_you_mean(each.rule, rules, 3), "llm-conformance list rules")
            yield FileProblem(each.path, each.line, f"{each.rule}: {unknown}")
        if not matched[each.scenario]:
            hint = did_you_mean_scenario(each.scenario, scenarios)
            unknown = no_such("scenario", hint, core_faults.list_command(each.scenario))
            yield FileProblem(each.path, each.line, f"{each.scenario}: {unknown}")
        if each.message is not None and not each.message.strip(f"{ANYTHING} "):
            message = "message: is empty; write a part of the message of the failure, or leave it out"
            yield FileProblem(each.path, each.line, message)
        if problem := links.problem(each.link):
            yield FileProblem(each.path, each.line, f"link: {problem}")
        if each.versions is not None and (problem := _bad_specifier(each.versions)):
            yield FileProblem(each.path, each.line, f"versions: {problem}")
        if each.method is not None and each.mode is not None and each.method not in METHODS[each.mode]:
            yield FileProblem(each.path, each.line, f"method: {each.method} is not a method of the mode {each.mode}")
        mine, before = matched[each.scenario], earlier.setdefault(each.rule, [])
        within = [other for other in before if mine and mine <= matched[other.scenario] and each.is_covered_by(other)]
        wider = [other for other in before if matched[other.scenario] <= mine and other.is_covered_by(each)]
        if within:
            message = f"{each.about}: redundant, the entry in line {within[0].line} covers it; remove this one"
            yield FileProblem(each.path, each.line, message)
        elif wider:
            lines = ", ".join(str(line) for line in dict.fromkeys(other.line for other in wider))
            yield FileProblem(each.path, each.line, f"{each.about}: also covers the entry in line {lines}; keep one")
        earlier[each.rule].append(each)


def _matched(pattern: str, scenarios: Collection[str]) -> frozenset[str]:
    """Return the ids of the scenarios that a glob matches, by their own id or that of an interaction (`#1`)."""
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


def write(path: Path, verdicts: Iterable[Verdict], known: Deviations, adapters: Sequence[AdapterUnderTest]) -> int:
    """Write a new file that names every failing cell; return the number of entries without a reason.

    `known` deviations of failing cells are kept with their reasons; the others are left out. Raises FileExistsError if
    the file exists.
    """
    verdicts = list(verdicts)
    kept = list(_kept(verdicts, known))
    new = list(_new(verdicts, _adapters(adapters)))
    text = render("deviations.toml", kept=kept, new=new, quoted=_quoted)
    with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return len(new)


def _kept(verdicts: Iterable[Verdict], known: Deviations) -> Iterator[Entry]:
    """Yield the entries of the known deviations that name a failing cell."""
    borne_out = {each.deviation for each in verdicts if each.status == Status.EXPECTED}
    by_fields: dict[Fields, dict[str, list[str]]] = {}
    for at, each in enumerate(known.listed):
        if at in borne_out:
            fields = tuple((name, getattr(each, name)) for name in (*_RESTRICTIONS, "reason", "link"))
            by_fields.setdefault(fields, {}).setdefault(each.rule, []).append(each.scenario)
    for fields, scenarios in by_fields.items():
        yield from _joined(((fields, rule), found) for rule, found in scenarios.items())


def _joined(lists: Iterable[tuple[tuple[Fields, str], list[str]]]) -> Iterator[Entry]:
    """Yield one entry for all rules that fail in the same scenarios and have the same fields."""
    alike: dict[tuple[Fields, tuple[str, ...]], list[str]] = {}
    for (fields, rule), scenarios in lists:
        alike.setdefault((fields, tuple(scenarios)), []).append(rule)
    for (fields, found), rules in alike.items():
        yield {"rules": rules, "scenarios": list(found), **dict(fields)}


def _adapters(adapters: Sequence[AdapterUnderTest]) -> Mapping[str, str | None]:
    """Return how entries name each adapter, by its label: None if there is only one, else a unique name."""
    names = Counter(each.name for each in adapters)
    named = {each.label: each.name if names[each.name] == 1 else each.spec for each in adapters}
    return named if len(adapters) > 1 else dict.fromkeys(named)


def _new(verdicts: Iterable[Verdict], adapters: Mapping[str, str | None]) -> Iterator[Entry]:
    """Yield entries for the failures: rules, scenarios, and the mode or method if not all of them fail."""
    failed: dict[tuple[str, str], dict[str, dict[str, Verdict]]] = {}
    judged: dict[tuple[str, str, str], set[str]] = {}
    for each in verdicts:
        if each.status in (Status.FAIL, Status.PASS):
            judged.setdefault((each.adapter, each.rule, each.scenario), set()).add(each.method)
        if each.status == Status.FAIL:
            failed.setdefault((each.adapter, each.rule), {}).setdefault(each.scenario, {})[each.method] = each
    yield from _joined(_by_restriction(failed, judged, adapters))


def _by_restriction(
    failed: Mapping[tuple[str, str], Mapping[str, Mapping[str, Verdict]]],
    judged: Mapping[tuple[str, str, str], set[str]],
    adapters: Mapping[str, str | None],
) -> Iterator[tuple[tuple[Fields, str], list[str]]]:
    for (adapter, rule), scenarios in sorted(failed.items()):
        alike: dict[Fields, list[Verdict]] = {}
        for scenario, methods in sorted(scenarios.items()):
            for restriction in _restrictions(set(methods), judged[adapter, rule, scenario]):
                alike.setdefault(restriction, []).append(next(iter(methods.values())))
        for restriction, found in alike.items():
            message = " ".join(_UNPRINTABLE.sub(" ", secrets.hide(found[0].message or "")).split())
            example = message if len(message) <= _COMMENT else f"{message[:_COMMENT]} ..."
            fields = (("adapter", adapters[adapter]), *restriction, ("example", example))
            yield (fields, rule), [glob.escape(each.scenario) for each in found]


def _restrictions(failed: set[str], judged: set[str]) -> Iterator[Fields]:
    """Yield the restrictions of an entry that names the failing methods and no other."""
    if failed == judged:
        yield ()
        return
    for mode, methods in METHODS.items():
        if set(methods) & failed and set(methods) & judged <= failed:
            yield (("mode", mode),)
        else:
            yield from ((("method", method),) for method in methods if method in failed)


def _quoted(value: str | Sequence[str]) -> str:
    """Return a string or a list of strings as TOML; its basic strings are those of JSON, except that DEL is escaped."""
    if not isinstance(value, str):
        lines = "".join(f"\n    {_quoted(each)}," for each in value)
        return _quoted(value[0]) if len(value) == 1 else f"[{lines}\n]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
