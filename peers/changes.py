"""What has changed since the last page: findings, releases and reproductions.

`docs/field.json` has what the page `docs/field.md` rests on, and is written with it. A finding is an entry of known
deviations, by its reason, or, if no entry names the failures, their rule and cause.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from llm_conformance.judging.status import Status
from llm_conformance.wording import counted
from peers.environments import ROOT
from peers.faults import Fault, Judged, faults
from peers.outcome import MENDED, SHOWS, Outcome

FACTS = ROOT / "docs" / "field.json"

Facts = Mapping[str, Mapping[str, Any]]
"""By library: `release`, `judged` (a date), `findings`, `reproductions`."""


def read(path: Path = FACTS) -> Facts:
    """Return what the last page rests on; nothing if there is none."""
    found: Facts = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found


def write(facts: Facts, path: Path = FACTS) -> None:
    """Write what a page rests on, one finding a line."""
    path.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", "utf-8")


def facts(outcomes: Iterable[Outcome], before: Facts) -> Facts:
    """Return what a page about these libraries rests on. `before` has the releases that findings were first seen in.

    A library that was not judged keeps what is known of it.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for each in outcomes:
        earlier, judged = before.get(each.name), each.judged
        if judged is None:
            found |= {each.name: earlier} if earlier else {}
            continue
        release, first = each.library.release, {} if earlier is None else _by_what(earlier)
        findings = [
            {**finding, "first_seen": first.get(finding["what"], {}).get("first_seen", release)}
            for finding in (*map(_known, faults(judged)), *_not_judged(judged))
        ]
        found[each.name] = {
            "release": release,
            "judged": judged.date,
            "findings": findings,
            "reproductions": {file: _SAID.get(code, "did not run") for file, code in each.reproductions.items()},
        }
    return found


_SAID: Mapping[int | None, str] = {SHOWS: "shows", MENDED: "does not show"}


def _known(fault: Fault) -> dict[str, Any]:
    said = {"what": fault.reason, "judgement": fault.judgement, "harm": fault.harm, "rules": list(fault.rules)}
    return {**said, "link": fault.link, "real": len(fault.real), "written": len(fault.written)}


def _not_judged(judged: Judged) -> Iterator[dict[str, Any]]:
    """Yield the findings that no entry names, those of both reports as one."""
    found: dict[str, dict[str, Any]] = {}
    for evidence, report in judged.reports.items():
        for each in report["findings"]:
            if each["status"] == Status.FAIL:
                what = f"{each['rule']}: {each['cause']}"
                begun = {"what": what, "judgement": None, "harm": each["harm"], "rules": [each["rule"]]}
                finding = found.setdefault(what, {**begun, "link": None, "real": 0, "written": 0})
                finding[evidence] += each["conversations"]
    yield from found.values()


def _by_what(library: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return {each["what"]: each for each in library["findings"]}


def changes(before: Facts, after: Facts) -> Iterator[str]:
    """Yield what differs, as Markdown: a line for each library, and one for each finding that is new or gone."""
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
