"""Find the places of text in a document, to change the text of a recording in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from llm_conformance.wire.paths import Place, places
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.read_rules import ReadRule, compiled_rules, paths_of


@dataclass(frozen=True)
class TextPlace:
    """A part of a text field in a document, from `start` to before `end` in code points.

    Attributes:
        holder: The object that has the field.
        name: The name of the field.
        start: The offset at which the part starts.
        end: The offset after its end.
        twins: Further fields of the object with the same text.
    """

    holder: dict[str, Any]
    name: str
    start: int
    end: int
    twins: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text of the part."""
        text: str = self.holder[self.name]
        return text[self.start : self.end]

    def within(self, start: int, end: int) -> TextPlace:
        """Return a part of this part."""
        return replace(self, start=self.start + start, end=self.start + end)

    def put(self, text: str) -> None:
        """Replace the part in the document."""
        for name in (self.name, *self.twins):
            whole: str = self.holder[name]
            self.holder[name] = whole[: self.start] + text + whole[self.end :]


def text_places(document: Mapping[str, Any], api: Api, streamed: bool, kind: str = "text") -> Iterator[TextPlace]:
    """Yield the places of visible text, or of another `kind` of text that read rules name, such as `reasoning`."""
    for steps, rule in compiled_rules(api.wire, streamed):
        for place in places(document, steps) if kind in rule else ():
            paths = [path for path in paths_of(rule, kind, api) if isinstance(place.find(path), str)]
            filled = [path for path in paths if place.find(path)]
            if filled:
                text = place.find(filled[0])
                twins = tuple(path for path in filled[1:] if place.find(path) == text)
                yield TextPlace(*place.holder(filled[0]), 0, len(text), twins)
            elif kind == "reasoning":
                yield from _places_in_details(place, rule)


def _places_in_details(place: Place, rule: ReadRule) -> Iterator[TextPlace]:
    """Yield the places of the reasoning in a list of details."""
    for detail in place.find(rule["reasoning_else"]) or () if "reasoning_else" in rule else ():
        for name in ("text", "summary"):
            if isinstance(detail.get(name), str) and detail[name]:
                yield TextPlace(detail, name, 0, len(detail[name]))
