"""The interactions of bare recordings (docs/scenarios.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_conformance.scenarios import cassette, load
from llm_conformance.scenarios.cassette import Unreadable
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers import table
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError


@dataclass(frozen=True)
class Recorded:
    """One interaction of a recording.

    Attributes:
        api: The API: the one of its URI, or else the one that the cassette names.
        name: The path of the cassette, with the number of the interaction if it has several.
        interaction: The request and its response.
        model: The model that the path names, None if the path names none.
        metadata: What the cassette says about itself.
    """

    api: Api
    name: str
    interaction: Interaction
    model: str | None
    metadata: Mapping[str, Any] = field(repr=False)


def of_directory(directory: Path, skipped: Counter[str]) -> Iterator[Recorded]:
    """Yield the interactions of all bare recordings below a directory; count what cannot be read in `skipped`."""
    for path in sorted(load.cassettes_below(directory)):
        try:
            metadata, recorded = cassette.load_bare(path)
        except BadFileError:
            skipped["no cassette"] += 1
            continue
        for number, each in enumerate(recorded):
            if isinstance(each, Unreadable):
                skipped["unreadable"] += 1
                continue
            known = table.recognise(each.interaction.uri)
            api = known[0] if known else table.table().get((str(metadata.get("provider")), str(metadata.get("api"))))
            if api is None:
                skipped["no such API"] += 1
                continue
            name = path.relative_to(directory).as_posix() + (f"#{number}" if len(recorded) > 1 else "")
            yield Recorded(api, name, each.interaction, known[1].model if known else None, metadata)
