"""Generator of OpenAI responses: output items, or the events that build them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Reasoning, Text
from llm_conformance.generate.chance import at_most, either
from llm_conformance.generate.generator import CREATED, Generator
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]
_STATUS = "completed"


class ResponsesGenerator(Generator):
    """Writes a `response` with items. Offsets count in the content part that has the annotation."""

    seal: ClassVar[str] = "encrypted"
    sends_back: ClassVar[bool] = True
    history: ClassVar[str] = "input"
    seals_reasoning: ClassVar[bool] = True
    structure: ClassVar[tuple[str, ...]] = ("/output", "/output/0")
    carriers: ClassVar[tuple[str, ...]] = ("response.completed", "response.incomplete")

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw reasoning and messages in any order, then calls."""
        kinds = draw(st.lists(st.sampled_from(("message", "reasoning")), max_size=3))
        return (*(self._block(draw, kind) for kind in kinds), *answers.calls(draw, api))

    def _block(self, draw: DrawFn, kind: str) -> Block:
        if kind == "message":
            return answers.cited(draw, draw(texts.answers()))
        return Reasoning(draw(texts.reasonings()), answers.seals(draw) if either(draw) else "")

    def words(self, api: Api) -> Mapping[str, str | None]:
        """Return the status of a complete answer, and the reasons for an incomplete one."""
        words = (_STATUS, "max_output_tokens", "content_filter")
        return {word: api.finish[word] for word in words if word in api.finish}

    def raw_finish_reasons(self, answer: Answer) -> tuple[str | None, ...]:
        """Return the reason, and the status that comes with it."""
        return (answer.word,) if answer.word == _STATUS else (answer.word, "incomplete")

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a `url_citation`."""
        return {"type": "url_citation", "url": f"https://example.org/{citation.number}", "title": "Found"}

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return the reasoning items without their ids. Only a server that has stored the items could use the ids."""
        items = [self._item(answer, index, block) for index, block in enumerate(answer.blocks)]
        return {
            f"/input/{1 + index}": {key: value for key, value in item.items() if key != "id"}
            for index, item in enumerate(items)
            if item["type"] == "reasoning"
        }

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a `response`."""
        items = [self._item(answer, index, block) for index, block in enumerate(answer.blocks)]
        usage = answer.counts.raw if answer.counts.usage else None
        whole = answer.word == _STATUS
        status = {"status": _STATUS if whole else "incomplete"}
        details = {"incomplete_details": None if whole else {"reason": answer.word}}
        return {**_head(answer), **status, **details, "error": None, "output": items, "usage": usage}

    def _item(self, answer: Answer, index: int, block: Block) -> Fields:
        if isinstance(block, Text):
            part = {"type": "output_text", "text": block.text, "annotations": self._annotations(answer, block)}
            item = {"type": "message", "id": f"msg_{index}", "role": "assistant", "status": "completed"}
            return {**item, "content": [part]}
        if isinstance(block, Call):
            names = {"call_id": block.id, "name": block.name, "arguments": block.arguments}
            return {"type": "function_call", "id": f"fc_{index}", "status": "completed", **names}
        text, seal = (block.text, block.seal) if isinstance(block, Reasoning) else ("", "")
        summary = [{"type": "summary_text", "text": text}] if text else []
        return {"type": "reasoning", "id": f"rs_{index}", "summary": summary, "encrypted_content": seal or None}

    def _annotations(self, answer: Answer, block: Text) -> list[Fields]:
        return [
            {**self.citation(answer, block, each), "start_index": each.start, "end_index": each.end}
            for each in block.citations
        ]

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream of events; the last has the whole response. APIs that send `[DONE]` do not name events."""
        started = {**_head(answer), "status": "in_progress", "error": None, "output": [], "usage": None}
        events: list[Fields] = [
            {"type": f"response.{kind}", "response": started} for kind in ("created", "in_progress")
        ]
        for index, block in enumerate(answer.blocks):
            whole = self._item(answer, index, block)
            events += [{**event, "output_index": index} for event in self._events(draw, block, whole)]
        body = self.body(draw, answer)
        events.append({"type": f"response.{body['status']}", "response": body})
        numbered = ({**event, "sequence_number": number} for number, event in enumerate(events))
        as_chat = answer.api.end_marker == "[DONE]"
        frames = [
            Frame(event, None if as_chat else event["type"], ends=event["type"] == events[-1]["type"])
            for event in numbered
        ]
        return [*frames, Frame("[DONE]")] if as_chat else frames

    def _events(self, draw: DrawFn, block: Block, whole: Fields) -> Iterator[Fields]:
        empty: Fields = (
            {"content": []}
            if isinstance(block, Text)
            else {"arguments": ""}
            if isinstance(block, Call)
            else {"summary": []}
        )
        yield {"type": "response.output_item.added", "item": {**whole, **empty, "status": "in_progress"}}
        if isinstance(block, Text):
            yield from self._text_events(draw, block, whole)
        elif isinstance(block, Call):
            yield from _deltas(draw, "response.function_call_arguments", block.arguments, "arguments")
        elif isinstance(block, Reasoning) and block.text:
            part = {"type": "summary_text", "text": ""}
            yield {"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": part}
            for event in _deltas(draw, "response.reasoning_summary_text", block.text, "text"):
                yield {**event, "summary_index": 0}
            yield {"type": "response.reasoning_summary_part.done", "summary_index": 0, "part": whole["summary"][0]}
        yield {"type": "response.output_item.done", "item": whole}

    def _text_events(self, draw: DrawFn, block: Text, whole: Fields) -> Iterator[Fields]:
        part = whole["content"][0]
        events: list[Fields] = [
            {"type": "response.content_part.added", "part": {**part, "text": "", "annotations": []}},
            *_deltas(draw, "response.output_text", block.text, "text"),
            {"type": "response.content_part.done", "part": part},
        ]
        for number, each in enumerate(part["annotations"]):
            added = {"type": "response.output_text.annotation.added", "annotation_index": number, "annotation": each}
            events.insert(1 + at_most(draw, len(events) - 2), added)
        yield from ({**event, "content_index": 0, "item_id": whole["id"]} for event in events)


def _head(answer: Answer) -> Fields:
    return {"id": answer.id, "object": "response", "created_at": CREATED, "model": answer.model}


def _deltas(draw: DrawFn, kind: str, text: str, name: str) -> Iterator[Fields]:
    """Yield the pieces of a text, then the whole text, which this format repeats."""
    for piece in texts.pieces(draw, text):
        yield {"type": f"{kind}.delta", "delta": piece}
    yield {"type": f"{kind}.done", name: text}
