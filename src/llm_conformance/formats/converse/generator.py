"""Generator of Amazon Bedrock's Converse: a message of blocks, or the events that build it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

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
from llm_conformance.generate import texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Hosted, HostedResult, Reasoning, Text
from llm_conformance.generate.blocks import BlocksGenerator
from llm_conformance.generate.chance import at_most
from llm_conformance.generate.variations import Variation, choose, ways_of
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.interaction import Mode

Fields = dict[str, Any]

_FOUND = [{"text": "what was found"}]
_METRICS = {"latencyMs": 7}
_INVOCATION = {"invocationLatency": 167, "firstByteLatency": 58}
_OTHER_NAMES = {
    "cacheReadInputTokens": "cacheReadInputTokenCount",
    "cacheWriteInputTokens": "cacheWriteInputTokenCount",
}


class ConverseGenerator(BlocksGenerator):
    """Writes `output` with a message of blocks. Responses have no id. Each stream event is named after its type."""

    has_ids: ClassVar[bool] = False
    structure: ClassVar[tuple[str, ...]] = (
        *("/output", "/output/message", "/output/message/content/0"),
        *("/delta", "/contentBlockDelta", "/contentBlockDelta/delta"),
    )
    hosted_calls: ClassVar[Mapping[str, str]] = {"nova_grounding_result": "nova_grounding"}
    places: ClassVar[tuple[str, ...]] = (
        *("documentChar", "documentPage", "documentChunk"),
        *("searchResultLocation", "web"),
    )
    found_by: ClassVar[Mapping[str, str]] = {"web": "nova_grounding_result"}
    signature: ClassVar[Variation] = SIGNATURE

    def params(self, answer: Answer) -> Mapping[str, Any]:
        """Return the declaration of Nova's search tool if the answer has used the tool."""
        searched = any(isinstance(block, Hosted) for block in answer.blocks)
        return {"toolConfig": {"tools": [{"systemTool": {"name": "nova_grounding"}}]}} if searched else {}

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a place in a document. Its offsets count in the document, not in the message."""
        kind = self.place(answer.api, citation)
        if kind == "web":
            url = f"https://example.org/{citation.start}"
            return {"location": {kind: {"url": url, "domain": "example.org"}}}
        index = "searchResultIndex" if kind == "searchResultLocation" else "documentIndex"
        place = {index: citation.number, "start": citation.start, "end": citation.end}
        source = {"source": "https://example.org/1"} if kind == "searchResultLocation" else {}
        return {"title": "Found", **source, "sourceContent": [{"text": "what is cited"}], "location": {kind: place}}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a response with its blocks."""
        message = {"role": "assistant", "content": [self._whole(answer, block) for block in answer.blocks]}
        usage = _usage(draw, answer)
        metrics = {"metrics": _METRICS} if choose(draw, answer.api, LATENCY) == "given" else {}
        return {"output": {"message": message}, "stopReason": answer.word, "usage": usage, **metrics}

    def _whole(self, answer: Answer, block: Block) -> Fields:
        if isinstance(block, Text) and block.citations:
            citations = [self.citation(answer, block, each) for each in block.citations]
            content = {"content": [{"text": block.text}]} if block.text else {}
            return {"citationsContent": {**content, "citations": citations}}
        return self.bare(block)

    def bare(self, block: Block) -> Fields:
        """Return a block: an object with one field, whose name is the kind of block."""
        if isinstance(block, Text):
            return {"text": block.text}
        if isinstance(block, Call | Hosted):
            return {"toolUse": {**_call(block), "input": json.loads(block.arguments or "{}")}}
        if isinstance(block, HostedResult):
            return {"toolResult": {**_result(block), "content": _FOUND}}
        if not isinstance(block, Reasoning):
            raise NotImplementedError(type(block))
        if block.redacted:
            return {"reasoningContent": {"redactedContent": block.seal}}
        signature = {"signature": block.seal} if block.seal else {}
        return {"reasoningContent": {"reasoningText": {"text": block.text, **signature}}}

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream: the events of each block, the stop reason, and the token counts."""
        api = answer.api
        events: list[tuple[str, Fields]] = [("messageStart", {"role": "assistant"})]
        index = 0
        for block in answer.blocks:
            if isinstance(block, Call | Hosted):
                start = {"toolUse": _call(block)}
                events.append(("contentBlockStart", {"contentBlockIndex": index, "start": start}))
            elif isinstance(block, HostedResult):
                start = {"toolResult": _result(block)}
                events.append(("contentBlockStart", {"contentBlockIndex": index, "start": start}))
            deltas = list(self._deltas(draw, answer, block))
            if isinstance(block, Text) and choose(draw, api, BLOCKS_OF_A_TEXT) == "one a piece":
                for number, delta in enumerate(deltas, start=index):
                    events.append(("contentBlockDelta", {"contentBlockIndex": number, "delta": delta}))
                    events.append(("contentBlockStop", {"contentBlockIndex": number}))
                index += len(deltas)
                continue
            for delta in deltas:
                events.append(("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}))
            events.append(("contentBlockStop", {"contentBlockIndex": index}))
            index += 1
        events.append(("messageStop", {"stopReason": answer.word}))
        latency = _METRICS if choose(draw, api, LATENCY) == "given" else {}
        events.append(("metadata", {"usage": _usage(draw, answer), "metrics": latency}))
        padding = {"p": "abcdefghijklmnop"} if choose(draw, api, PADDING) == "given" else {}
        if api.framing.name == "aws event stream":
            return [Frame(event | padding, kind, ends=kind == "messageStop") for kind, event in events]
        frames = [Frame({kind: event | padding}, kind, ends=kind == "messageStop") for kind, event in events]
        if choose(draw, api, INVOCATION) == "given":
            frames[-1] = replace(frames[-1], data={**_fields(frames[-1]), **_invocation(answer)})
        return frames

    def decides_segments(self, answer: Answer, mode: Mode) -> bool:
        """Return False for a stream in which a text may be either one segment or a segment for each piece."""
        has_text = any(isinstance(block, Text) and block.text for block in answer.blocks)
        return not (mode == "stream" and has_text and "one a piece" in ways_of(answer.api, BLOCKS_OF_A_TEXT))

    def _deltas(self, draw: DrawFn, answer: Answer, block: Block) -> Iterator[Fields]:
        api = answer.api
        if isinstance(block, Text):
            pieces = texts.pieces(draw, block.text) or ([] if block.citations else [""])
            deltas: list[Fields] = [{"text": piece} for piece in pieces]
            anywhere = bool(block.citations) and choose(draw, api, CITATIONS_FROM) == "in the text"
            for number, each in enumerate(block.citations):
                cited = {"citation": self.citation(answer, block, each)}
                deltas.insert(at_most(draw, len(deltas)) if anywhere else number, cited)
            yield from deltas
        elif isinstance(block, Call):
            pieces = texts.pieces(draw, block.arguments)
            way = choose(draw, api, PIECES_OF_INPUT)
            pieces = ["", *pieces] if way == "first is empty" else pieces or ([] if way == "absent" else ["{}"])
            yield from ({"toolUse": {"input": piece}} for piece in pieces)
        elif isinstance(block, Hosted):
            yield from ({"toolUse": {"input": piece}} for piece in texts.pieces(draw, block.arguments))
        elif isinstance(block, HostedResult):
            yield {"toolResult": _FOUND}
        elif isinstance(block, Reasoning) and block.redacted:
            yield {"reasoningContent": {"redactedContent": block.seal}}
        elif isinstance(block, Reasoning):
            yield from ({"reasoningContent": {"text": piece}} for piece in texts.pieces(draw, block.text))
            if block.seal:
                yield {"reasoningContent": {"signature": block.seal}}


def _fields(frame: Frame) -> Mapping[str, Any]:
    return {} if isinstance(frame.data, str) else frame.data


def _invocation(answer: Answer) -> Fields:
    counts = {
        name: answer.counts.raw[field]
        for field, name in {"inputTokens": "inputTokenCount", "outputTokens": "outputTokenCount"}.items()
        if field in answer.counts.raw
    }
    return {"amazon-bedrock-invocationMetrics": {**counts, **_INVOCATION}}


def _usage(draw: DrawFn, answer: Answer) -> Fields:
    counts = answer.counts.raw
    has_cache = any(name in counts for name in _OTHER_NAMES)
    if not has_cache or choose(draw, answer.api, CACHE_COUNTS) == "one":
        return counts
    return counts | {other: counts[name] for name, other in _OTHER_NAMES.items() if name in counts}


def _call(call: Call | Hosted) -> Fields:
    if isinstance(call, Call):
        return {"toolUseId": call.id, "name": call.name}
    return {"toolUseId": call.id, "name": call.tool, "type": "server_tool_use"}


def _result(result: HostedResult) -> Fields:
    status = "error" if result.failed else "success"
    return {"toolUseId": result.id, "status": status, "type": result.tool}
