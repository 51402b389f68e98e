"""Make recordings with a canary in place of each piece of the reasoning. A canary is a token that occurs nowhere else.

A message may share words with the reasoning by chance, but it cannot contain a canary by chance. The field paths of the
read rules and the think tags tell where the pieces are. If other fields repeat pieces, for example in the last event of
a stream, these fields change, too.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.scenarios import derive
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire import answers, think_tags
from llm_conformance.wire.framings.base import Framing
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.text_places import TextPlace, text_places

TOKEN = "canary-of-the-trace"  # noqa: S105 - not a credential
PARTNER = "the same recording with canary tokens in place of the reasoning"
"""How rules name such a recording."""
# A canary between tags shifts the text that citations point into. An adapter may reject citations outside the text.
_MAY_RAISE = ("ValidationError",)
_SIGNIFICANT = 8
"""In code points. A shorter text does not count as a copy of reasoning."""


@functools.lru_cache(maxsize=256)
def swapped(scenario: Scenario, mode: Mode) -> Scenario | None:
    """Return a scenario with canaries for the reasoning in one recording; None if no reasoning is found.

    Of its expected values, only message and reasoning are correct.
    """
    expected, interaction = scenario.expected[mode], scenario.interactions[mode]
    if expected.reasoning is None or expected.error or scenario.provenance == "generated":
        return None
    trace = _Trace(interaction, scenario.api, scenario.think_profile)
    changed = replace(interaction, body=trace.changed_body())
    before, after = (answers.derive(each, scenario.api) for each in (interaction, changed))
    old, new = (derive.expect(facts, scenario.api, scenario.think_profile) for facts in (before, after))
    if new.reasoning != "".join(trace.tokens) or new.message != old.message:
        return None
    expected = replace(
        expected, reasoning=new.reasoning, segments=(), stated=expected.stated - {"segments"}, may_raise=_MAY_RAISE
    )
    return replace(
        scenario,
        interactions={**scenario.interactions, mode: changed},
        expected={**scenario.expected, mode: expected},
        same_content=False,
    )


class _Trace:
    """The pieces of reasoning in a recording, and the canary for each."""

    def __init__(self, interaction: Interaction, api: Api, profile: ThinkProfile) -> None:
        self._parts = list(_parts(interaction))
        documents = [part.document for part in self._parts if isinstance(part.document, Mapping)]
        streamed = interaction.streamed
        self._visible = [place for each in documents for place in text_places(each, api, streamed)]
        self._places: list[TextPlace] = []
        self._repeated: list[tuple[list[TextPlace], slice]] = []
        for document in documents:
            trace = list(text_places(document, api, streamed, "reasoning"))
            again = list(text_places(document, api, streamed, "repeats"))
            is_elsewhere = trace and again and again[0].holder is not trace[0].holder
            if is_elsewhere and _joined(trace) == _joined(again):
                self._repeated.append((again, slice(len(self._places), len(self._places) + len(trace))))
            self._places += trace
        if not self._places and profile != "off":
            self._places = list(self._places_between_tags(profile, api.think_tag))
        self.tokens = [f"({TOKEN} {number})" for number in range(len(self._places))]

    def _places_between_tags(self, profile: ThinkProfile, tag: str) -> Iterator[TextPlace]:
        """Yield the parts of the visible text that are inside a reasoning block."""
        spans = think_tags.reasoning_spans(_joined(self._visible), profile, tag)
        position = 0
        for place in self._visible:
            length = len(place.text)
            for start, end in spans:
                first, last = max(start - position, 0), min(end - position, length)
                if first < last:
                    yield place.within(first, last)
            position += length

    def changed_body(self) -> bytes:
        """Return the body with each piece replaced by its canary, wherever the piece occurs."""
        copies = _Copies([place.text for place in self._places], self.tokens, self._places)
        spared = {(id(place.holder), place.name) for place in self._visible}
        for place, token in reversed(list(zip(self._places, self.tokens, strict=True))):
            place.put(token)
        for (first, *rest), own in self._repeated:
            first.put("".join(self.tokens[own]))
            for place in rest:
                place.put("")
        for part in self._parts:
            copies.replace_in(part.document, spared)
        return b"".join(part.encoded() for part in self._parts)


def _joined(places: Sequence[TextPlace]) -> str:
    return "".join(place.text for place in places)


class _Copies:
    """Texts that repeat consecutive pieces of the reasoning, and the canaries that replace them."""

    def __init__(self, pieces: Sequence[str], tokens: Sequence[str], places: Sequence[TextPlace]) -> None:
        self._tokens = tokens
        self._whole = "".join(pieces)
        self._edges = {0: 0}
        for piece in pieces:
            self._edges[max(self._edges) + len(piece)] = len(self._edges)
        self._names = {place.name for place in places} - {"delta"} | {"text"}

    def replace_in(self, value: Any, spared: Collection[tuple[int, str]]) -> None:
        """Replace the copies in a JSON value.

        Copies are in fields that have the name `text` or that of a reasoning field.

        `spared` are fields to leave alone, as (id of the object, name).
        """
        if isinstance(value, list):
            for inner in value:
                self.replace_in(inner, spared)
        elif isinstance(value, dict):
            for name, inner in value.items():
                if not isinstance(inner, str):
                    self.replace_in(inner, spared)
                elif name in self._names and len(inner) >= _SIGNIFICANT and (id(value), name) not in spared:
                    value[name] = self._copied(inner)

    def _copied(self, text: str) -> str:
        at = self._whole.find(text)
        while at >= 0:
            if at in self._edges and at + len(text) in self._edges:
                return "".join(self._tokens[self._edges[at] : self._edges[at + len(text)]])
            at = self._whole.find(text, at + 1)
        # A copy of a text with think tags has the tags and the text after them, too.
        return text.replace(self._whole, "".join(self._tokens)) if len(self._whole) >= _SIGNIFICANT else text


@dataclass
class _Part:
    """A frame of a stream, or a whole body (`framing` is None); `document` is its JSON, None if it has none."""

    sent: bytes
    document: Any
    framing: Framing | None

    def encoded(self) -> bytes:
        if self.document is None:
            return self.sent
        data = json.dumps(self.document, ensure_ascii=False).encode("utf-8")
        return data if self.framing is None else self.framing.with_data(self.sent, data)


def _parts(interaction: Interaction) -> Iterator[_Part]:
    framing = interaction.framing
    for frame in interaction.frames:
        data = framing.data(frame) if framing else frame
        yield _Part(frame, json.loads(data) if data else None, framing)
