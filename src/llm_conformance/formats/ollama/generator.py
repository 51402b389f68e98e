"""Generator of Ollama's native chat: one document with a message, or a line for each piece of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.formats.ollama.variations import CALL_IDS, CALLS_OF_A_STREAM, LAST_LINE, THINKING_AND_TEXT
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Reasoning, Text
from llm_conformance.generate.chance import either
from llm_conformance.generate.generator import Generator
from llm_conformance.generate.variations import choose
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


class OllamaGenerator(Generator):
    """Writes a `message`, with the token counts beside it."""

    has_ids: ClassVar[bool] = False
    sends_back: ClassVar[bool] = True
    structure: ClassVar[tuple[str, ...]] = ("/message",)

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw thinking, text, then tool calls."""
        thinking = Reasoning(draw(texts.reasonings()))
        text = Text(draw(texts.answers()))
        blocks: tuple[Block, ...] = (thinking, text) if either(draw) else (text,)
        shown = (block for block in blocks if not isinstance(block, Reasoning) or block.text)
        calls = answers.calls(draw, api)
        has_ids = not calls or choose(draw, api, CALL_IDS) == "id and index"
        return (*shown, *(calls if has_ids else answers.without_ids(calls)))

    def params(self, answer: Answer) -> Mapping[str, Any]:
        """Return the parameter that turns thinking on or off.

        If it is off, some models put their reasoning into the text.
        """
        if answer.profile == "prefilled":
            return {"think": False}
        return {"think": True} if any(isinstance(block, Reasoning) for block in answer.blocks) else {}

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return the thinking, in the slot of the API."""
        return {f"/messages/1{answer.api.round_trip.slot}": answer.reasoning}

    def turn(self, answer: Answer) -> list[Mapping[str, Any]]:
        """Return a message. Its calls have arguments as objects."""
        calls = {"tool_calls": _calls(answer.calls)} if answer.calls else {}
        return [{"role": "assistant", "content": answer.sent, **calls}]

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the words that end an answer. The other words are for loading and unloading a model."""
        return {word: reason for word, reason in api.finish.items() if reason}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw one document."""
        thinking = "".join(block.text for block in answer.blocks if isinstance(block, Reasoning))
        message: Fields = {"content": answer.sent}
        message |= {"thinking": thinking} if thinking else {}
        message |= {"tool_calls": _calls(answer.calls)} if answer.calls else {}
        return _document(answer, message, done=True) | _end(answer)

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream: lines with pieces and calls. The last line ends the stream."""
        lines = list(self._messages(draw, answer))
        is_last = lines and lines[-1]["content"] and choose(draw, answer.api, LAST_LINE) == "with text"
        last = lines.pop() if is_last else {"content": ""}
        end = _document(answer, last, done=True) | _end(answer)
        return [*(Frame(_document(answer, line, done=False)) for line in lines), Frame(end, ends=True)]

    def _messages(self, draw: DrawFn, answer: Answer) -> Iterator[Fields]:
        reasoning = "".join(block.text for block in answer.blocks if isinstance(block, Reasoning))
        thinking: list[Fields] = [{"content": "", "thinking": piece} for piece in texts.pieces(draw, reasoning)]
        text: list[Fields] = [{"content": piece} for piece in texts.pieces(draw, answer.sent)]
        if thinking and text and choose(draw, answer.api, THINKING_AND_TEXT) == "in one line":
            thinking[-1] |= text.pop(0)
        yield from (*thinking, *text)
        calls = _calls(answer.calls)
        if len(calls) > 1 and choose(draw, answer.api, CALLS_OF_A_STREAM) == "one a line":
            yield from ({"content": "", "tool_calls": [call]} for call in calls)
        elif calls:
            yield {"content": "", "tool_calls": calls}


def _calls(calls: tuple[Call, ...]) -> list[Fields]:
    """Return tool calls, either with ids and indexes or with neither."""
    sent: list[Fields] = []
    for index, call in enumerate(calls):
        function: Fields = {"name": call.name, "arguments": json.loads(call.arguments or "{}")}
        if call.id is None:
            sent.append({"function": function})
        else:
            sent.append({"id": call.id, "function": {"index": index, **function}})
    return sent


def _end(answer: Answer) -> Fields:
    durations = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
    return {"done_reason": answer.word, **dict.fromkeys(durations, 7), **answer.counts.raw}


def _document(answer: Answer, message: Fields, done: bool) -> Fields:
    return {
        "model": answer.model,
        "created_at": "2025-11-04T09:12:40.820116Z",
        "message": {"role": "assistant", **message},
        "done": done,
    }
