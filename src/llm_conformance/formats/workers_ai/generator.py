"""Generator of Cloudflare Workers AI, native: text in `response`, and tool calls that are flat objects or functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.formats.workers_ai import variations as v
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Text
from llm_conformance.generate.chance import pick
from llm_conformance.generate.counts import growing
from llm_conformance.generate.generator import Generator
from llm_conformance.generate.variations import Variation, as_empty, choose, empty, ways_of
from llm_conformance.wire.framings.base import DONE, Frame
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]

_PADDING = "abdefghijklm"


class WorkersAiGenerator(Generator):
    """Writes a `result`, or frames of the same form."""

    structure: ClassVar[tuple[str, ...]] = ("/result", "/tool_calls")
    has_ids: ClassVar[bool] = False
    counted: ClassVar[Mapping[Mode, Variation]] = {"json": v.COUNTS, "stream": v.COUNTS_OF_A_STREAM}

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw text, then tool calls."""
        return (Text(draw(texts.answers())), *answers.calls(draw, api))

    def settled(self, draw: DrawFn, answer: Answer, mode: Mode) -> Answer:
        """Draw the form of the calls. Only functions have a finish word. Without calls, draw whether there is one."""
        api = answer.api
        if not answer.calls:
            return answer if choose(draw, api, v.FINISH_WORD) == "given" else replace(answer, word=None)
        form = choose(draw, api, v.CALLS)
        others = (block for block in answer.blocks if not isinstance(block, Call))
        calls = answers.without_ids(answer.calls) if form == v.FLAT else answer.calls
        return replace(answer, blocks=(*others, *calls), word=answer.word if form == v.FUNCTIONS else None)

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a response with its `result`."""
        api = answer.api
        result: Fields = {"response": answer.sent}
        if answer.calls and not answer.sent:
            result = empty(draw, api, v.NO_TEXT_BESIDE_CALLS, "response")
        if answer.calls:
            result["tool_calls"] = [_written(answer, call) for call in answer.calls]
        absent = [way for way in ways_of(api, v.COUNTS) if way != "given"]
        counts = {"usage": answer.counts.raw} if answer.counts.usage else as_empty(pick(draw, *absent), "usage")
        return {"result": {**result, **_word(answer), **counts}, "success": True, "errors": [], "messages": []}

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream: chunks of text and of calls, and the end."""
        api = answer.api
        chunks: list[Fields] = [{"response": piece} for piece in texts.pieces(draw, answer.sent)]
        no_text = empty(draw, api, v.TEXT_OF_A_CALL, "response") if answer.calls else {}
        chunks += [{**no_text, "tool_calls": [piece]} for piece in _pieces(draw, answer)]
        if answer.counts.usage and choose(draw, api, v.COUNTS_OF_A_STREAM) == "in each chunk":
            counted = growing(draw, answer.counts, len(chunks))
            chunks = [chunk | {"usage": usage} for chunk, usage in zip(chunks, counted, strict=True)]
        if choose(draw, api, v.PADDING) == "given":
            chunks = [chunk | {"p": _PADDING[: number % len(_PADDING) + 1]} for number, chunk in enumerate(chunks)]
        counts = {"usage": answer.counts.raw} if answer.counts.usage else {}
        last = Frame({"response": "", **_word(answer), **counts}, ends=True)
        marker = [Frame(DONE)] if choose(draw, api, v.END_MARKER) == "sent" else []
        return [*map(Frame, chunks), last, *marker]


def _word(answer: Answer) -> Fields:
    return {} if answer.word is None else {"finish_reason": answer.word}


def _are_functions(answer: Answer) -> bool:
    """Return True if the calls are functions. Answers with flat calls have no finish word."""
    return bool(answer.calls) and answer.word is not None


def _written(answer: Answer, call: Call) -> Fields:
    arguments = call.arguments or "{}"
    if _are_functions(answer):
        return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
    id = {} if call.id is None else {"id": call.id}
    return {**id, "name": call.name, "arguments": json.loads(arguments)}


def _pieces(draw: DrawFn, answer: Answer) -> Iterator[Fields]:
    """Draw the pieces of the calls: flat calls are whole, functions come in pieces."""
    calls = [_written(answer, call) for call in answer.calls]
    if not _are_functions(answer):
        yield from calls
        return
    way = choose(draw, answer.api, v.PIECES)
    for index, call in enumerate(calls):
        function = call["function"]
        numbered = {**call, "index": index}
        if way == "whole":
            yield numbered
            continue
        yield numbered | {"function": {**function, "arguments": ""}}
        yield from (
            {"index": index, "function": {"arguments": piece}} for piece in texts.pieces(draw, function["arguments"])
        )
    if choose(draw, answer.api, v.LAST_PIECE) == "nulls":
        yield {"id": None, "type": None, "index": len(calls) - 1, "function": {"name": None, "arguments": ""}}
