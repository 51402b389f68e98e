"""Recogniser of Amazon Bedrock's Converse. It tells which ways of the format an answer has.

A stream has the ways of the whole answer that its events build, and ways that only streams have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from llm_conformance.formats.converse.variations import (
    BLOCKS_OF_A_TEXT,
    CACHE_COUNTS,
    CITATIONS_FROM,
    INVOCATION,
    LATENCY,
    PADDING,
    PIECES_OF_INPUT,
    SIGNATURE,
)
from llm_conformance.generate.answers import Block, Call, Citation, Hosted, HostedResult, Reasoning, Text
from llm_conformance.generate.block_ways import CITATIONS, ways_of_blocks
from llm_conformance.generate.variations import Variation
from llm_conformance.wire.providers.api import Api

Fields = Mapping[str, Any]
Found = Iterator[tuple[Variation, str]]

_CALL_TYPE = "server_tool_use"
_OF_BEDROCK = "amazon-bedrock-"


def ways_of_a_body(api: Api, body: Any) -> Found:
    """Yield the ways of a plain answer."""
    yield from _ways_of_counts(body["usage"])
    yield LATENCY, "given" if body.get("metrics") else "absent"
    yield from _ways_of_content(body["output"]["message"]["content"])


def _ways_of_counts(usage: Fields) -> Found:
    if "cacheReadInputTokens" in usage:
        yield CACHE_COUNTS, "two" if "cacheReadInputTokenCount" in usage else "one"


def _ways_of_content(content: Sequence[Fields]) -> Found:
    yield from ways_of_blocks([_read(block) for block in content])
    citations = [each for block in content for each in block.get("citationsContent", {}).get("citations", ())]
    for kind in [name for each in citations for name in each["location"]] or ["none"]:
        yield CITATIONS, kind
    for block in content:
        reasoning = block.get("reasoningContent", {}).get("reasoningText")
        if reasoning:
            yield SIGNATURE, "given" if reasoning.get("signature") else "absent"


def _read(block: Fields) -> Block | str:
    """Return a content block; for a block that no generator can write, its name."""
    ((kind, value),) = block.items()
    if kind == "text":
        return Text(value)
    if kind == "citationsContent":
        text = "".join(part["text"] for part in value.get("content", ()))
        return Text(text, tuple(Citation(0, 0, 0) for _ in value["citations"]))
    if kind == "reasoningContent":
        text = value.get("reasoningText", {})
        return Reasoning(text.get("text", ""), text.get("signature", ""), redacted="redactedContent" in value)
    if kind == "toolUse":
        arguments = json.dumps(value["input"])
        is_hosted = value.get("type") == _CALL_TYPE
        return (Hosted if is_hosted else Call)(value["toolUseId"], value["name"], arguments)
    return HostedResult(value["toolUseId"], value["type"]) if kind == "toolResult" else kind


def ways_of_a_stream(api: Api, documents: Sequence[Any]) -> Found:
    """Yield the ways of a stream."""
    starts: dict[int, Fields] = {}
    deltas: dict[int, list[Fields]] = {}
    for document in documents:
        kind, event = next(iter(document.items()))
        yield PADDING, "given" if "p" in event else "absent"
        if kind == "contentBlockStart":
            starts[event["contentBlockIndex"]] = event["start"]
        if kind == "contentBlockDelta":
            deltas.setdefault(event["contentBlockIndex"], []).append(event["delta"])
        if kind == "contentBlockStop":
            deltas.setdefault(event["contentBlockIndex"], [])
        if kind == "metadata":
            yield from _ways_of_counts(event["usage"])
            yield LATENCY, "given" if event.get("metrics") else "absent"
            yield INVOCATION, "given" if f"{_OF_BEDROCK}invocationMetrics" in document else "absent"
    if _has_a_block_a_piece(starts, deltas):
        yield BLOCKS_OF_A_TEXT, "one a piece"
        deltas = _with_whole_texts(starts, deltas)
    elif any(len(pieces) > 1 and "text" in pieces[0] for pieces in deltas.values()):
        yield BLOCKS_OF_A_TEXT, "one"
    for index, pieces in deltas.items():
        yield from _ways_of_pieces(starts.get(index, {}), pieces)
    yield from _ways_of_content([_whole(starts.get(index, {}), deltas[index]) for index in sorted(deltas)])


def _has_a_block_a_piece(starts: Mapping[int, Fields], deltas: Mapping[int, Sequence[Fields]]) -> bool:
    """Return True if each text block has only one piece, and some are neighbours. Neighbours are pieces of one text."""
    plain = [set(piece) == {"text"} for pieces in deltas.values() for piece in pieces]
    alone = [
        number not in starts and len(pieces) == 1 and set(pieces[0]) == {"text"} for number, pieces in deltas.items()
    ]
    neighbours = any(first and second for first, second in pairwise(alone))
    return neighbours and sum(plain) == sum(alone)


def _with_whole_texts(starts: Mapping[int, Fields], deltas: Mapping[int, list[Fields]]) -> dict[int, list[Fields]]:
    """Return the blocks after joining neighbouring text blocks."""
    whole: dict[int, list[Fields]] = {}
    for number, pieces in deltas.items():
        last = next(reversed(whole), None)
        is_text = number not in starts and bool(pieces) and set(pieces[0]) == {"text"}
        if is_text and last is not None and last not in starts and "text" in whole[last][0]:
            whole[last].extend(pieces)
        else:
            whole[number] = list(pieces)
    return whole


def _ways_of_pieces(start: Fields, pieces: Sequence[Fields]) -> Found:
    kinds = [kind for piece in pieces for kind in piece]
    if "citation" in kinds and "text" in kinds:
        yield CITATIONS_FROM, "before the text" if kinds == sorted(kinds) else "in the text"
    if "toolUse" in start and start["toolUse"].get("type") != _CALL_TYPE:
        inputs = [piece["toolUse"]["input"] for piece in pieces]
        yield PIECES_OF_INPUT, "absent" if not inputs else "filled" if inputs[0] else "first is empty"


def _whole(start: Fields, pieces: Sequence[Fields]) -> dict[str, Any]:
    """Return a content block in the form that a plain answer has."""
    for kind in start:
        if kind == "toolUse":
            inputs = "".join(piece["toolUse"]["input"] for piece in pieces)
            return {"toolUse": {**start[kind], "input": json.loads(inputs or "{}")}}
        return {kind: start[kind]}
    citations = [piece["citation"] for piece in pieces if "citation" in piece]
    text = "".join(piece.get("text", "") for piece in pieces)
    if citations:
        content = {"content": [{"text": text}]} if text else {}
        return {"citationsContent": {"citations": citations, **content}}
    reasoning = [piece["reasoningContent"] for piece in pieces if "reasoningContent" in piece]
    if not reasoning:
        return {"text": text}
    if "redactedContent" in reasoning[0]:
        return {"reasoningContent": reasoning[0]}
    parts = {
        name: "".join(each.get(name, "") for each in reasoning)
        for name in ("text", "signature")
        if any(name in each for each in reasoning)
    }
    return {"reasoningContent": {"reasoningText": parts}}
