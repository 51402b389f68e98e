"""What a provider's bytes say, by a plain walk along the field paths of the provider table.

This is the second opinion on a hand-written truth, and the only one on a bare recording. It shares no code with
`adapters/` and folds nothing that it does not have to. `llm_conformance.scenarios.derive` turns what it
finds into a truth.
"""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llm_conformance.wire.framings.base import DONE
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.paths import Place, compiled, places
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.read_rules import places_of, reading_rules

SHAPELESS = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, OSError, RecursionError)
"""What reading a body of another shape may run into; the last three come of times, and of nesting without end."""


@dataclass(frozen=True)
class CitationFacts:
    """A citation on the wire.

    `start` and `end` are in the provider's unit, from the beginning of the text block `block` or of the whole text
    (None). `annotated` is the annotated text where the wire repeats it; `whole_block`: the block is what is annotated.
    """

    data: Mapping[str, Any]
    block: Any
    start: int | None
    end: int | None
    annotated: str | None
    whole_block: bool


@dataclass
class WireFacts:
    """What one recorded answer says.

    `calls` are the client's tool calls as [id, name, arguments], by the wire's key and the id that they began with.

    `ids` and `times` (when it was created) are all that the answer has: some streams give every chunk another.
    `finish_also` is a second word for why the answer ended, where a provider has two (a status and the detail of it).

    `found`: there are results of the provider's own search that are no citations.

    `blocks` is the visible text by block. `text_is_json`: the wire has another JSON value where text is expected.
    """

    ids: list[str] = field(default_factory=list)
    model: str | None = None
    text_is_json: bool = False
    blocks: dict[Any, str] = field(default_factory=dict)
    reasoning: str = ""
    refusal: str = ""
    finish: str | None = None
    finish_also: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    calls: dict[tuple[Any, str], list[str]] = field(default_factory=dict)
    citations: list[CitationFacts] = field(default_factory=list)
    media: list[dict[str, Any]] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    found: bool = False
    times: list[float | str] = field(default_factory=list)
    ended: bool = False
    error: Any = None

    @property
    def text(self) -> str:
        """The visible text as the wire has it, think tags included."""
        return "".join(self.blocks.values())

    @property
    def tool_calls(self) -> list[list[str]]:
        """The client's calls in order. Pieces that never got a name belong to the provider's own tools."""
        return [call for call in self.calls.values() if call[1]]


def documents(interaction: Interaction) -> Iterator[Any]:
    """Yield the JSON documents of an answer: the body, or the data of each frame except `[DONE]`.

    Raises ValueError where the bytes are not JSON.
    """
    return (document for document in _documents(interaction) if document is not DONE)


def _documents(interaction: Interaction) -> Iterator[Any]:
    if interaction.framing is None:
        yield json.loads(interaction.body)
    else:
        yield from interaction.framing.documents(interaction.body)


def without_last_frame(interaction: Interaction) -> Interaction:
    """Return a stream as it is when all but its last frame has been sent."""
    empty = interaction.framing.empty if interaction.framing else b""
    return replace(interaction, body=b"".join(interaction.frames[:-1]) or empty)


def derive(interaction: Interaction, api: Api) -> WireFacts:
    """Read an answer's documents by the rules of the provider's wire.

    Raises ValueError, KeyError, TypeError or AttributeError where the bytes are of another shape.
    """
    facts = WireFacts()
    rules = _rules(api.wire, interaction.streamed)
    for document in _documents(interaction):
        if document is DONE:
            facts.ended |= api.end_marker == DONE
            continue
        if not isinstance(document, Mapping):
            raise ValueError("a JSON object was expected")
        facts.ended |= bool(api.end_marker) and document.get("type") == api.end_marker
        for steps, rule in rules:
            for place in places(document, steps):
                _read(facts, place, rule, api, interaction.streamed)
    return facts


def derive_if_readable(interaction: Interaction, api: Api) -> WireFacts | None:
    """Return what an answer says, None if it is of another shape."""
    try:
        return derive(interaction, api)
    except SHAPELESS:
        return None


@dataclass(frozen=True)
class TextPlace:
    """A text in a document, or `[start, end)` of it; `twins` are further fields that say the same."""

    holder: dict[str, Any]
    name: str
    start: int
    end: int
    twins: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What stands there."""
        text: str = self.holder[self.name]
        return text[self.start : self.end]

    def within(self, start: int, end: int) -> TextPlace:
        """Return a part of the place."""
        return replace(self, start=self.start + start, end=self.start + end)

    def put(self, text: str) -> None:
        """Change the document."""
        for name in (self.name, *self.twins):
            whole: str = self.holder[name]
            self.holder[name] = whole[: self.start] + text + whole[self.end :]


def text_places(document: Mapping[str, Any], api: Api, streamed: bool, kind: str = "text") -> Iterator[TextPlace]:
    """Yield where a document has visible text, or another `kind` of text that the reading rules name: `reasoning`."""
    for steps, rule in _rules(api.wire, streamed):
        for place in places(document, steps) if kind in rule else ():
            paths = api.reasoning_fields if rule[kind] == "$reasoning_fields" else _several(rule[kind])
            told = [path for path in paths if isinstance(place.find(path), str) and place.find(path)]
            if not told and kind == "reasoning":
                yield from _detailed_places(place, rule)
            if told:
                holder, name = place.holder(told[0])
                text = place.find(told[0])
                twins = tuple(path for path in told[1:] if place.find(path) == text)
                yield TextPlace(holder, name, 0, len(text), twins)


_KINDS = ("error", "text", "reasoning", "refusal", "name", "arguments", "whole_arguments", "citation", "media")
_ENDS = ("finish", "usage")


def kinds(document: Mapping[str, Any], api: Api, streamed: bool) -> list[str]:
    """Return what a document has of an answer, by the names that the reading rules have for it."""
    found: dict[str, None] = {}
    for steps, rule in _rules(api.wire, streamed):
        for place in places(document, steps):
            for kind in (*_KINDS, *_ENDS):
                if kind in rule:
                    paths = api.reasoning_fields if rule[kind] == "$reasoning_fields" else _several(rule[kind])
                    value = place.first(paths)
                    if value and not (kind == "text" and isinstance(value, list)):
                        found[kind] = None
    return sorted(found)


@functools.cache
def _rules(wire: str, streamed: bool) -> tuple[tuple[Any, Mapping[str, Any]], ...]:
    mode = "stream" if streamed else "json"
    return tuple((compiled(at[mode]), rule) for rule in reading_rules()[wire] if mode in (at := places_of(rule)))


def _read(facts: WireFacts, place: Place, rule: Mapping[str, Any], api: Api, streamed: bool) -> None:
    if "id" in rule and (id := _text(place.first(rule["id"]))) and id not in facts.ids:  # some servers count theirs
        facts.ids.append(id)
    if "created" in rule and (time := place.first(rule["created"])) and time not in facts.times:
        facts.times.append(time)
    for name in ("model", "error"):
        if name in rule:
            setattr(facts, name, place.first(rule[name]) or getattr(facts, name))
    for name in ("finish", "finish_also"):  # a number, where a client asks for those of an enum
        if name in rule and (word := place.first(rule[name])):
            setattr(facts, name, str(word))
    for path in _several(rule.get("usage", ())):
        facts.usage.update({key: value for key, value in (place.find(path) or {}).items() if value is not None})
    if "text" in rule and not isinstance(
        value := place.first(rule["text"]), list
    ):  # whose items have rules of their own
        key = _block(place, rule)
        facts.blocks[key] = facts.blocks.get(key, "") + _text(value)
        facts.text_is_json |= value is not None and not isinstance(value, str)
    if "reasoning" in rule:
        paths = api.reasoning_fields if rule["reasoning"] == "$reasoning_fields" else rule["reasoning"]
        told = place.first(paths)
        facts.reasoning += _text(told) if told or "reasoning_else" not in rule else _detailed(place, rule)
    if "refusal" in rule:
        facts.refusal += _text(place.first(rule["refusal"]))
    facts.opaque += [value for path in _several(rule.get("opaque", ())) if (value := place.find(path))]
    if "found" in rule:
        facts.found |= place.first(rule["found"]) is not None
    if "call" in rule or "name" in rule:
        _read_call(facts, place, rule)
    if "citation" in rule:
        facts.citations.append(_citation(place, rule))
    if "media" in rule and any((place.first(rule["media"]) or {}).values()):  # an object of empty fields says nothing
        _read_media(facts, place.first(rule["media"]), streamed)


def _detailed_places(place: Place, rule: Mapping[str, Any]) -> Iterator[TextPlace]:
    """Yield where reasoning stands only in a list of details."""
    for detail in place.find(rule["reasoning_else"]) or () if "reasoning_else" in rule else ():
        for name in ("text", "summary"):
            if isinstance(detail.get(name), str) and detail[name]:
                yield TextPlace(detail, name, 0, len(detail[name]))


def _detailed(place: Place, rule: Mapping[str, Any]) -> str:
    """Return the reasoning that stands only in a list of details."""
    details = place.find(rule["reasoning_else"])
    said = (detail.get(name) for detail in details or () for name in ("text", "summary"))
    return "".join(map(_text, said))


def _several(paths: str | Sequence[str]) -> Sequence[str]:
    return [paths] if isinstance(paths, str) else paths


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _block(place: Place, rule: Mapping[str, Any]) -> Any:
    """Return the key of a text block, None where the text has no blocks, or a citation names none."""
    key = tuple(place.find(path) for path in rule.get("block", ()))
    return None if all(part is None for part in key) else key


def _read_call(facts: WireFacts, place: Place, rule: Mapping[str, Any]) -> None:
    way = rule.get("call")  # None: each is a call of its own; "-": there is only one
    key = ("own", len(facts.calls)) if way is None else way if way == "-" else place.first(way)
    call = _call(facts, key, _text(place.first(rule["call_id"])) if "call_id" in rule else "")
    for number, name in enumerate(("call_id", "name")):
        if name in rule:
            call[number] = call[number] or _text(place.first(rule[name]))
    if "arguments" in rule:
        call[2] += _text(place.first(rule["arguments"]))
    if "whole_arguments" in rule:
        call[2] = call[2] or _text(place.first(rule["whole_arguments"]))


def _call(facts: WireFacts, key: Any, id: str) -> list[str]:
    """Return the call that a piece belongs to. Another id under a known key is another call: keys may be shared."""
    known = [call for (own, _), call in facts.calls.items() if own == key and (not id or call[0] in ("", id))]
    return known[-1] if known else facts.calls.setdefault((key, id), ["", "", ""])


def _citation(place: Place, rule: Mapping[str, Any]) -> CitationFacts:
    data = _flattened(place.find(rule["citation"]))
    inner = Place(data, place.document, place.positions)
    start, end = (inner.find(rule[side]) if side in rule else None for side in ("start", "end"))
    if start is None and end is not None:
        start = rule.get("start_default")
    gone = [rule[side] for side in ("start", "end") if side in rule]
    return CitationFacts(
        data=functools.reduce(_without, (path.split("/") for path in gone), data),
        block=_block(inner, rule),
        start=start,
        end=end,
        annotated=inner.find(rule["annotated"]) if "annotated" in rule else None,
        whole_block=rule.get("span") == "block",
    )


def _flattened(citation: Mapping[str, Any]) -> dict[str, Any]:
    """Turn `{"type": T, T: {...}}` into one mapping."""
    kind = citation.get("type")
    inner = citation.get(kind) if isinstance(kind, str) else None
    if not isinstance(inner, Mapping):
        return dict(citation)
    return {key: value for key, value in citation.items() if key != kind} | dict(inner)


def _without(data: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return a copy without the field at a path."""
    name, *deeper = path
    rest = {key: value for key, value in data.items() if key != name}
    inner = data.get(name)
    return {**data, name: _without(inner, deeper)} if deeper and isinstance(inner, Mapping) else rest


def _read_media(facts: WireFacts, piece: Mapping[str, Any], streamed: bool) -> None:
    """Take a piece of media.

    One that has no id and no type of its own goes on with the last, and so does streamed speech of the same type.
    """
    last = facts.media[-1] if facts.media else None
    kind = piece.get("mimeType")
    is_speech = streamed and isinstance(kind, str) and kind.startswith("audio/")
    if last is None or (kind != last.get("mimeType") if is_speech else not _goes_on(piece, last)):
        last = {}
        facts.media.append(last)
    for name, value in piece.items():
        if name == "data" and is_speech:
            last[name] = _joined(last.get(name, ""), value or "")
        elif name in ("data", "transcript"):
            last[name] = last.get(name, "") + (value or "")
        elif value is not None:
            last.setdefault(name, value)


def _goes_on(piece: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    return "mimeType" not in piece and piece.get("id") in (None, last.get("id"))


def _joined(one: str, other: str) -> str:
    """Join texts of base64, each whole in itself: behind padding nothing may stand, so there the bytes are joined."""
    if not (one.endswith("=") and other):
        return one + other
    return base64.b64encode(base64.b64decode(one) + base64.b64decode(other)).decode("ascii")
