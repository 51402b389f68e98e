"""The ways, models and ids that answers show, for each API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from llm_conformance.formats.recognisers import recognise
from llm_conformance.generate.writing import VARIATIONS as WRITING
from llm_conformance.wire.answers import derive_if_readable
from llm_conformance.wire.providers.api import Api
from tools.variations.answers import SeenAnswer
from tools.variations.id_forms import is_masked

_SCENARIOS_NAMED = 1
_OF_BYTES = {variation.name for variation in WRITING}


@dataclass
class SeenWay:
    """How often a way was seen, and where."""

    recordings: int = 0
    scenarios: list[str] = field(default_factory=list)
    first: str = ""


@dataclass
class Seen:
    """What all answers of one API show.

    Attributes:
        ways: By variation and way.
        recordings: The number of recordings in which each variation was recognised.
        models: How often each pair of the model in the request and the model in the answer was seen.
        ids: The ids of each kind.
        unknown: What the recogniser found and the row of the API lacks, with one source.
    """

    ways: dict[tuple[str, str], SeenWay] = field(default_factory=dict)
    recordings: Counter[str] = field(default_factory=Counter)
    models: Counter[tuple[str, str]] = field(default_factory=Counter)
    ids: dict[str, set[str]] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)

    def add(self, answer: SeenAnswer) -> None:
        """Note what one answer shows."""
        variations = set()
        for way in recognise(answer.api, answer.interaction):
            if way.variation in _OF_BYTES and not answer.as_sent:
                continue
            seen = self.ways.setdefault((way.variation, way.way), SeenWay(first=answer.source))
            variations.add(way.variation)
            if answer.is_scenario:
                seen.scenarios.append(answer.source)
            else:
                seen.recordings += 1
            if way.source is None and not is_masked(way.way):
                self.unknown.setdefault(str(way), answer.source)
        if not answer.is_scenario:
            self.recordings.update(variations)
        facts = derive_if_readable(answer.interaction, answer.api)
        if facts is None:
            return
        self.models[answer.model, facts.model or ""] += 1
        self.ids.setdefault("answer", set()).update(facts.ids)
        self.ids.setdefault("call", set()).update(
            id.replace(name or id, "{name}") for id, name, _ in facts.tool_calls if id
        )

    def source(self, variation: str, way: str) -> str:
        """Return the source of a way: a scenario that shows it, and the share of recordings that have it."""
        seen = self.ways[variation, way]
        measured = f"measured: {seen.recordings} of {self.recordings[variation]} recordings" if seen.recordings else ""
        return "; ".join(filter(None, [*dict.fromkeys(seen.scenarios[:_SCENARIOS_NAMED]), measured]))

    def common_first(self) -> Iterator[tuple[str, str]]:
        """Yield (variation, way). The ways of a variation are in order, the most common first."""
        order = sorted(
            self.ways, key=lambda each: (each[0], -self.ways[each].recordings, -len(self.ways[each].scenarios))
        )
        yield from order


def seen(answers: Iterable[SeenAnswer]) -> dict[Api, Seen]:
    """Return what answers show, by API."""
    result: dict[Api, Seen] = {}
    for answer in answers:
        result.setdefault(answer.api, Seen()).add(answer)
    return result
