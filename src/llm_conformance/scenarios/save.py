"""Keeping a generated example: written down as a scenario like any other, with its cassette.

So a failure can be replayed exactly, by another version of Hypothesis or of the strategies too, and a bug that was
found becomes a fixture by moving two files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from llm_conformance.contract.values import plain
from llm_conformance.scenarios import cassette, dump
from llm_conformance.scenarios.load import SUFFIX, cassette_path
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction


def keep(scenario: Scenario, directory: Path) -> Scenario:
    """Write a generated scenario below `directory`, under a name that says what it holds; return it as it is there.

    Each has a folder of its own, so that it can be replayed whatever else lies there. What is there already under its
    name is the same, and left alone.
    """
    digest = _digest(scenario)
    cassette_dir = directory / digest
    stem = f"{scenario.path.name.removesuffix(SUFFIX)}-{digest}"
    folder = cassette_dir / scenario.api.provider
    names = {number: f"{stem}-before-{number}" for number in scenario.earlier}
    for number, each in scenario.earlier.items():
        _write(each, folder / f"{names[number]}{SUFFIX}", {})
    path = folder / f"{stem}{SUFFIX}"
    _write(scenario, path, names)
    return replace(scenario, id=f"{scenario.api.provider}/{stem}", path=path, cassette_dir=cassette_dir)


def _write(scenario: Scenario, path: Path, before: Mapping[int, str]) -> None:
    if path.exists():
        return
    metadata = {"provenance": "generated", "source": f"llm-conformance, {scenario.title}"}
    tape = cassette_path(path)
    tape.unlink(missing_ok=True)  # half of a pair that was not finished
    cassette.save(tape, metadata, _told(scenario))
    path.write_text(dump.text(_document(scenario, before)), encoding="utf-8")


def _told(scenario: Scenario) -> list[Interaction]:
    """Return all that the provider says: the answers by mode, then the outage."""
    answers = [scenario.interactions[mode] for mode in scenario.modes]
    return [*answers, scenario.outage] if scenario.outage else answers


def _digest(scenario: Scenario) -> str:
    total = hashlib.sha256(repr(_document(scenario, {})).encode())
    for each in scenario.earlier.values():
        total.update(_digest(each).encode())
    for told in _told(scenario):
        total.update(repr((told.status, told.headers)).encode() + told.body)
    return total.hexdigest()[:10]


def _document(scenario: Scenario, before: Mapping[int, str]) -> dict[str, Any]:
    """Return the scenario file; `before` names the scenarios whose answers stand among the messages."""
    recordings: dict[str, Any] = {mode: number for number, mode in enumerate(scenario.modes)}
    if len(scenario.modes) == 2:
        recordings["same_content"] = scenario.same_content
    if scenario.outage is not None:
        recordings["outage"] = len(scenario.modes)
    if scenario.cuts is not None:
        recordings["cuts"] = list(scenario.cuts)
    messages = [
        {"answer_of": before[number]} if number in before else plain(message)
        for number, message in enumerate(scenario.messages)
    ]
    call = {"model": scenario.model, "messages": messages}
    call |= {"tools": plain(scenario.tools)} if scenario.tools else {}
    params = scenario.params[scenario.modes[0]]
    fault = {"fault": plain(scenario.fault)} if scenario.fault else {}
    round_trip = scenario.expected[scenario.modes[0]].round_trip
    back = {"round_trip": {"source": round_trip.source, "sent": plain(round_trip.sent)}} if round_trip else {}
    return {
        "title": scenario.title,
        "provider": scenario.api.provider,
        "api": scenario.api.name,
        "think_profile": scenario.think_profile,
        "call": call | ({"params": plain(params)} if params else {}),
        "recordings": recordings,
        **fault,
        **back,
        "expected": dump.stated(scenario.expected[scenario.modes[0]]),  # the same in both modes
    }
