"""Recogniser of Anthropic messages. It tells which ways of the format an answer has.

A stream has the ways of the whole answer that its events build, and ways that only streams have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llm_conformance.formats.messages.variations import (
    BEGUN_CITED,
    BEGUN_INPUT,
    BEGUN_OUTPUT,
    BEGUN_SIGNATURE,
    CACHE_CREATION,
    CALLER,
    CITATIONS_FROM,
    ENDS,
    FINAL_COUNTS,
    METRICS,
    PIECES_OF_INPUT,
    PIECES_OF_REASONING,
    PINGS,
    SIGNATURE,
    STOP_DETAILS,
    UNCITED,
)
from llm_conformance.generate.answers import Block, Call, Citation, Hosted, HostedResult, Reasoning, Text
from llm_conformance.generate.block_ways import CITATIONS, ways_of_blocks
from llm_conformance.generate.variations import Variation, emptiness_of
from llm_conformance.wire.providers.api import Api

Fields = Mapping[str, Any]
Found = Iterator[tuple[Variation, str]]


def ways_of_a_body(api: Api, body: Any) -> Found:
    """Yield the ways of a plain answer."""
    if body.get("stop_reason") != "refusal":
        yield STOP_DETAILS, emptiness_of(body, "stop_details") or "given"
    yield from _ways_of_usage(body["usage"])
    yield from _ways_of_content(body["content"])


def _ways_of_usage(usage: Fields) -> Found:
    written, parts = usage.get("cache_creation_input_tokens"), usage.get("cache_creation")
    if written is not None or parts:
        total = sum(parts.values()) if parts else None
        yield CACHE_CREATION, "given" if total == written else {None: "absent", 0: "zeros"}.get(total, "not the sum")


def _ways_of_content(content: Sequence[Fields]) -> Found:
    yield from ways_of_blocks([_read(block) for block in content])
    kinds = [citation["type"] for block in content for citation in block.get("citations") or []]
    for kind in kinds or ["none"]:
        yield CITATIONS, kind
    for block in content:
        if block["type"] == "text" and not block.get("citations"):
            yield UNCITED, emptiness_of(block, "citations") or "absent"
        elif block["type"] == "thinking":
            yield SIGNATURE, emptiness_of(block, "signature") or "given"
        elif block["type"] == "tool_use":
            yield CALLER, (block.get("caller") or {}).get("type", "absent")


def _read(block: Fields) -> Block | str:
    """Return a content block; for a block that no generator can write, its type."""
    kind = str(block["type"])
    if kind == "text":
        return Text(block["text"], tuple(Citation(0, 0, 0) for _ in block.get("citations") or []))
    if kind == "thinking":
        return Reasoning(block["thinking"], block.get("signature") or "")
    if kind == "redacted_thinking":
        return Reasoning("", block["data"], redacted=True)
    if kind == "tool_use":
        return Call(block["id"], block["name"], json.dumps(block["input"]))
    if kind in ("server_tool_use", "mcp_tool_use"):
        return Hosted(block["id"], block["name"], json.dumps(block["input"]))
    return HostedResult(block["tool_use_id"], kind) if kind.endswith("_tool_result") else kind


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Found:
    """Yield the ways of a stream."""
    events = [document for document in documents if isinstance(document, dict)]
    begun = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    deltas: dict[int, list[Fields]] = {}
    for event in events:
        if event["type"] == "content_block_start":
            deltas[event["index"]] = []
        elif event["type"] == "content_block_delta":
            deltas[event["index"]].append(event["delta"])
    for start, pieces in zip(begun, deltas.values(), strict=True):
        yield from _ways_of_pieces(start, pieces)
    content = [_whole(start, pieces) for start, pieces in zip(begun, deltas.values(), strict=True)]
    first = events[0]["message"]
    yield from _ways_of_content([*first["content"], *content])
    last = next((event for event in events if event["type"] == "message_delta"), None)
    begun_details = emptiness_of(first, "stop_details") or "given"
    if last and last["delta"].get("stop_reason") != "refusal":
        details = emptiness_of(last["delta"], "stop_details") or "given"
        yield STOP_DETAILS, details if details == begun_details else f"{begun_details}, then {details}"
    yield from _ways_of_usage(first["usage"])
    yield BEGUN_OUTPUT, "a few" if first["usage"].get("output_tokens") else "0"
    if last:
        yield FINAL_COUNTS, _final_counts(first["usage"], last["usage"])
    stops = [event for event in events if event["type"] == "message_stop"]
    yield METRICS, "given" if any("amazon-bedrock-invocationMetrics" in event for event in stops) else "absent"
    if begun:
        yield ENDS, _ends(events)
    yield PINGS, _pings(events)


def _ways_of_pieces(start: Fields, pieces: Sequence[Fields]) -> Found:
    kinds = [piece["type"] for piece in pieces]
    if "citations_delta" in kinds:
        yield BEGUN_CITED, emptiness_of(start, "citations") or "absent"
        ordered = sorted(kinds, key="text_delta".__eq__)
        yield CITATIONS_FROM, "before the text" if kinds == ordered else "in the text"
    if start["type"] == "thinking":
        yield BEGUN_SIGNATURE, emptiness_of(start, "signature") or "empty"
        texts = [piece["thinking"] for piece in pieces if piece["type"] == "thinking_delta"]
        last_is_empty = bool(texts) and not texts[-1]
        yield (
            PIECES_OF_REASONING,
            "others are empty" if "" in texts[:-1] else "last is empty" if last_is_empty else "filled",
        )
    if start["type"] == "tool_use":
        yield BEGUN_INPUT, "absent" if "input" not in start else "empty object"
        inputs = [piece["partial_json"] for piece in pieces if piece["type"] == "input_json_delta"]
        yield PIECES_OF_INPUT, "absent" if not inputs else "filled" if inputs[0] else "first is empty"


def _whole(start: Fields, pieces: Sequence[Fields]) -> dict[str, Any]:
    """Return a content block in the form that a plain answer has."""
    block = dict(start)
    parts = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
    for piece in pieces:
        if piece["type"] in parts:
            name = parts[piece["type"]]
            block[name] = (block.get(name) or "") + piece[name]
        elif piece["type"] == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), piece["citation"]]
    inputs = "".join(piece["partial_json"] for piece in pieces if piece["type"] == "input_json_delta")
    return {**block, "input": json.loads(inputs)} if inputs else {"input": {}, **block}


def _final_counts(first: Fields, last: Fields) -> str:
    if "input_tokens" not in last:
        return "output"
    names = [name for name in last if name != "output_tokens" and name in first]
    return "all" if all(first[name] == last[name] for name in names) else "more input"


def _ends(events: Sequence[Fields]) -> str:
    edges = [event["type"] for event in events if event["type"] in ("content_block_start", "content_block_stop")]
    return "in turn" if edges[::2].count("content_block_stop") == 0 else "together at the end"


def _pings(events: Sequence[Fields]) -> str:
    places = [position for position, event in enumerate(events) if event["type"] == "ping"]
    if not places:
        return "never"
    known = {1: "behind message_start", 2: "behind the first start"}
    return known.get(places[0], "anywhere") if len(places) == 1 else "anywhere"
