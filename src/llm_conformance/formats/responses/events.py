"""The stream events that build output items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.formats.responses import variations as vary
from llm_conformance.formats.responses.items import Fields
from llm_conformance.generate import texts
from llm_conformance.generate.chance import at_most, pick
from llm_conformance.generate.variations import choose, empty, ways_of
from llm_conformance.wire.providers.api import Api


def events_of_items(draw: DrawFn, api: Api, items: Sequence[Fields]) -> list[Fields]:
    """Draw the events of all items."""
    ends = choose(draw, api, vary.ENDS)
    numbered = is_numbered(draw, api)
    opening: list[Fields] = []
    closing: list[list[Fields]] = []
    for index, item in enumerate(items):
        numbers = {"output_index": index} if numbered else {}
        own = [{**event, **numbers} for event in _events(draw, api, item, numbered)]
        kept = len(own)
        is_before_others = item["type"] == "reasoning" and any(each["type"] != "reasoning" for each in items[index:])
        if ends == "together at the end" or (ends == "reasoning last" and is_before_others):
            kept = next(number for number, event in enumerate(own) if event["type"].endswith(".done"))
        opening += own[:kept]
        closing.append(own[kept:])
    return [*opening, *(event for events in closing for event in events)]


def is_numbered(draw: DrawFn, api: Api) -> bool:
    """Draw whether the events of a stream have numbers."""
    return choose(draw, api, vary.NUMBERS) == "given"


def _events(draw: DrawFn, api: Api, item: Fields, numbered: bool) -> Iterator[Fields]:
    named = {"item_id": item.get("id", item.get("item_id"))}
    yield {"type": "response.output_item.added", "item": _begun(draw, api, item)}
    events: list[Fields] = []
    if item["type"] == "message":
        content_index = {"content_index": 0} if numbered else {}
        events = [{**event, **content_index} for event in _part_events(draw, api, item["content"][0])]
    elif item["type"] == "function_call":
        events = _argument_events(draw, api, item["arguments"])
    elif item["type"] == "reasoning":
        events = _reasoning_events(draw, api, item, numbered)
    elif item["type"] in _PROGRESS:
        events = _progress_events(api, item)
    yield from ({**event, **named} for event in events)
    yield {"type": "response.output_item.done", "item": item}


_PROGRESS = {
    "web_search_call": ("in_progress", "searching", "completed"),
    "file_search_call": ("in_progress", "searching", "completed"),
    "code_interpreter_call": ("in_progress", "interpreting", "completed"),
}
"""Maps the type of a hosted call to the last words in the types of its events."""


def _begun(draw: DrawFn, api: Api, item: Fields) -> Fields:
    """Draw an item in the form that it has when its stream begins."""
    begun = dict(item)
    if "status" in item:
        begun["status"] = "in_progress"
    kind = item["type"]
    if kind == "message":
        begun["content"] = []
    elif kind == "function_call":
        begun["arguments"] = ""
    elif kind == "code_interpreter_call":
        begun["code"] = ""
    elif kind == "web_search_call":
        begun["action"] = {"type": "search"}
    elif kind == "reasoning":
        begun = {name: value for name, value in begun.items() if name not in ("content", "encrypted_content")}
        begun |= {"summary": [], **empty(draw, api, vary.BEGUN_CONTENT, "content", [])}
        begun |= _begun_signature(draw, api, item)
    return begun


def _begun_signature(draw: DrawFn, api: Api, item: Fields) -> Fields:
    name = "encrypted_content"
    if item.get(name) is None:
        return {name: None} if name in item else {}
    known = ways_of(api, vary.BEGUN_SIGNATURE)
    way = pick(draw, *(each for each in known if item[name] or each in ("empty", "same")))
    if way == "absent":
        return {}
    values = {"same": item[name], "other": f"AAAA{item[name]}", "null": None, "empty": ""}
    return {name: values[way]}


def _part_events(draw: DrawFn, api: Api, part: Fields) -> list[Fields]:
    """Draw the events of a text or of a refusal. Annotations come in order, after the text that they annotate."""
    is_text = part["type"] == "output_text"
    kind, name = ("output_text", "text") if is_text else ("refusal", "refusal")
    bare = {"type": part["type"], name: ""}
    if is_text and choose(draw, api, vary.BEGUN_PART) == "annotations":
        bare = {**part, name: "", "annotations": []}
    pieces = list(_pieces(draw, api, f"response.{kind}", part[name], name))
    if is_text:
        logprobs = empty(draw, api, vary.LOGPROBS_OF_PIECES, "logprobs", [])
        pieces = [{**piece, **logprobs} for piece in pieces]
    last = -1
    for number, each in enumerate(part.get("annotations") or []):
        added = {"type": "response.output_text.annotation.added", "annotation_index": number, "annotation": each}
        earliest = max(_position_behind(pieces, each["end_index"]), last + 1)
        last = earliest + at_most(draw, len(pieces) - 1 - earliest)
        pieces.insert(last, added)
    events: list[Fields] = [{"type": "response.content_part.added", "part": bare}, *pieces]
    if choose(draw, api, vary.PART_DONE) == "sent":
        events.append({"type": "response.content_part.done", "part": part})
    return events


def _position_behind(events: Sequence[Fields], end: int) -> int:
    """Return the index after the event with which the first `end` code points are complete."""
    length = 0
    for position, event in enumerate(events):
        if length >= end:
            return position
        length += len(event.get("delta", ""))
    return len(events) - 1


def _argument_events(draw: DrawFn, api: Api, arguments: str) -> list[Fields]:
    events = list(_pieces(draw, api, "response.function_call_arguments", arguments, "arguments"))
    way = choose(draw, api, vary.PIECES_OF_ARGUMENTS)
    if way == "whole":
        return events[-1:]
    return events[:-1] if way == "pieces" else events


def _reasoning_events(draw: DrawFn, api: Api, item: Fields, numbered: bool) -> list[Fields]:
    if item["summary"]:
        (part,) = item["summary"]
        return [
            {"type": "response.reasoning_summary_part.added", "part": {**part, "text": ""}, "summary_index": 0},
            *(
                {**event, "summary_index": 0}
                for event in _pieces(draw, api, "response.reasoning_summary_text", part["text"], "text")
            ),
            {"type": "response.reasoning_summary_part.done", "part": part, "summary_index": 0},
        ]
    if not item.get("content"):
        return []
    (part,) = item["content"]
    pieces = list(_pieces(draw, api, "response.reasoning_text", part["text"], "text"))
    events = pieces if choose(draw, api, vary.WHOLE_REASONING) == "sent" else pieces[:-1]
    around = choose(draw, api, vary.PARTS_OF_REASONING)
    if around != "missing":
        begun: Fields = {"type": f"response.{around}.added", "part": {**part, "text": ""}}
        events = [begun, *events, {"type": f"response.{around}.done", "part": part}]
    return [{**event, **({"content_index": 0} if numbered else {})} for event in events]


def _progress_events(api: Api, item: Fields) -> list[Fields]:
    """Return the events that a hosted call sends while it runs.

    If it runs code, the code follows the first event in one piece.

    Nothing is drawn here, so that a seed draws the same answers as in earlier versions.
    """
    first, *others = ({"type": f"response.{item['type']}.{step}"} for step in _PROGRESS[item["type"]])
    if "code" not in item:
        return [first, *others]
    kind, hidden = "response.code_interpreter_call_code", _hidden(ways_of(api, vary.OBFUSCATION)[0])
    pieces = [
        {"type": f"{kind}.delta", "delta": item["code"], **hidden},
        {"type": f"{kind}.done", "code": item["code"]},
    ]
    return [first, *pieces, *others]


def _pieces(draw: DrawFn, api: Api, kind: str, text: str, name: str) -> Iterator[Fields]:
    """Yield the events with the pieces of a text, then the event that repeats the whole text."""
    hidden = _hidden(choose(draw, api, vary.OBFUSCATION))
    for piece in texts.pieces(draw, text):
        yield {"type": f"{kind}.delta", "delta": piece, **hidden}
    yield {"type": f"{kind}.done", name: text}


def _hidden(way: str) -> dict[str, Any]:
    """Return the field that hides the length of a piece."""
    return {} if way == "absent" else {"obfuscation": "" if way == "empty" else "aQ3kZ"}
