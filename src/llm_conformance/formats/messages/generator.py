"""Generator of Anthropic messages: typed blocks, or the events that build them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.formats.messages.cited import PLACES, WEB_PAGE, cited_place, sources
from llm_conformance.formats.messages.hosted import (
    ARGUMENTS,
    DECLARED,
    MCP_RESULT,
    MCP_SERVERS,
    SEARCH_RESULT,
    TOOLS,
    call_block,
    result_block,
    thinking_of,
)
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
from llm_conformance.generate import texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Hosted, HostedResult, Reasoning, Text
from llm_conformance.generate.blocks import BlocksGenerator
from llm_conformance.generate.chance import at_most, pick, some
from llm_conformance.generate.variations import Variation, as_empty, choose, empty, ways_of
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]

_DETAILS = "output_tokens_details"
"""A field of counts that a stream has only at its end."""
_WRITTEN = "cache_creation_input_tokens"
_OF_HOSTED_TOOLS = ("pause_turn", "compaction")
"""Finish words of answers in which the provider ran a tool or wrote a summary. Other answers do not have them."""


class MessagesGenerator(BlocksGenerator):
    """Writes a `message` with content blocks."""

    structure: ClassVar[tuple[str, ...]] = ("/content", "/content/0", "/delta")
    carriers: ClassVar[tuple[str, ...]] = ("content_block_delta", "message_delta")
    hosted_calls: ClassVar[Mapping[str, str]] = TOOLS
    declared: ClassVar[Mapping[str, Mapping[str, Any]]] = DECLARED
    places: ClassVar[tuple[str, ...]] = PLACES
    found_by: ClassVar[Mapping[str, str]] = {WEB_PAGE: SEARCH_RESULT}
    signature: ClassVar[Variation] = SIGNATURE

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the finish words of answers with content."""
        return {word: reason for word, reason in api.finish.items() if word not in _OF_HOSTED_TOOLS}

    def fits(self, block: Block, before: Sequence[Block]) -> bool:
        """Return False for reasoning after text, unless the text is blank or a hosted tool has run in between."""
        return not (isinstance(block, Reasoning) and _has_spoken(before))

    def id_of_hosted(self, result: str) -> str:
        """Return the kind of id of a hosted tool's call, by the type of its result: `MCP call` for MCP servers."""
        return "MCP call" if result == MCP_RESULT else super().id_of_hosted(result)

    def arguments(self, result: str) -> Sequence[str]:
        """Return possible arguments of a hosted tool, as JSON texts."""
        return ARGUMENTS[result]

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a place in a document, in a page, or in a search result."""
        return cited_place(self.place(answer.api, citation), citation)

    def params(self, answer: Answer) -> Mapping[str, Any]:
        """Return the fields that ask for thinking, for tools that the provider runs, and for MCP servers."""
        thinks = any(isinstance(block, Reasoning) for block in answer.blocks)
        params = super().params(answer)
        calls_mcp = any(isinstance(block, Hosted) and block.tool == "tide_level" for block in answer.blocks)
        thinking = {"thinking": thinking_of(answer.asked)} if thinks else {}
        servers = {"mcp_servers": MCP_SERVERS} if calls_mcp else {}
        return {**params, **thinking, **servers}

    def sources(self, answer: Answer) -> Sequence[Mapping[str, Any]]:
        """Return the documents and search results that the answer cites."""
        return [*sources(self._cited_places(answer))]

    def _cited_places(self, answer: Answer) -> Iterator[tuple[str, Citation]]:
        return ((self.place(answer.api, citation), citation) for _, _, citation in answer.spans)

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a `message`."""
        content = [self._whole(draw, answer, block) for block in answer.blocks]
        usage = answer.counts.raw
        end = _end(answer, choose(draw, answer.api, STOP_DETAILS), _category(draw))
        return _message(answer, content) | end | {"usage": usage | _cache_creation(draw, answer, usage)}

    def _whole(self, draw: DrawFn, answer: Answer, block: Block) -> Fields:
        if isinstance(block, Text):
            citations = [self.citation(answer, block, each) for each in block.citations]
            cited = {"citations": citations} if citations else empty(draw, answer.api, UNCITED, "citations", [])
            return self.bare(block) | cited
        if isinstance(block, Call):
            return self.bare(block) | _caller(draw, answer.api)
        if isinstance(block, Reasoning) and not block.redacted and not block.seal:
            return self.bare(block) | as_empty(_unsigned(draw, answer.api), "signature")
        return self.bare(block)

    def bare(self, block: Block) -> Fields:
        """Return a typed block."""
        if isinstance(block, Text):
            return {"type": "text", "text": block.text}
        if isinstance(block, Call):
            arguments = json.loads(block.arguments or "{}")
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": arguments}
        if isinstance(block, Hosted):
            return call_block(block)
        if isinstance(block, HostedResult):
            return result_block(block)
        if not isinstance(block, Reasoning):
            raise NotImplementedError(type(block))
        if block.redacted:
            return {"type": "redacted_thinking", "data": block.seal}
        signature = {"signature": block.seal} if block.seal else {}
        return {"type": "thinking", "thinking": block.text, **signature}

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream. `message_start` has the token counts of the prompt, `message_delta` those of the output."""
        api = answer.api
        first, last = _counts_of_a_stream(draw, answer)
        begun = _message(answer, []) | {"stop_reason": None, "stop_sequence": None, "usage": first}
        details = choose(draw, api, STOP_DETAILS)
        begun |= as_empty(details, "stop_details")
        events: list[Fields] = [{"type": "message_start", "message": begun}]
        closing: list[Fields] = []
        together = choose(draw, api, ENDS) == "together at the end"
        for index, block in enumerate(answer.blocks):
            own = [{**event, "index": index} for event in self._events(draw, answer, block)]
            kept = len(own) - (2 if _is_signed_at_its_end(own) else 1) if together else len(own)
            events += own[:kept]
            closing += own[kept:]
        events = _with_pings(draw, api, [*events, *closing])
        events.append({"type": "message_delta", "delta": _end(answer, details, _category(draw)), "usage": last})
        events.append({"type": "message_stop", **_metrics(draw, answer)})
        return [Frame(event, event["type"], ends=event["type"] == "message_delta") for event in events]

    def _events(self, draw: DrawFn, answer: Answer, block: Block) -> Iterator[Fields]:
        yield {"type": "content_block_start", "content_block": self._start(draw, answer.api, block)}
        for delta in self._deltas(draw, answer, block):
            yield {"type": "content_block_delta", "delta": delta}
        yield {"type": "content_block_stop"}

    def _start(self, draw: DrawFn, api: Api, block: Block) -> Fields:
        if isinstance(block, Text):
            cited = BEGUN_CITED if block.citations else UNCITED
            return {"type": "text", "text": ""} | empty(draw, api, cited, "citations", [])
        if isinstance(block, Call):
            given: Fields = {"input": {}} if choose(draw, api, BEGUN_INPUT) == "empty object" else {}
            return {"type": "tool_use", "id": block.id, "name": block.name, **given, **_caller(draw, api)}
        if isinstance(block, Hosted):
            return {**self.bare(block), "input": {}}
        if isinstance(block, Reasoning) and not block.redacted:
            return {"type": "thinking", "thinking": ""} | empty(draw, api, BEGUN_SIGNATURE, "signature")
        return self.bare(block)

    def _deltas(self, draw: DrawFn, answer: Answer, block: Block) -> Iterator[Fields]:
        api = answer.api
        if isinstance(block, Text):
            deltas: list[Fields] = [{"type": "text_delta", "text": piece} for piece in texts.pieces(draw, block.text)]
            anywhere = bool(block.citations) and choose(draw, api, CITATIONS_FROM) == "in the text"
            for number, each in enumerate(block.citations):
                cited = {"type": "citations_delta", "citation": self.citation(answer, block, each)}
                deltas.insert(at_most(draw, len(deltas)) if anywhere else number, cited)
            yield from deltas
        elif isinstance(block, Call):
            pieces = texts.pieces(draw, block.arguments)
            way = choose(draw, api, PIECES_OF_INPUT)
            pieces = ["", *pieces] if way == "first is empty" else pieces or ([] if way == "absent" else ["{}"])
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
        elif isinstance(block, Hosted):
            pieces = ["", *texts.pieces(draw, block.arguments)]
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
        elif isinstance(block, Reasoning) and not block.redacted:
            for piece in _pieces_of_reasoning(draw, api, block):
                yield {"type": "thinking_delta", "thinking": piece}
            if block.seal or _unsigned(draw, api) != "absent":
                yield {"type": "signature_delta", "signature": block.seal}


def _has_spoken(blocks: Sequence[Block]) -> bool:
    """Return True if the last block other than reasoning is text that is not blank."""
    last = next((block for block in reversed(blocks) if not isinstance(block, Reasoning)), None)
    return isinstance(last, Text) and bool(last.text.strip())


def _message(answer: Answer, content: list[Fields]) -> Fields:
    return {"model": answer.model, "id": answer.id, "type": "message", "role": "assistant", "content": content}


def _category(draw: DrawFn) -> str | None:
    return pick(draw, None, "cyber")


def _end(answer: Answer, details: str, category: str | None) -> Fields:
    """Return the finish word and its details: the stop sequence that was found, or what was refused.

    `details` says how an answer that is not a refusal lacks details. If it is `absent`, refusals have none, either.
    """
    found = "END" if answer.word == "stop_sequence" else None
    end = {"stop_reason": answer.word, "stop_sequence": found}
    if answer.word != "refusal" or details == "absent":
        return end | as_empty(details, "stop_details")
    explanation = "This request was refused." if category else None
    return {**end, "stop_details": {"type": "refusal", "category": category, "explanation": explanation}}


def _cache_creation(draw: DrawFn, answer: Answer, usage: Fields) -> Fields:
    """Draw for how long the cached tokens are kept.

    The parts add up to the tokens written to the cache, or all are 0.
    """
    has_hosted = any(isinstance(block, Hosted) for block in answer.blocks)
    way = pick(draw, *(way for way in ways_of(answer.api, CACHE_CREATION) if has_hosted or way != "zeros"))
    if _WRITTEN not in usage or way == "absent":
        return {}
    written = usage[_WRITTEN] if way == "given" else 0
    hour = written * at_most(draw, 2) // 2
    return {"cache_creation": {"ephemeral_5m_input_tokens": written - hour, "ephemeral_1h_input_tokens": hour}}


def _caller(draw: DrawFn, api: Api) -> Fields:
    known = [way for way in ways_of(api, CALLER) if way in ("absent", "direct")]
    return {"caller": {"type": "direct"}} if pick(draw, *known) == "direct" else {}


def _unsigned(draw: DrawFn, api: Api) -> str:
    return pick(draw, *(way for way in ways_of(api, SIGNATURE) if way != "given"))


def _pieces_of_reasoning(draw: DrawFn, api: Api, block: Reasoning) -> list[str]:
    pieces = texts.pieces(draw, block.text)
    way = choose(draw, api, PIECES_OF_REASONING)
    if way == "filled" or not pieces:
        return pieces
    return [*pieces, ""] if way == "last is empty" else ["", *pieces]


def _is_signed_at_its_end(events: list[Fields]) -> bool:
    return "signature" in events[-2].get("delta", ())


def _counts_of_a_stream(draw: DrawFn, answer: Answer) -> tuple[Fields, Fields]:
    """Draw (usage object of message_start, usage object of message_delta)."""
    counts = answer.counts.raw
    first = {name: value for name, value in counts.items() if name != _DETAILS}
    few = 1 + at_most(draw, 7) if choose(draw, answer.api, BEGUN_OUTPUT) == "a few" else 0
    first["output_tokens"] = min(few, counts["output_tokens"])
    first |= _cache_creation(draw, answer, first)
    has_hosted = any(isinstance(block, Hosted) for block in answer.blocks)
    way = pick(draw, *(way for way in ways_of(answer.api, FINAL_COUNTS) if has_hosted or way != "more input"))
    if way == "output":
        return first, {name: value for name, value in counts.items() if name.startswith("output")}
    if way == "more input":
        first["input_tokens"] //= 2
    return first, counts


def _metrics(draw: DrawFn, answer: Answer) -> Fields:
    """Draw Bedrock's own counts. Counts of the cache are left out if they are 0."""
    if choose(draw, answer.api, METRICS) == "absent":
        return {}
    counts = answer.counts.raw
    names = {"cache_read_input_tokens": "cacheReadInputTokenCount", _WRITTEN: "cacheWriteInputTokenCount"}
    cached = {name: counts[field] for field, name in names.items() if counts.get(field)}
    latency = {"invocationLatency": 2784, "firstByteLatency": 1302}
    own = {"inputTokenCount": counts["input_tokens"], "outputTokenCount": counts["output_tokens"]}
    return {"amazon-bedrock-invocationMetrics": {**own, **latency, **cached}}


def _with_pings(draw: DrawFn, api: Api, events: list[Fields]) -> list[Fields]:
    way = choose(draw, api, PINGS)
    if way == "never":
        return events
    for _ in range(1 + some(draw) if way == "anywhere" else 1):
        last = len(events)
        place = {"behind message_start": 1, "behind the first start": min(2, last)}.get(way)
        events.insert(place or 1 + at_most(draw, last - 1), {"type": "ping"})
    return events
