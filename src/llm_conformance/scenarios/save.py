"""Save a generated example as a scenario with its cassette.

The failure can then be replayed exactly, even with another version of Hypothesis or of the strategies. To keep the
scenario, move its two files into a cassette directory.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from llm_conformance import editions
from llm_conformance.contract.values import plain
from llm_conformance.scenarios import cassette, dump
from llm_conformance.scenarios.load import SUFFIX, cassette_path
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction


def save_generated(scenario: Scenario, directory: Path) -> Scenario:
    """Write a generated scenario below `directory`, and return the saved scenario with its new id (`saved_id`).

    Each scenario has a folder of its own, so that a run can load it alone. A file that already exists is left alone,
    because its name has a digest of its content.
    """
    id = saved_id(scenario)
    stem = id.partition("/")[2]
    cassette_dir = directory / stem.rpartition("-")[2]  # the digest
    folder = cassette_dir / scenario.api.provider
    names = {number: f"{stem}-before-{number}" for number in scenario.earlier}
    for number, earlier in scenario.earlier.items():
        _write(earlier, folder / f"{names[number]}{SUFFIX}", {})
    path = folder / f"{stem}{SUFFIX}"
    _write(scenario, path, names)
    return replace(scenario, id=id, path=path, cassette_dir=cassette_dir)


def saved_id(scenario: Scenario) -> str:
    """Return the id that `save_generated` gives a scenario. Two inputs have the same id only if they are equal."""
    return f"{scenario.api.provider}/{scenario.path.name.removesuffix(SUFFIX)}-{_digest(scenario)}"


def texts(scenario: Scenario) -> dict[str, str]:
    """Return the texts of the files that `save_generated` writes, by `provider/name`.

    When written to a directory, these files are a scenario with the same id (`saved_id`).
    """
    with tempfile.TemporaryDirectory() as directory:
        saved = save_generated(scenario, Path(directory))
        found = sorted(saved.cassette_dir.rglob("*.yaml"))
        return {each.relative_to(saved.cassette_dir).as_posix(): each.read_text(encoding="utf-8") for each in found}


def _write(scenario: Scenario, path: Path, earlier_names: Mapping[int, str]) -> None:
    if path.exists():
        return
    grounds = {} if scenario.grounds is None else {"grounds": scenario.grounds}
    metadata = {"provenance": "generated", **grounds, "source": f"llm-conformance, {scenario.title}"}
    recorded_path = cassette_path(path)
    recorded_path.unlink(missing_ok=True)  # a process may have been killed after it wrote one of the two files
    cassette.save(recorded_path, metadata, _interactions(scenario))
    path.write_text(dump.text(_document(scenario, earlier_names)), encoding="utf-8")


def _interactions(scenario: Scenario) -> list[Interaction]:
    """Return the recordings by mode, then the outage."""
    recordings = [scenario.interactions[mode] for mode in scenario.modes]
    return [*recordings, scenario.outage] if scenario.outage else recordings


def _digest(scenario: Scenario) -> str:
    total = hashlib.sha256(repr(_document(scenario, {})).encode())
    for earlier in scenario.earlier.values():
        total.update(_digest(earlier).encode())
    for interaction in _interactions(scenario):
        total.update(repr((interaction.status, interaction.headers)).encode() + interaction.body)
    return total.hexdigest()[:10]


def _document(scenario: Scenario, earlier_names: Mapping[int, str]) -> dict[str, Any]:
    """Return the content of the scenario file; `earlier_names` maps the index of a message to its `answer_of`."""
    recordings: dict[str, Any] = {mode: number for number, mode in enumerate(scenario.modes)}
    if len(scenario.modes) == 2:
        recordings["same_content"] = scenario.same_content
    if scenario.outage is not None:
        recordings["outage"] = len(scenario.modes)
    if scenario.cuts is not None:
        recordings["cuts"] = list(scenario.cuts)
    messages = [
        {"answer_of": earlier_names[number]} if number in earlier_names else plain(message)
        for number, message in enumerate(scenario.messages)
    ]
    call = {"model": scenario.model, "messages": messages}
    call |= {"tools": plain(scenario.tools)} if scenario.tools else {}
    params = scenario.params[scenario.modes[0]]
    fault = {"fault": plain(scenario.fault)} if scenario.fault else {}
    expected = scenario.expected[scenario.modes[0]]  # the same in both modes
    since = {} if scenario.since == editions.FIRST else {"since": scenario.since}
    requirement = expected.round_trip
    round_trip = {"round_trip": {"source": requirement.source, "sent": plain(requirement.sent)}} if requirement else {}
    return {
        "title": scenario.title,
        **since,
        "provider": scenario.api.provider,
        "api": scenario.api.name,
        "think_profile": scenario.think_profile,
        "call": call | ({"params": plain(params)} if params else {}),
        "recordings": recordings,
        **fault,
        **round_trip,
        "expected": dump.stated(expected),
    }
