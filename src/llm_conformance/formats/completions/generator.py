"""Generator of text completions in the shapes of all their makers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.formats.completions.shapes import SHAPES, Fields
from llm_conformance.formats.completions.variations import (
    COUNTS,
    COUNTS_OF_A_STREAM,
    FINISH_OF_A_STREAM,
    METRICS,
    NO_COUNTS_IN_A_CHUNK,
    NO_FINISH,
    PINGS,
    SHAPE,
)
from llm_conformance.generate import texts
from llm_conformance.generate.answers import Answer, Block, Reasoning, Text
from llm_conformance.generate.chance import at_most, either, pick
from llm_conformance.generate.generator import Generator
from llm_conformance.generate.variations import WITHOUT_COUNTS, Variation, as_empty, choose, ways_of, with_one_way
from llm_conformance.wire.framings.base import DONE, Frame
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

_LATENCY = {"invocationLatency": 616, "firstByteLatency": 98}
PLACE_OF_COUNTS = Variation("place of the counts of a stream", "where one stream has them", "with the end")
"""Holds the way of `COUNTS_OF_A_STREAM` that was drawn for a stream with token counts. No row states this variation."""
_WITHOUT_IDS_IN_STREAMS = ("generations",)
_OF_BEDROCK = {"inputTokenCount", "outputTokenCount"}


class CompletionsGenerator(Generator):
    """Writes one text, or its pieces."""

    counted: ClassVar[Mapping[Mode, Variation]] = {"json": COUNTS, "stream": COUNTS_OF_A_STREAM}
    structure: ClassVar[tuple[str, ...]] = (
        *("/choices", "/choices/0", "/results", "/results/0", "/outputs", "/outputs/0", "/generations"),
        *("/completion", "/response", "/generation", "/outputText", "/generations/0", "/text"),
    )

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw a text, and reasoning before it if the API has a field for it."""
        reasoning = draw(texts.reasonings()) if api.reasoning_fields and either(draw) else ""
        text = Text(draw(texts.answers()))
        return (Reasoning(reasoning), text) if reasoning else (text,)

    def settled(self, draw: DrawFn, answer: Answer, mode: Mode) -> Answer:
        """Draw where a stream has its token counts. An API without forms of ids sends no ids."""
        ways = [way for way in ways_of(answer.api, COUNTS_OF_A_STREAM) if way not in WITHOUT_COUNTS]
        api = with_one_way(answer.api, PLACE_OF_COUNTS, pick(draw, *ways)) if ways else answer.api
        has_id = "answer" in api.ids and not (mode == "stream" and _shape(api) in _WITHOUT_IDS_IN_STREAMS)
        return replace(answer, api=api, id=answer.id if has_id else "")

    def has_body(self, answer: Answer) -> bool:
        """Return False for a stream without an id if plain answers have an id."""
        return bool(answer.id) or _shape(answer.api) not in _WITHOUT_IDS_IN_STREAMS

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw one document."""
        whole, _ = SHAPES[_shape(answer.api)]
        return whole(answer)

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream: a chunk for each piece, the last one with the finish word, then counts and the end marker."""
        chunks = list(self._chunks(draw, answer))
        pings = choose(draw, answer.api, PINGS) == "anywhere"
        frames: list[Frame] = []
        for number, chunk in enumerate(chunks, start=1):
            frames += [_PING] if pings and at_most(draw, 2) == 2 else []
            frames.append(Frame(chunk, chunk.get("type"), ends=number == len(chunks)))
        if answer.counts.usage and _place(answer.api) == "apart":
            last = {name: value for name, value in chunks[-1].items() if name != "choices"}
            frames.append(Frame({**last, "choices": [], "usage": answer.counts.raw}))
        return [*frames, Frame(DONE)] if answer.api.end_marker == DONE else frames

    def _chunks(self, draw: DrawFn, answer: Answer) -> Iterator[Fields]:
        api = answer.api
        _, piece = SHAPES[_shape(api)]
        nothing = {} if choose(draw, api, NO_FINISH) == "absent" else {"word": None}
        for thought in texts.pieces(draw, answer.reasoning or ""):
            yield {**piece(answer, "", nothing), "thinking": thought}
        pieces = texts.pieces(draw, answer.sent)
        way = choose(draw, api, FINISH_OF_A_STREAM)
        last = pieces.pop() if pieces and way == "with text" else ""
        for number, text in enumerate(pieces, start=1):
            yield self._with_counts(draw, answer, piece(answer, text, nothing), number, is_last=False)
        end = piece(answer, last, {"word": answer.word})
        yield self._with_counts(draw, answer, end, len(pieces) + 1, is_last=True)

    def _with_counts(self, draw: DrawFn, answer: Answer, chunk: Fields, number: int, is_last: bool) -> Fields:
        """Return a chunk with the counts that its shape has at this position; `number` counts the chunks from 1."""
        shape, counts, api = _shape(answer.api), answer.counts.raw, answer.api
        if shape == "choices":
            if is_last and answer.counts.usage and _place(api) == "with the end":
                return {**chunk, "usage": counts}
            return {**chunk, **as_empty(choose(draw, api, NO_COUNTS_IN_A_CHUNK), "usage", [])}
        if shape == "response":
            return {**chunk, **counts} if is_last else chunk
        if shape == "generation":  # the first chunk counts the prompt; each chunk counts the text so far
            prompt = counts["prompt_token_count"] if number == 1 else None
            grown = counts["generation_token_count"]
            grown = grown if is_last else min(number, grown)
            chunk = {**chunk, "prompt_token_count": prompt, "generation_token_count": grown}
        if shape == "results":
            first = {"inputTextTokenCount": counts["inputTextTokenCount"]} if number == 1 else {}
            last = {"totalOutputTextTokenCount": counts["tokenCount"]} if is_last else {}
            chunk = {**chunk, **first, **last}
        if is_last and choose(draw, api, METRICS) == "given":
            return {**chunk, "amazon-bedrock-invocationMetrics": {**_metrics(counts), **_LATENCY}}
        return chunk


_PING = Frame({"type": "ping"}, "ping")


def _place(api: Api) -> str:
    """Return where the stream of a settled answer has its counts."""
    return ways_of(api, PLACE_OF_COUNTS)[0]


def _shape(api: Api) -> str:
    """Return the shape of an API's documents. Each API has one."""
    return ways_of(api, SHAPE)[0]


def _metrics(counts: Mapping[str, Any]) -> Fields:
    """Return Bedrock's own counts: the model's counts under other names."""
    if counts.keys() <= _OF_BEDROCK:
        return dict(counts)
    prompt = counts.get("prompt_token_count", counts.get("inputTextTokenCount"))
    completion = counts.get("generation_token_count", counts.get("tokenCount"))
    return {"inputTokenCount": prompt, "outputTokenCount": completion}
