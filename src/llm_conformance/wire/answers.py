"""Read the facts in the bytes of a response, by the read rules of its wire format.

This reading shares no code with `adapters/`. The lint compares the facts with the hand-written expected values of a
scenario. Bare recordings have no scenario file, and are judged only by these facts.

    bytes  --framing-->  JSON documents  --read rules-->  WireFacts  --scenarios/derive-->  Expected

`WireFacts` are in the provider's own terms: its finish word, its usage object, its offset unit. `scenarios/derive`
decides what they mean for an adapter.
"""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llm_conformance.wire.framings.base import DONE, json_value
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.partial_arguments import extended
from llm_conformance.wire.paths import Place, places
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.read_rules import ONLY_CALL, ReadRule, as_list, compiled_rules, paths_of

SHAPELESS = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, OSError, RecursionError)
"""What `derive` may raise for a malformed body. The last three come from impossible times and from endless nesting."""


@dataclass(frozen=True)
class CitationFacts:
    """A citation on the wire.

    Attributes:
        data: The citation object without its start and end.
        block: The text block from whose start the offsets count; None if they count from the start of the whole text.
        start: The start of the cited text, in the provider's offset unit (`Api.offset_unit`).
        end: The end of the cited text, in the same unit.
        annotated: The cited text, if the response repeats it.
        whole_block: Whether the whole block is cited.
    """

    data: Mapping[str, Any]
    block: Any
    start: int | None
    end: int | None
    annotated: str | None
    whole_block: bool


@dataclass
class WireFacts:
    """The facts in one response.

    Attributes:
        ids: All distinct ids. Some streams send a new id with every chunk.
        model: The model that the response names.
        times: All times of creation, in seconds since 1970 or as texts.
        blocks: The visible text of each block, with think tags.
        text_is_json: Whether the field of the text has a JSON value that is not a string.
        reasoning: The reasoning that is in fields of its own.
        whole_reasoning: The full reasoning, which some streams repeat at the end of each part.
        refusal: The text of a refusal.
        finish: The finish word.
        finish_also: A second finish word, for providers that send a status and the reason for it.
        usage: The usage object without null values. For a stream, the read rules decide if this is the last usage
            object or all of them merged.
        null_counts: The fields of a usage object that were null.
        calls: Maps (key on the wire, first id) to a tool call, [id, name, arguments]. If a call has no name, the
            provider runs its tool.
        own_tools: Maps the id of a call to the type of its item (`shell_call`), for tools that the provider defines and
            the client runs. Such a call has its arguments as an object, and `calls` has them as JSON text.
        asks: Whether the provider asks the client for something that is not the result of a call, such as an approval.
        citations: The citations, in order.
        media: Audio and images.
        opaque: Signatures, redacted and encrypted data.
        found: Whether the provider's own search has results that are not citations.
        ended: Whether the stream has its end marker.
        error: The error object.
    """

    ids: list[str] = field(default_factory=list)
    model: str | None = None
    times: list[float | str] = field(default_factory=list)
    blocks: dict[Any, str] = field(default_factory=dict)
    text_is_json: bool = False
    reasoning: str = ""
    whole_reasoning: str = ""
    refusal: str = ""
    finish: str | None = None
    finish_also: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    null_counts: set[str] = field(default_factory=set)
    calls: dict[tuple[Any, str], list[str]] = field(default_factory=dict)
    own_tools: dict[str, str] = field(default_factory=dict)
    asks: bool = False
    citations: list[CitationFacts] = field(default_factory=list)
    media: list[dict[str, Any]] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    found: bool = False
    ended: bool = False
    error: Any = None

    @property
    def text(self) -> str:
        """The visible text of all blocks, with think tags."""
        return "".join(self.blocks.values())

    @property
    def tool_calls(self) -> list[list[str]]:
        """The client's tool calls in order. A call without a name is left out, because the provider runs its tool."""
        return [call for call in self.calls.values() if call[1]]


def documents(interaction: Interaction) -> Iterator[Any]:
    """Yield the JSON documents of a response: the body, or the data of each frame except `[DONE]`.

    Raises ValueError if the bytes are malformed.
    """
    return (document for document in _documents(interaction) if document is not DONE)


def _documents(interaction: Interaction) -> Iterator[Any]:
    if interaction.framing is None:
        yield json_value(interaction.body)
    else:
        yield from interaction.framing.documents(interaction.body)


def without_last_frame(interaction: Interaction) -> Interaction:
    """Return a copy of a stream that breaks off before its last frame."""
    empty = interaction.framing.empty if interaction.framing else b""
    return replace(interaction, body=b"".join(interaction.frames[:-1]) or empty)


def derive(interaction: Interaction, api: Api) -> WireFacts:
    """Read the documents of a response by the read rules of the API's wire format.

    Raises one of `SHAPELESS` if the response is malformed.
    """
    facts = WireFacts()
    rules = compiled_rules(api.wire, interaction.streamed)
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
    """Return the facts in a response; None if it is malformed."""
    try:
        return derive(interaction, api)
    except SHAPELESS:
        return None


_KINDS = (
    *("error", "text", "reasoning", "refusal", "name", "arguments", "whole_arguments", "partial_arguments"),
    *("citation", "media", "finish", "usage"),
)


def kinds(document: Mapping[str, Any], api: Api, streamed: bool) -> list[str]:
    """Return the sorted keys of read rules that find something in a document, such as `finish` and `text`."""
    found: set[str] = set()
    for steps, rule in compiled_rules(api.wire, streamed):
        for place in places(document, steps):
            for kind in _KINDS:
                value = place.first(paths_of(rule, kind, api)) if kind in rule else None
                if value and not (kind in ("text", "reasoning") and isinstance(value, list)):
                    found.add(kind)
    return sorted(found)


def is_named(document: Any, api: Api, streamed: bool) -> bool:
    """Return True if the document has a place that a read rule names, even if the place is empty."""
    rules = compiled_rules(api.wire, streamed)
    return any(True for steps, _ in rules if steps for _ in places(document, steps))


def _read(facts: WireFacts, place: Place, rule: ReadRule, api: Api, streamed: bool) -> None:
    """Add to the facts what a rule finds at a place; `schemas/read-rules.schema.json` explains the keys of rules."""
    _read_head(facts, place, rule)
    if "text" in rule:
        _read_text(facts, place, rule)
    if "reasoning" in rule:
        reasoning = place.first(paths_of(rule, "reasoning", api))
        if not isinstance(reasoning, list):  # its items have rules of their own
            facts.reasoning += _text(reasoning) if reasoning else _reasoning_in_details(place, rule)
    if "whole_reasoning" in rule:
        facts.whole_reasoning += _text(place.first(rule["whole_reasoning"]))
    if "refusal" in rule:
        facts.refusal += _text(place.first(rule["refusal"]))
    facts.opaque += [value for path in as_list(rule.get("opaque", ())) if (value := place.find(path))]
    if "found" in rule:
        facts.found |= place.first(rule["found"]) is not None
    if "asks" in rule:
        facts.asks |= place.first(rule["asks"]) is not None
    if "call" in rule or "name" in rule:
        _read_call(facts, place, rule)
    if "citation" in rule:
        facts.citations.append(_citation(place, rule))
    if "media" in rule:
        media = place.first(rule["media"]) or {}
        if any(media.values()):  # an object of empty fields says nothing
            _read_media(facts, media, streamed)


def _read_head(facts: WireFacts, place: Place, rule: ReadRule) -> None:
    """Read the values that a response has once: id, time, model, error, finish words and usage."""
    if "id" in rule and (id := _text(place.first(rule["id"]))) and id not in facts.ids:  # an id may be a number
        facts.ids.append(id)
    if "created" in rule and (time := place.first(rule["created"])) and time not in facts.times:
        facts.times.append(time)
    for name in ("model", "error"):
        if name in rule:
            setattr(facts, name, place.first(rule[name]) or getattr(facts, name))
    for name in ("finish", "finish_also"):  # a number if the client asks for enums as numbers
        if name in rule and (word := place.first(rule[name])):
            setattr(facts, name, str(word))
    for path in as_list(rule.get("usage", ())):
        found = place.find(path) or {}
        names = rule.get("usage_as", {})
        counts = {names.get(key, key): value for key, value in found.items() if value is not None}
        # An object without a count, such as Vertex AI's traffic type, replaces nothing.
        if rule.get("usage_replaces") and any(isinstance(value, int) for value in counts.values()):
            facts.usage.clear()
        facts.usage.update(counts)
        facts.null_counts |= found.keys() - counts.keys()


def _read_text(facts: WireFacts, place: Place, rule: ReadRule) -> None:
    value = place.first(rule["text"])
    if isinstance(value, list):  # its items have rules of their own
        return
    block = _block(place, rule)
    facts.blocks[block] = facts.blocks.get(block, "") + _text(value)
    facts.text_is_json |= value is not None and not isinstance(value, str)


def _reasoning_in_details(place: Place, rule: ReadRule) -> str:
    """Return the reasoning of a list of details; "" if the rule names no such list."""
    details = (place.find(rule["reasoning_else"]) or ()) if "reasoning_else" in rule else ()
    return "".join(_text(detail.get(name)) for detail in details for name in ("text", "summary"))


def _text(value: Any) -> str:
    """Return a string unchanged; "" for null, and any other value as JSON."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _block(place: Place, rule: ReadRule) -> Any:
    """Return the key of a text block; None if the text has no blocks, or if a citation names no block."""
    key = tuple(place.find(path) for path in rule.get("block", ()))
    return None if all(part is None for part in key) else key


def _read_call(facts: WireFacts, place: Place, rule: ReadRule) -> None:
    call_rule = rule.get("call")
    if call_rule is None:  # each place is a new call, or a nameless piece of the last call
        is_piece = "partial_arguments" in rule and place.first(rule["name"]) is None
        key: Any = ("own", max(len(facts.calls) - is_piece, 0))
    else:
        key = ONLY_CALL if call_rule == ONLY_CALL else place.first(call_rule)
    id = _text(place.first(rule["call_id"])) if "call_id" in rule else ""
    id = "" if id == "null" else id  # Mistral may send "null" for no id
    call = _call(facts, key, id)
    call[0] = call[0] or id
    if "name" in rule:
        call[1] = call[1] or _text(place.first(rule["name"]))
    if "own_tool" in rule:
        kind = _text(place.first(rule["own_tool"]))
        call[1] = kind.removesuffix("_call")
        facts.own_tools[call[0]] = kind
    if "arguments" in rule:
        call[2] += _text(place.first(rule["arguments"]))
    if "whole_arguments" in rule:
        call[2] = call[2] or _text(place.first(rule["whole_arguments"]))
    if "partial_arguments" in rule and (pieces := place.first(rule["partial_arguments"])):
        call[2] = json.dumps(extended(json.loads(call[2] or "{}"), pieces), ensure_ascii=False)


def _call(facts: WireFacts, key: Any, id: str) -> list[str]:
    """Return the call that a piece belongs to. Calls may share a key, so a new id starts a new call."""
    known = [call for (call_key, _), call in facts.calls.items() if call_key == key and (not id or call[0] in ("", id))]
    return known[-1] if known else facts.calls.setdefault((key, id), ["", "", ""])


def _citation(place: Place, rule: ReadRule) -> CitationFacts:
    data = _flattened(place.find(rule["citation"]))
    inner = Place(data, place.document, place.positions)
    start, end = (inner.find(rule[side]) if side in rule else None for side in ("start", "end"))
    if start is None and end is not None:
        start = rule.get("start_default")
    offset_paths = [rule[side].split("/") for side in ("start", "end") if side in rule]
    return CitationFacts(
        data=functools.reduce(_without, offset_paths, data),
        block=_block(inner, rule),
        start=start,
        end=end,
        annotated=inner.find(rule["annotated"]) if "annotated" in rule else None,
        whole_block=rule.get("span") == "block",
    )


def _flattened(citation: Mapping[str, Any]) -> dict[str, Any]:
    """Return `{"type": T, T: {...}}` as one flat object, any other citation unchanged."""
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
    """Add a piece of media.

    A piece without a type continues the last one, unless it has another id. Streamed speech continues the last piece of
    the same type.
    """
    piece = _in_one_form(piece)
    last = facts.media[-1] if facts.media else None
    kind = _mime_type(piece)
    is_speech = streamed and isinstance(kind, str) and kind.startswith("audio/")
    if last is None or (kind != _mime_type(last) if is_speech else not _continues(piece, last)):
        last = {}
        facts.media.append(last)
    for name, value in piece.items():
        if name == "data" and is_speech:
            last[name] = _joined_base64(last.get(name, ""), value or "")
        elif name in ("data", "transcript"):
            last[name] = last.get(name, "") + (value or "")
        elif value is not None:
            last.setdefault(name, value)


def _in_one_form(piece: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a piece of media as `mimeType` and `data`. It may have a data URL, or Bedrock's format and source."""
    head, comma, data = str(piece.get("url", "")).partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        rest = {name: value for name, value in piece.items() if name != "url"}
        return {"mimeType": head.removeprefix("data:").removesuffix(";base64"), "data": data, **rest}
    if "format" not in piece and "source" not in piece:
        return piece
    kind = {"mimeType": f"image/{piece['format']}"} if "format" in piece else {}
    source = piece.get("source") or {}
    return kind | ({"data": source["bytes"]} if "bytes" in source else {})


def _mime_type(piece: Mapping[str, Any]) -> Any:
    return piece.get("mimeType") or piece.get("mime_type")


def _continues(piece: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    return not {"mimeType", "mime_type", "url"} & piece.keys() and piece.get("id") in (None, last.get("id"))


def _joined_base64(one: str, other: str) -> str:
    """Join two complete base64 texts. Nothing may follow padding. So if the first has padding, the bytes are joined."""
    if not (one.endswith("=") and other):
        return one + other
    return base64.b64encode(base64.b64decode(one) + base64.b64decode(other)).decode("ascii")
