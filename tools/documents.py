"""The JSON documents of the scenarios: the bodies of plain answers, and what the frames of streams hold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_conformance.scenarios import load
from llm_conformance.wire.framings.base import DONE
from llm_conformance.wire.interaction import Interaction


@dataclass(frozen=True)
class Document:
    """A JSON document of a scenario.

    Attributes:
        api: `provider:api`.
        scenario: The id of the scenario.
        part: `json`, `stream` or `outage`, and the number of the document in a stream: `stream 12`.
        is_event: Whether it is part of a stream.
        is_error: Whether the response has an error status.
        is_probe: Whether the scenario tests what no provider is known to send.
        value: The document.
    """

    api: str
    scenario: str
    part: str
    is_event: bool
    is_error: bool
    is_probe: bool
    value: Any = field(repr=False)


def of_scenarios(directory: Path) -> Iterator[Document]:
    """Yield the documents of all scenarios below a directory. What is not JSON, on purpose, is left out."""
    for path in load.find(directory)[0]:
        file = load.read(path, check=False)
        is_probe = file.cassette.metadata.get("grounds") == "probe"
        for part, interaction in _interactions(file):
            for where, value in of_interaction(interaction):
                yield Document(
                    api=str(file.api),
                    scenario=load.id_of(path),
                    part=part + where,
                    is_event=bool(where),
                    is_error=interaction.status >= 400,
                    is_probe=is_probe,
                    value=value,
                )


def _interactions(file: load.ScenarioFile) -> Iterable[tuple[str, Interaction]]:
    for mode in file.modes:
        yield mode, file.interaction(mode)
    if file.outage is not None:
        yield "outage", file.outage


def of_interaction(interaction: Interaction) -> Iterator[tuple[str, Any]]:
    """Yield each document of a response with its place in a stream, "" if it is not a stream.

    A stream that breaks off yields the documents before the break. A body that is not JSON yields nothing.
    """
    try:
        if interaction.framing is None:
            yield "", json.loads(interaction.body)
            return
        for number, value in enumerate(interaction.framing.documents(interaction.body)):
            if value != DONE:
                yield f" {number}", value
    except ValueError:
        return
