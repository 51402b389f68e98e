"""The JSON documents of scenarios, recordings, drawn answers and drafts: requests, answers, documents of streams."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from hypothesis import HealthCheck, Phase, given, settings

from llm_conformance.recording import first_drafts
from llm_conformance.recording.provider_request import requests_of_draft
from llm_conformance.scenarios import load
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES, Theme
from llm_conformance.wire.framings.base import DONE
from llm_conformance.wire.interaction import MODES, Interaction, Mode
from llm_conformance.wire.providers import table
from llm_conformance.wire.providers.api import Api
from tools import recordings

Kind = Literal["request", "json", "event", "error"]
"""The body of a request, the body of a plain answer, a document of a stream, or the body of an error response."""


@dataclass(frozen=True)
class Document:
    """A JSON document of a scenario or of a recording.

    Attributes:
        api: `provider:api`.
        scenario: The id of the scenario, or the path of the recording.
        part: `json`, `stream` or `outage`, and the number of the document in a stream: `stream 12`. Requests are
            `request of json` and the like.
        kind: What it is.
        grounds: The evidence for the scenario. `recording` for recordings; "" for drawn answers and drafts.
        status: The HTTP status of the answer; 200 for drafts, which have no answer yet.
        value: The document.
    """

    api: str
    scenario: str
    part: str
    kind: Kind
    grounds: str
    status: int
    value: Any = field(repr=False)

    @property
    def is_probe(self) -> bool:
        """Whether the scenario tests what no provider is known to send."""
        return self.grounds == "probe"

    @property
    def provider(self) -> str:
        """The provider."""
        return self.api.partition(":")[0]


def of_scenarios(directory: Path) -> Iterator[Document]:
    """Yield the documents of all scenarios below a directory. A body that is not JSON has none."""
    for path in load.find(directory)[0]:
        file = load.read(path, check=False)
        grounds = file.cassette.grounds or "recording"
        for part, interaction in _interactions(file):
            yield from _documents(str(file.api), load.id_of(path), part, grounds, interaction)


def of_recordings(directory: Path, skipped: Counter[str]) -> Iterator[Document]:
    """Yield the documents of all bare recordings below a directory. `skipped` counts what is left out, by reason."""
    for each in recordings.of_directory(directory, skipped):
        part = "stream" if each.interaction.streamed else "json"
        yield from _documents(str(each.api), each.name, part, "recording", each.interaction)


def of_generated(apis: Iterable[str], number: int) -> Iterator[Document]:
    """Draw `number` answers for each theme and mode of the APIs (`provider:api`), and yield their documents.

    Each run draws the same answers. An answer is named by the id of its scenario and `#1`, `#2` and so on.
    """
    for mode, scenario in drawn(apis, number):
        yield from _documents(str(scenario.api), scenario.id, mode, "", scenario.interactions[mode])


def drawn(apis: Iterable[str], number: int) -> Iterator[tuple[Mode, Scenario]]:
    """Draw `number` answers for each theme and mode of the APIs (`provider:api`), named as in `of_generated`."""
    for name in apis:
        provider, _, api_name = name.partition(":")
        api = table.table()[provider, api_name]
        for theme in (each for each in THEMES if each.name in _DRAWN and each.suits(api)):
            for mode in MODES:
                yield from ((mode, scenario) for scenario in _drawn(theme, api, mode, number))


def of_drafts() -> Iterator[Document]:
    """Yield the requests of the drafts that the suite has for hosted providers."""
    for draft in first_drafts.all_drafts():
        for request in requests_of_draft(draft, None):
            part = f"request of {request.mode}"
            yield Document(str(draft.api), draft.id, part, "request", grounds="", status=200, value=request.body)


_DRAWN = ("answers", "second-turns")
"""The themes of the answers that are drawn: together, they have everything that requests and answers can have."""


def _drawn(theme: Theme, api: Api, mode: Mode, number: int) -> list[Scenario]:
    found: list[Scenario] = []

    @settings(
        max_examples=number,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(theme.scenarios(api, mode))
    def draw(scenario: Scenario) -> None:
        found.append(replace(scenario, id=f"{scenario.id}#{len(found) + 1}"))

    draw()
    return found


def _interactions(file: load.ScenarioFile) -> Iterable[tuple[str, Interaction]]:
    for mode in file.modes:
        yield mode, file.interaction(mode)
    if file.outage is not None:
        yield "outage", file.outage


def _documents(api: str, name: str, part: str, grounds: str, interaction: Interaction) -> Iterator[Document]:
    if interaction.request:
        yield Document(api, name, f"request of {part}", "request", grounds, interaction.status, interaction.request)
    for where, value in _values(interaction):
        kind: Kind = "error" if interaction.status >= 400 else "event" if where else "json"
        yield Document(api, name, part + where, kind, grounds, interaction.status, value)


def _values(interaction: Interaction) -> Iterator[tuple[str, Any]]:
    """Yield each document of a response, with its place in the stream ("" if the response is no stream).

    A stream that breaks off yields the documents before the break. A body that is not JSON, or is nested
    too deeply for Python, yields nothing.
    """
    try:
        if interaction.framing is None:
            yield "", json.loads(interaction.body)
            return
        for number, value in enumerate(interaction.framing.documents(interaction.body)):
            if value != DONE:
                yield f" {number}", value
    except (ValueError, RecursionError):  # json itself recurses
        return
