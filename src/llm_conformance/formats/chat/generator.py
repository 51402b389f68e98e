"""Generator of OpenAI-shaped chat completions, with the variations of all their providers."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from llm_conformance.formats.chat import variations as v
from llm_conformance.formats.chat.chunks import chunks, counts_way
from llm_conformance.formats.chat.message import (
    choices,
    detail,
    has_details,
    kind_of_annotation,
    native_word,
    source,
)
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Audio, Block, Call, Citation, Reasoning, Refusal, Text
from llm_conformance.generate.chance import either, pick, some
from llm_conformance.generate.generator import CREATED, Generator
from llm_conformance.generate.variations import Variation, as_empty, choose, ways_of, with_one_way
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api


class ChatGenerator(Generator):
    """Writes one message, or its deltas."""

    sends_back: ClassVar[bool] = True
    counted: ClassVar[Mapping[Mode, Variation]] = {"json": v.COUNTS, "stream": v.COUNTS_OF_A_STREAM}
    allows_tags_beside_fields: ClassVar[bool] = True
    # `content` is left out, because some providers send JSON values other than text in it.
    structure: ClassVar[tuple[str, ...]] = ("/choices", "/choices/0", "/choices/0/message", "/choices/0/delta")

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw reasoning, then text and tool calls. Audio may replace text and calls if the API has audio.

        In a few cases, draw only a refusal.
        """
        if "given" in ways_of(api, v.REFUSALS) and some(draw) and some(draw):
            return (Refusal(draw(texts.answers(3).filter(str.strip))),)
        reasoning = draw(texts.reasonings()) if either(draw) and api.reasoning_fields else ""
        seal = answers.seals(draw) if reasoning and has_details(api) and either(draw) else ""
        shown: list[Block] = [Reasoning(reasoning, seal)] if reasoning else []
        if api.speaks and some(draw):
            data = base64.b64encode(draw(st.binary(min_size=1, max_size=24))).decode()
            return (*shown, Audio(data, draw(texts.answers(3).filter(bool))))
        places = self.cites(api) and either(draw)
        text = draw(texts.answers())
        return (*shown, answers.cited(draw, text) if places else Text(text), *answers.calls(draw, api))

    def settled(self, draw: DrawFn, answer: Answer, mode: Mode) -> Answer:
        """Draw the number of choices, and whether a stream has a finish word. Missing arguments get the API's form."""
        api = answer.api
        blocks = tuple(_with_arguments(api, block) if isinstance(block, Call) else block for block in answer.blocks)
        several = choose(draw, api, v.CHOICES) == "several" and some(draw)
        speaks = any(isinstance(block, Audio) for block in answer.blocks)
        finish = v.FINISH_OF_AUDIO if speaks else v.FINISH_AFTER_CALLS if answer.calls else v.FINISH
        ends = mode == "json" or choose(draw, api, finish) != "missing"
        choices = 2 if several and not speaks else 1
        word = answer.word if ends else None
        return replace(answer, blocks=blocks, choices=choices, word=word, word_also=native_word(draw, api, word))

    def counted_answer(self, draw: DrawFn, answer: Answer, mode: Mode) -> Answer:
        """Draw which chunks of a stream have token counts, if this depends on the request (`way_params`)."""
        api = answer.api
        to_ask = api.way_params.get(v.COUNTS_OF_A_STREAM.name, {})
        if mode == "json" or to_ask.keys().isdisjoint(ways_of(api, v.COUNTS_OF_A_STREAM)):
            return answer
        return replace(answer, api=with_one_way(api, v.COUNTS_OF_A_STREAM, counts_way(draw, answer)))

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return all finish words but `function_call`.

        Only answers with the old field `function_call` end with that word.
        """
        return {word: reason for word, reason in api.finish.items() if word != "function_call"}

    def cites(self, api: Api) -> bool:
        """Return True if the API is known to send annotations with a place in the text."""
        return kind_of_annotation(api) != "none"

    def has_body(self, answer: Answer) -> bool:
        """Return True if the answer has a finish word. Only a stream can lack it."""
        return answer.word is not None

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return the fields of an annotation, without the object around them."""
        return {"type": kind_of_annotation(answer.api), **source(answer.api, citation)}

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return the reasoning, its details, or its part of the content, in the slot of the API."""
        if answer.api.content_parts:
            part = {"type": "thinking", "thinking": [{"type": "text", "text": answer.reasoning}]}
            return {f"/messages/1{answer.api.round_trip.slot}/0": part}
        value = [detail(answer)] if has_details(answer.api) else answer.reasoning
        return {f"/messages/1{answer.api.round_trip.slot}": value}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a `chat.completion`."""
        absent = [way for way in ways_of(answer.api, v.COUNTS) if way != "given"]
        usage = {"usage": answer.counts.raw} if answer.counts.usage else as_empty(pick(draw, *absent), "usage")
        return {**_head("chat.completion", answer), "choices": choices(draw, answer), **usage}

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream of chunks."""
        head = _head("chat.completion.chunk", answer)
        drawn, last = chunks(draw, answer)
        frames = [Frame({**head, **chunk}, ends=number == last) for number, chunk in enumerate(drawn)]
        return frames if choose(draw, answer.api, v.END_MARKER) == "missing" else [*frames, Frame("[DONE]")]


def _head(kind: str, answer: Answer) -> dict[str, Any]:
    return {"id": answer.id, "object": kind, "created": CREATED, "model": answer.model}


def _with_arguments(api: Api, call: Call) -> Call:
    """Return a call. If it has no arguments, the text of its arguments becomes one that the API sends: "" or "{}"."""
    if call.arguments not in ("", "{}"):
        return call
    way = "empty" if call.arguments == "" else "an object"
    ways = ways_of(api, v.NO_ARGUMENTS)
    return replace(call, arguments="{}" if (way if way in ways else ways[0]) == "an object" else "")
