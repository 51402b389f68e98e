"""Writing what fails in a run as a file of known deviations, for the reasons to be filled in."""

from __future__ import annotations

import glob
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_conformance import secrets
from llm_conformance.adapter.under_test import METHODS, AdapterUnderTest
from llm_conformance.judging.deviations import Deviations
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.templating import render

_COMMENT = 110
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")

_RESTRICTIONS = ("adapter", "versions", "mode", "method")

Entry = dict[str, Any]
Fields = tuple[tuple[str, str | None], ...]
"""What an entry says beside rules and scenarios, by name."""


def write(path: Path, verdicts: Iterable[Verdict], known: Deviations, adapters: Sequence[AdapterUnderTest]) -> int:
    """Write a new file that names every cell that fails; return how many entries have no reason yet.

    Deviations that are `known` and were borne out are carried over with their reasons, those that were not are left
    out. Raises FileExistsError rather than write over a file.
    """
    verdicts = list(verdicts)
    kept = list(_kept(verdicts, known))
    made = list(_made(verdicts, _adapters(adapters)))
    text = render("deviations.toml", kept=kept, made=made, quoted=_quoted)
    with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return len(made)


def _kept(verdicts: Iterable[Verdict], known: Deviations) -> Iterator[Entry]:
    """Yield the entries of deviations that a failing cell bears out, as they were written, without the others."""
    borne_out = {each.deviation for each in verdicts if each.status == Status.EXPECTED}
    apis: dict[Fields, dict[str, list[str]]] = {}
    for at, each in enumerate(known.listed):
        if at in borne_out:
            fields = tuple((name, getattr(each, name)) for name in (*_RESTRICTIONS, "reason", "link"))
            apis.setdefault(fields, {}).setdefault(each.rule, []).append(each.scenario)
    for fields, scenarios in apis.items():
        yield from _joined(((fields, rule), found) for rule, found in scenarios.items())


def _joined(apis: Iterable[tuple[tuple[Fields, str], list[str]]]) -> Iterator[Entry]:
    """Yield an entry for all rules that are alike: broken in the same scenarios, and alike in all else that is said."""
    alike: dict[tuple[Fields, tuple[str, ...]], list[str]] = {}
    for (fields, rule), scenarios in apis:
        alike.setdefault((fields, tuple(scenarios)), []).append(rule)
    for (fields, found), rules in alike.items():
        yield {"rules": rules, "scenarios": list(found), **dict(fields)}


def _adapters(adapters: Sequence[AdapterUnderTest]) -> Mapping[str, str | None]:
    """Return how entries name each adapter, by its label: not at all if it is alone, by a name that is its own."""
    names = Counter(each.name for each in adapters)
    named = {each.label: each.name if names[each.name] == 1 else each.spec for each in adapters}
    return named if len(adapters) > 1 else dict.fromkeys(named)


def _made(verdicts: Iterable[Verdict], adapters: Mapping[str, str | None]) -> Iterator[Entry]:
    """Yield an entry for what fails alike: rules, scenarios, and the mode or method if it fails only there."""
    failed: dict[tuple[str, str], dict[str, dict[str, Verdict]]] = {}
    judged: dict[tuple[str, str, str], set[str]] = {}
    for each in verdicts:
        if each.status in (Status.FAIL, Status.PASS):
            judged.setdefault((each.adapter, each.rule, each.scenario), set()).add(each.method)
        if each.status == Status.FAIL:
            failed.setdefault((each.adapter, each.rule), {}).setdefault(each.scenario, {})[each.method] = each
    yield from _joined(_apis(failed, judged, adapters))


def _apis(
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
    """Yield what an entry has to be restricted to, so that it names the methods that fail and no other."""
    if failed == judged:
        yield ()
        return
    for mode, methods in METHODS.items():
        if set(methods) & failed and set(methods) & judged <= failed:
            yield (("mode", mode),)
        else:
            yield from ((("method", method),) for method in methods if method in failed)


def _quoted(value: str | Sequence[str]) -> str:
    """Return a text, or a list of them, as TOML: its basic strings are JSON's, but for DEL."""
    if not isinstance(value, str):
        lines = "".join(f"\n    {_quoted(each)}," for each in value)
        return _quoted(value[0]) if len(value) == 1 else f"[{lines}\n]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
