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
from llm_conformance.deviations import Deviations
from llm_conformance.judgement import Status
from llm_conformance.subject import FACES, Subject
from llm_conformance.templating import render
from llm_conformance.verdict import Verdict

_COMMENT = 110
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")

_RESTRICTIONS = ("adapter", "versions", "mode", "face")

Entry = dict[str, Any]
Fields = tuple[tuple[str, str | None], ...]
"""What an entry says beside rules and scenarios, by name."""


def write(path: Path, verdicts: Iterable[Verdict], known: Deviations, subjects: Sequence[Subject]) -> int:
    """Write a new file that names every cell that fails; return how many entries have no reason yet.

    Deviations that are `known` and were borne out are carried over with their reasons, those that were not are left
    out. Raises FileExistsError rather than write over a file.
    """
    verdicts = list(verdicts)
    kept = list(_kept(verdicts, known))
    made = list(_made(verdicts, _adapters(subjects)))
    text = render("deviations.toml", kept=kept, made=made, quoted=_quoted)
    with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return len(made)


def _kept(verdicts: Iterable[Verdict], known: Deviations) -> Iterator[Entry]:
    """Yield the entries of deviations that a failing cell bears out, as they were written, without the others."""
    borne_out = {each.deviation for each in verdicts if each.status == Status.EXPECTED}
    rows: dict[Fields, dict[str, list[str]]] = {}
    for at, each in enumerate(known.listed):
        if at in borne_out:
            fields = tuple((name, getattr(each, name)) for name in (*_RESTRICTIONS, "reason", "link"))
            rows.setdefault(fields, {}).setdefault(each.invariant, []).append(each.scenario)
    for fields, scenarios in rows.items():
        yield from _joined(((fields, invariant), found) for invariant, found in scenarios.items())


def _joined(rows: Iterable[tuple[tuple[Fields, str], list[str]]]) -> Iterator[Entry]:
    """Yield an entry for all rules that are alike: broken in the same scenarios, and alike in all else that is said."""
    alike: dict[tuple[Fields, tuple[str, ...]], list[str]] = {}
    for (fields, invariant), scenarios in rows:
        alike.setdefault((fields, tuple(scenarios)), []).append(invariant)
    for (fields, found), invariants in alike.items():
        yield {"invariants": invariants, "scenarios": list(found), **dict(fields)}


def _adapters(subjects: Sequence[Subject]) -> Mapping[str, str | None]:
    """Return how entries name each adapter, by its label: not at all if it is alone, by a name that is its own."""
    names = Counter(each.name for each in subjects)
    named = {each.label: each.name if names[each.name] == 1 else each.spec for each in subjects}
    return named if len(subjects) > 1 else dict.fromkeys(named)


def _made(verdicts: Iterable[Verdict], adapters: Mapping[str, str | None]) -> Iterator[Entry]:
    """Yield an entry for what fails alike: rules, scenarios, and the mode or method if it fails only there."""
    failed: dict[tuple[str, str], dict[str, dict[str, Verdict]]] = {}
    judged: dict[tuple[str, str, str], set[str]] = {}
    for each in verdicts:
        if each.status in (Status.FAIL, Status.PASS):
            judged.setdefault((each.adapter, each.invariant, each.scenario), set()).add(each.face)
        if each.status == Status.FAIL:
            failed.setdefault((each.adapter, each.invariant), {}).setdefault(each.scenario, {})[each.face] = each
    yield from _joined(_rows(failed, judged, adapters))


def _rows(
    failed: Mapping[tuple[str, str], Mapping[str, Mapping[str, Verdict]]],
    judged: Mapping[tuple[str, str, str], set[str]],
    adapters: Mapping[str, str | None],
) -> Iterator[tuple[tuple[Fields, str], list[str]]]:
    for (adapter, invariant), scenarios in sorted(failed.items()):
        alike: dict[Fields, list[Verdict]] = {}
        for scenario, faces in sorted(scenarios.items()):
            for restriction in _restrictions(set(faces), judged[adapter, invariant, scenario]):
                alike.setdefault(restriction, []).append(next(iter(faces.values())))
        for restriction, found in alike.items():
            message = " ".join(_UNPRINTABLE.sub(" ", secrets.hide(found[0].message or "")).split())
            example = message if len(message) <= _COMMENT else f"{message[:_COMMENT]} ..."
            fields = (("adapter", adapters[adapter]), *restriction, ("example", example))
            yield (fields, invariant), [glob.escape(each.scenario) for each in found]


def _restrictions(failed: set[str], judged: set[str]) -> Iterator[Fields]:
    """Yield what an entry has to be restricted to, so that it names the methods that fail and no other."""
    if failed == judged:
        yield ()
        return
    for mode, faces in FACES.items():
        if set(faces) & failed and set(faces) & judged <= failed:
            yield (("mode", mode),)
        else:
            yield from ((("face", face),) for face in faces if face in failed)


def _quoted(value: str | Sequence[str]) -> str:
    """Return a text, or a list of them, as TOML: its basic strings are JSON's, but for DEL."""
    if not isinstance(value, str):
        lines = "".join(f"\n    {_quoted(each)}," for each in value)
        return _quoted(value[0]) if len(value) == 1 else f"[{lines}\n]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
