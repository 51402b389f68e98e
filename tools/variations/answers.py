"""The whole answers of scenarios and recordings, without errors, answers that break off, and probes."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.scenarios import load
from llm_conformance.scenarios.expected import read_expected
from llm_conformance.wire.answers import derive_if_readable
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api
from tools import recordings

_MODELS_OF_OTHERS: Mapping[str, tuple[str, ...]] = {"openai": ("*/*", "llama-cpp-*")}
"""Models (globs) that recordings ask at a provider's URI, although the provider does not have them."""


@dataclass(frozen=True)
class SeenAnswer:
    """One whole answer.

    Attributes:
        api: The API that gave it.
        source: The id of its scenario, or the path of its recording.
        is_scenario: Whether it is from a scenario, and not from a recording.
        model: The model that was asked.
        interaction: The request and the response.
        as_sent: Whether the bytes are as the provider sent them. Some recorders write the JSON anew.
    """

    api: Api
    source: str
    is_scenario: bool
    model: str
    interaction: Interaction
    as_sent: bool = True


def of_scenarios(directory: Path) -> Iterator[SeenAnswer]:
    """Yield the whole answers of all scenarios below a directory, except for probes."""
    for path in load.find(directory)[0]:
        file = load.read(path, check=False)
        if file.cassette.metadata.get("grounds") == "probe":
            continue
        for mode in file.modes:
            interaction = file.interaction(mode)
            if read_expected(file.document["expected"], mode).error is None and interaction.status < 400:
                model = str(interaction.request.get("model") or file.document["call"].get("model") or "")
                yield SeenAnswer(file.api, load.id_of(path), True, model, interaction)


def of_recordings(directory: Path, skipped: Counter[str]) -> Iterator[SeenAnswer]:
    """Yield the whole answers of all bare recordings below a directory. `skipped` counts the other answers."""
    for each in recordings.of_directory(directory, skipped):
        if not _is_whole(each.interaction, each.api):
            skipped["no whole answer"] += 1
        elif _is_of_another_server(each.api, each.interaction):
            skipped["a model that the provider does not have"] += 1
        else:
            model = str(each.model or each.interaction.request.get("model", ""))
            as_sent = each.metadata.get("fidelity", "raw") == "raw"
            yield SeenAnswer(each.api, each.name, False, model, each.interaction, as_sent)


def _is_of_another_server(api: Api, interaction: Interaction) -> bool:
    """Return True if the URI of a recording is the provider's, but a proxy has asked another server."""
    model = str(interaction.request.get("model", ""))
    return any(fnmatch.fnmatchcase(model, glob) for glob in _MODELS_OF_OTHERS.get(api.provider, ()))


def _is_whole(interaction: Interaction, api: Api) -> bool:
    facts = derive_if_readable(interaction, api) if interaction.status < 400 else None
    if facts is None or facts.error is not None or facts.finish in _PENDING:
        return False
    return bool(facts.finish or facts.ended)


_PENDING = ("queued", "in_progress")
"""The states of an answer that an agent has not finished."""
