"""Recogniser of OpenAI's responses. It tells which ways of the format an answer has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from llm_conformance.formats.responses import variations as vary
from llm_conformance.generate.answers import Block, Call, Citation, Hosted, HostedResult, Reasoning, Refusal, Text
from llm_conformance.generate.block_ways import CITATIONS, CITED_TEXTS, ways_of_blocks
from llm_conformance.generate.variations import Variation, emptiness_of, ways_of
from llm_conformance.wire.providers.api import Api

Fields = Mapping[str, Any]
Found = Iterator[tuple[Variation, str]]

_OF_CLIENTS = ("custom_tool_call", "computer_call", "apply_patch_call", "local_shell_call")
"""The types of client calls that no generator can write."""


def ways_of_a_body(api: Api, body: Any) -> Found:
    """Yield the ways of a plain answer."""
    yield from _ways_of_head(body)
    yield from _ways_of_items(api, body["output"])


def _ways_of_head(body: Fields) -> Found:
    yield vary.ERROR, emptiness_of(body, "error") or "given"
    if body["status"] == "completed":
        yield vary.INCOMPLETE, emptiness_of(body, "incomplete_details") or "given"


def _ways_of_items(api: Api, items: Sequence[Fields]) -> Found:
    yield from ways_of_blocks([block for item in items for block in _read(item)])
    texts = [part for item in items for part in _parts(item) if part["type"] == "output_text"]
    citations = [each["type"] for text in texts for each in text.get("annotations") or []]
    for kind in citations or ["none"]:
        yield CITATIONS, kind
    for text in texts:
        ends = [each["end_index"] for each in text.get("annotations") or () if "end_index" in each]
        if ends:
            is_ascii = text["text"][: max(ends)].isascii() and "ASCII" in ways_of(api, CITED_TEXTS)
            yield CITED_TEXTS, "ASCII" if is_ascii else "any"
        if not text.get("annotations"):
            yield vary.ANNOTATIONS, emptiness_of(text, "annotations") or "empty"
        if not text.get("logprobs"):
            yield vary.LOGPROBS, emptiness_of(text, "logprobs") or "empty"
    for item in items:
        if item["type"] == "message":
            yield vary.PHASE, item["phase"] or "null" if "phase" in item else "absent"
        elif item["type"] == "reasoning":
            yield from _ways_of_reasoning(item)
        elif item["type"] == "function_call":
            yield vary.CALL_ID, "id" if "id" in item else "item_id"


def _ways_of_reasoning(item: Fields) -> Found:
    content = item.get("content") or []
    parts = content or item.get("summary") or []
    if parts:
        yield vary.PLACE, "content" if content else "summary"
        yield vary.PARTS, "one" if len(parts) == 1 else "several"
    if not content:
        yield vary.CONTENT_OF_REASONING, emptiness_of(item, "content") or "empty"
    yield vary.STATUS, "given" if "status" in item else "absent"
    yield vary.SIGNATURE, emptiness_of(item, "encrypted_content") or "given"


def _parts(item: Fields) -> Sequence[Fields]:
    return item["content"] if item["type"] == "message" else ()


def _read(item: Fields) -> Iterator[Block | str]:
    """Yield the blocks of an item; for an item that no generator can write, its type."""
    kind = str(item["type"])
    if kind == "message":
        for part in item["content"]:
            if part["type"] == "refusal":
                yield Refusal(part["refusal"])
            else:
                yield Text(part["text"], tuple(Citation(0, 0, 0) for _ in part.get("annotations") or []))
    elif kind == "reasoning":
        parts = [*(item.get("summary") or []), *(item.get("content") or [])]
        yield Reasoning("".join(part["text"] for part in parts), item.get("encrypted_content") or "")
    elif kind == "function_call":
        yield Call(item["call_id"], item["name"], item["arguments"])
    elif kind.endswith("_call") and kind not in _OF_CLIENTS:
        yield Hosted(item.get("id", ""), kind, "")
        yield HostedResult(item.get("id", ""), kind)
    else:
        yield kind


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Found:
    """Yield the ways of a stream: those of its finished items, and those of its events."""
    events = [document for document in documents if isinstance(document, dict)]
    kinds = [event["type"].removeprefix("response.") for event in events]
    begun = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    whole = events[-1]["response"]
    yield from _ways_of_head(whole)
    yield from _ways_of_items(api, whole["output"] or done)
    yield vary.IN_PROGRESS, "sent" if "in_progress" in kinds else "missing"
    yield vary.NUMBERS, "given" if "sequence_number" in events[-1] else "absent"
    if done:
        yield vary.LAST_OUTPUT, "given" if whole["output"] else "empty"
        yield vary.ENDS, _ends(events)
    for event in events:
        yield from _ways_of_event(event)
    for item in begun:
        yield from _ways_of_begun(item, done)
    if "output_text.done" in kinds or "content_part.done" in kinds:
        yield vary.PART_DONE, "sent" if "content_part.done" in kinds else "missing"
    yield from _ways_of_pieces(kinds, done)


def _ways_of_event(event: Fields) -> Found:
    kind = event["type"]
    if kind.endswith(".delta"):
        yield vary.OBFUSCATION, _given(event, "obfuscation")
    if kind in ("response.output_text.delta", "response.output_text.done") and not event.get("logprobs"):
        yield vary.LOGPROBS_OF_PIECES, emptiness_of(event, "logprobs") or "empty"
    if kind == "response.content_part.added" and event["part"]["type"] == "output_text":
        yield vary.BEGUN_PART, "annotations" if "annotations" in event["part"] else "nothing"


def _ways_of_begun(item: Fields, done: Sequence[Fields]) -> Found:
    if item["type"] != "reasoning":
        return
    yield vary.BEGUN_CONTENT, emptiness_of(item, "content") or "empty"
    whole = next((each for each in done if each.get("id") == item.get("id")), None)
    if whole and whole.get("encrypted_content") is not None:
        sealed = emptiness_of(item, "encrypted_content")
        is_same = item.get("encrypted_content") == whole["encrypted_content"]
        yield vary.BEGUN_SIGNATURE, sealed or ("same" if is_same else "other")


def _ways_of_pieces(kinds: Sequence[str], done: Sequence[Fields]) -> Found:
    if any(item["type"] == "function_call" for item in done):
        pieces = "function_call_arguments.delta" in kinds
        whole = "function_call_arguments.done" in kinds
        yield vary.PIECES_OF_ARGUMENTS, "pieces and whole" if pieces and whole else "pieces" if pieces else "whole"
    if "reasoning_text.delta" in kinds:
        after = dict(pairwise(kinds[: kinds.index("reasoning_text.delta") + 1]))
        before = next(kind for kind, following in after.items() if following == "reasoning_text.delta")
        yield vary.PARTS_OF_REASONING, before.removesuffix(".added") if "part" in before else "missing"
        yield vary.WHOLE_REASONING, "sent" if "reasoning_text.done" in kinds else "missing"


def _given(fields: Fields, name: str) -> str:
    return "given" if fields.get(name) else "empty" if name in fields else "absent"


def _ends(events: Sequence[Fields]) -> str:
    edges = [event for event in events if event["type"].startswith("response.output_item.")]
    if all(event["type"].endswith(".added") for event in edges[::2]):
        return "in turn"
    begun, done = ([_name(edge) for edge in edges if edge["type"].endswith(end)] for end in ("added", "done"))
    return "together at the end" if begun == done else "reasoning last"


def _name(event: Fields) -> Any:
    return event["item"].get("id", event.get("output_index"))
