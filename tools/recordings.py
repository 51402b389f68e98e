"""The interactions of bare recordings (docs/scenarios.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_conformance.corpus import places
from llm_conformance.corpus import recordings as public
from llm_conformance.scenarios import bare, cassette, load
from llm_conformance.scenarios.bare import BareFile
from llm_conformance.scenarios.cassette import NoRecordingsError, Unreadable
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers import other_services, recorded_urls, table
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError


@dataclass(frozen=True)
class Recorded:
    """One interaction of a recording.

    Attributes:
        api: The API that its URI names, or else the API that the cassette names.
        name: The id that it has in judging. If the cassette has several interactions, the id ends with their number.
        interaction: The request and its response.
        model: The model in the path of the URI; None if the path has none.
        metadata: What the cassette says about itself.
    """

    api: Api
    name: str
    interaction: Interaction
    model: str | None
    metadata: Mapping[str, Any] = field(repr=False)


def of_directory(directory: Path, skipped: Counter[str]) -> Iterator[Recorded]:
    """Yield the interactions of all bare recordings below a directory. `skipped` counts what is left out, by reason.

    In the directory of the public corpus, only the recordings that its manifest lists count (docs/real-traffic.md).
    """
    for file in _files(directory):
        try:
            metadata, recorded = cassette.load_bare(file.path)
        except (BadFileError, NoRecordingsError):
            skipped["no cassette"] += 1
            continue
        for number, each in enumerate(recorded):
            if isinstance(each, Unreadable):
                skipped["unreadable"] += 1
                continue
            interaction = bare.with_url(each.interaction, file.recorder)
            service = other_services.service_at(interaction.uri, interaction.request)
            if service is not None:
                skipped[f"{service}: no call of a model"] += 1
                continue
            known = recorded_urls.recognise(interaction.uri, interaction.request)
            api = known.api if known else table.table().get((str(metadata.get("provider")), str(metadata.get("api"))))
            if api is None:
                skipped["no such API"] += 1
                continue
            name = file.id + (f"#{number}" if len(recorded) > 1 else "")
            yield Recorded(api, name, interaction, known.place.model if known else None, metadata)


def _files(directory: Path) -> Iterator[BareFile]:
    if places.is_public(directory.absolute()):
        yield from public.of(lambda _: True)
    else:
        yield from (bare.file_in(path, directory) for path in sorted(load.cassettes_below(directory)))
