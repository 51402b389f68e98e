"""What is known about the field, and what has changed since the last run: findings, releases, reproductions.

`docs/field.json` has everything that the pages of the field are made from. A finding is an entry of known deviations,
identified by its reason. If no entry names the failures, their rule and cause identify the finding.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from llm_conformance.judging.status import Status
from llm_conformance.wording import counted
from peers.environments import ROOT
from peers.faults import Conversation, Fault, Judged, Standing, apis, faults, not_asked, standing
from peers.outcome import MENDED, SHOWS, Outcome

FACTS = ROOT / "docs" / "field.json"

Facts = Mapping[str, Mapping[str, Any]]
"""What is known about each library.

`release` is the release of the package, `version` is what the adapter states, and `judged` is the day of the older
report. `standing` has two numbers for real traffic, and two for written conversations: how many conversations are
right, and how many somebody has decided about. It has null for what was not judged. `apis` has these numbers for each
API, and also those of its core faults. `findings` has the findings, and `reproductions` says of each program whether it
shows its fault. `not_asked` has the reasons why conversations were not asked; rare reasons are counted together.
`not_declared` has the capabilities that the shim does not declare, and `excluded` maps what it excludes to the reasons.
`missing` says why the last run could not judge the library.
"""

OTHER = "for other reasons"
"""The key of `not_asked` for all but the most frequent reasons."""

_SHOWN = 6
"""How many reasons are kept for conversations that were not asked."""


def read(path: Path = FACTS) -> Facts:
    """Return what is known about the field; nothing if there is no file."""
    found: Facts = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found


def write(facts: Facts, path: Path = FACTS) -> None:
    """Write what is known about the field."""
    path.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", "utf-8")


def facts(outcomes: Iterable[Outcome], before: Facts) -> Facts:
    """Return what is known about these libraries. `before` has the releases in which findings were first seen.

    A library that was not judged keeps what was known about it.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for each in outcomes:
        earlier, judged = before.get(each.name), each.judged
        if judged is None:
            missing = "; ".join((*each.broken, *each.not_judged))
            found[each.name] = {**(earlier or _nothing_of(each)), "missing": missing}
            continue
        release, first = each.library.release, {} if earlier is None else _by_what(earlier)
        findings = [
            {**finding, "first_seen": first.get(finding["what"], {}).get("first_seen", release)}
            for finding in (*map(_known, faults(judged)), *_not_judged(judged))
        ]
        found[each.name] = {
            "release": release,
            "version": judged.version,
            "judged": judged.date,
            **_standings(judged),
            "findings": findings,
            "reproductions": {file: _SAID.get(code, "did not run") for file, code in each.reproductions.items()},
            "not_asked": _not_asked(judged),
            "not_declared": list(judged.not_declared),
            "excluded": dict(judged.excluded),
        }
    return found


def _nothing_of(outcome: Outcome) -> dict[str, Any]:
    release = outcome.library.release
    nothing: dict[str, Any] = {"standing": {"real": None, "written": None}, "apis": {}, "findings": []}
    nothing |= {"reproductions": {}, "not_asked": {}, "not_declared": [], "excluded": {}}
    return {"release": release, "version": release, "judged": None, **nothing}


def _standings(judged: Judged) -> dict[str, Any]:
    real, written = judged.real, judged.written
    by_api = {
        api: {
            "real": _counted(standing(real, api)),
            "written": _counted(standing(written, api)),
            "core": _counted(standing(written, api, "/core-")),
        }
        for api in apis(judged)
    }
    return {"standing": {"real": _counted(standing(real)), "written": _counted(standing(written))}, "apis": by_api}


def _counted(found: Standing) -> dict[str, int] | None:
    return {"right": found.right, "of": found.judged - found.undecided} if found.has_report else None


def _not_asked(judged: Judged) -> dict[str, dict[str, int]]:
    found = not_asked(judged)
    kinds = {"by_library": found.by_library, "by_suite": found.by_suite}
    return {kind: _most_frequent(causes) for kind, causes in kinds.items() if causes}


def _most_frequent(causes: Mapping[str, int]) -> dict[str, int]:
    listed = list(causes.items())
    left = sum(number for _, number in listed[_SHOWN:])
    return {**dict(listed[:_SHOWN]), **({OTHER: left} if left else {})}


_SAID: Mapping[int | None, str] = {SHOWS: "shows", MENDED: "does not show"}


def _known(fault: Fault) -> dict[str, Any]:
    said = {"what": fault.reason, "judgement": fault.judgement, "harm": fault.harm, "rules": list(fault.rules)}
    shown = {"link": fault.link, "argument": fault.argument, "reproduction": fault.reproduction}
    seen = {"real": fault.real, "written": fault.written}
    examples = {kind: _example(found) for kind, found in seen.items() if found}
    return {**said, **shown, **{kind: len(found) for kind, found in seen.items()}, "examples": examples}


def _example(seen: frozenset[Conversation]) -> list[str]:
    shortest = min(seen, key=lambda each: (len(each[0]), each))
    return [*shortest]


def _not_judged(judged: Judged) -> Iterator[dict[str, Any]]:
    """Yield the findings that no entry names. A finding of both reports is yielded once."""
    found: dict[str, dict[str, Any]] = {}
    for evidence, report in judged.reports.items():
        for each in report["findings"]:
            if each["status"] == Status.FAIL:
                what = f"{each['rule']}: {each['cause']}"
                begun = {"what": what, "judgement": None, "harm": each["harm"], "rules": [each["rule"]]}
                unknown = dict.fromkeys(("link", "argument", "reproduction"))
                finding = found.setdefault(what, {**begun, **unknown, "real": 0, "written": 0, "examples": {}})
                finding[evidence] += each["conversations"]
    yield from found.values()


def _by_what(library: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return {each["what"]: each for each in library["findings"]}


def changes(before: Facts, after: Facts) -> Iterator[str]:
    """Yield the differences as Markdown: a line for each library that differs, and below it what differs.

    These are findings that are new or gone, and reproductions that no longer show their fault.
    """
    for name, now in after.items():
        if name not in before:
            findings = counted(len(now["findings"]), "finding")
            yield f"* **{name}** {now['release']}: judged for the first time, {findings}"
            continue
        lines = list(_of_library(before[name], now))
        release = now["release"] if before[name]["release"] == now["release"] else _arrow(before[name], now)
        if lines or before[name]["release"] != now["release"]:
            yield f"* **{name}** {release}{'' if lines else ': findings as before'}"
            yield from lines
    yield from (f"* **{name}**: not in the field any more" for name in before if name not in after)


def _arrow(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    return f"{before['release']} → {now['release']}"


def _of_library(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    old, new = _by_what(before), _by_what(now)
    for what in [each for each in new if each not in old]:
        judgement = new[what]["judgement"] or "**not judged yet**"
        yield f"  * new ({judgement}, {new[what]['harm']}): {what}"
    yield from (f"  * gone ({old[what]['harm']}): {what}" for what in old if what not in new)
    for file, said in now["reproductions"].items():
        if said != "shows" == before["reproductions"].get(file):
            yield f"  * reports/{file} {said}{' any more' if said == 'does not show' else ''}"
