"""Generator of Ollama's native chat: one document with a message, or a line for each piece of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Reasoning, Text
from llm_conformance.generate.chance import either
from llm_conformance.generate.generator import Generator
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


class OllamaGenerator(Generator):
    """Writes a `message`, with the token counts beside it."""

    has_ids: ClassVar[bool] = False
    structure: ClassVar[tuple[str, ...]] = ("/message",)

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw thinking, text, then tool calls."""
        thinking = Reasoning(draw(texts.reasonings()))
        text = Text(draw(texts.answers()))
        blocks: tuple[Block, ...] = (thinking, text) if either(draw) else (text,)
        shown = (block for block in blocks if not isinstance(block, Reasoning) or block.text)
        return (*shown, *answers.calls(draw, api))

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the words that end an answer; the others are for loading and unloading a model."""
        return {word: reason for word, reason in api.finish.items() if reason}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw one document."""
        thinking = "".join(block.text for block in answer.blocks if isinstance(block, Reasoning))
        message: Fields = {"content": answer.sent}
        message |= {"thinking": thinking} if thinking else {}
        message |= {"tool_calls": [self._call(draw, call) for call in answer.calls]} if answer.calls else {}
        return _document(answer, message, done=True) | self._end(answer)

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream: a line for each piece and each call. The last line, or one after it, ends the stream."""
        lines = [_document(answer, message, done=False) for message in self._pieces(draw, answer)]
        last = lines.pop() if lines and either(draw) else _document(answer, {"content": ""}, done=False)
        return [*map(Frame, lines), Frame(last | {"done": True} | self._end(answer), ends=True)]

    def _pieces(self, draw: DrawFn, answer: Answer) -> Iterator[Fields]:
        for block in answer.blocks:
            if isinstance(block, Call):
                yield {"content": "", "tool_calls": [self._call(draw, block)]}
            elif isinstance(block, Reasoning):
                yield from ({"content": "", "thinking": piece} for piece in texts.pieces(draw, block.text))
            else:
                yield from ({"content": piece} for piece in texts.pieces(draw, answer.sent))

    def _call(self, draw: DrawFn, call: Call) -> Fields:
        index = {"index": 0} if either(draw) else {}
        function = {"name": call.name, "arguments": json.loads(call.arguments or "{}"), **index}
        return {"id": call.id, "function": function}

    def _end(self, answer: Answer) -> Fields:
        return {"done_reason": answer.word, "total_duration": 7, **answer.counts.raw}

    def error_frame(self, api: Api) -> Frame:
        """Return a line with an error."""
        return Frame({"error": "the model runner has stopped"})


def _document(answer: Answer, message: Fields, done: bool) -> Fields:
    return {
        "model": answer.model,
        "created_at": "2025-11-04T09:12:40.820116Z",
        "message": {"role": "assistant", **message},
        "done": done,
    }
