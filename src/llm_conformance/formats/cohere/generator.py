"""Generator of Cohere chat, v2: content blocks, or a tool plan and calls; citations beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Reasoning, Text
from llm_conformance.generate.chance import either, pick
from llm_conformance.generate.generator import Generator
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


class CohereGenerator(Generator):
    """Writes a message with content, plan, calls and citations."""

    sends_back: ClassVar[bool] = True
    structure: ClassVar[tuple[str, ...]] = (
        *("/message", "/message/content"),
        *("/delta", "/delta/message", "/delta/message/content"),
    )
    carriers: ClassVar[tuple[str, ...]] = ("content-delta", "message-end")

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw a plan and calls, or thinking and text with citations."""
        calls = answers.calls(draw, api)
        if calls:
            plan = draw(texts.reasonings())
            return (*([Reasoning(plan)] if plan else []), *calls)
        kinds = pick(draw, ("text",), ("thinking", "text"), ("text", "text"), ("thinking", "text", "text"))
        return tuple(self._block(draw, kind) for kind in kinds)

    def _block(self, draw: DrawFn, kind: str) -> Block:
        if kind == "thinking":
            return Reasoning(draw(texts.reasonings()))
        return answers.cited(draw, draw(texts.answers()))

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a citation of a document. Its offsets count in the content block that it names."""
        return {
            "text": block.text[citation.start : citation.end],
            "type": "TEXT_CONTENT",
            "content_index": next(number for number, each in enumerate(answer.blocks) if each is block),
            "sources": [{"type": "document", "id": f"doc:{citation.number}", "document": {"title": "Found"}}],
        }

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return the plan, in the slot of the API."""
        return {f"/messages/1{answer.api.round_trip.slot}": answer.reasoning}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a response with its message."""
        message: Fields = {"role": "assistant"}
        if answer.calls:
            message["tool_calls"] = [_call(call, call.arguments) for call in answer.calls]
            if answer.reasoning:
                message["tool_plan"] = answer.reasoning
        else:
            message["content"] = [_content(block, None) for block in answer.blocks]
        citations = self._citations(answer)
        if either(draw) or citations:
            message["citations"] = citations
        usage = {"usage": answer.counts.raw} if answer.counts.usage else {}
        return {"id": answer.id, "finish_reason": answer.word, "message": message, **usage}

    def _citations(self, answer: Answer) -> list[Fields]:
        return [
            {**self.citation(answer, block, each), "start": each.start, "end": each.end}
            for _, block, each in answer.spans
        ]

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream of events. Citations follow their block, or all blocks."""
        events: list[Fields] = [{"type": "message-start", "id": answer.id, "delta": {"message": {"role": "assistant"}}}]
        late = either(draw)
        citations = list(enumerate(self._citations(answer)))
        for index, block in enumerate(answer.blocks):
            if isinstance(block, Call):
                number = answer.calls.index(block)
                events += [event | {"index": number} for event in self._call_events(draw, block)]
            elif answer.calls:
                pieces = texts.pieces(draw, getattr(block, "text", ""))
                events += [{"type": "tool-plan-delta", "delta": {"message": {"tool_plan": piece}}} for piece in pieces]
            else:
                events += [event | {"index": index} for event in self._content_events(draw, block)]
                if not late:
                    events += _citation_events((n, each) for n, each in citations if each["content_index"] == index)
        if late:
            events += _citation_events(iter(citations))
        usage = {"usage": answer.counts.raw} if answer.counts.usage else {}
        events.append({"type": "message-end", "delta": {"finish_reason": answer.word, **usage}})
        return [*(Frame(event, event["type"], event["type"] == "message-end") for event in events), Frame("[DONE]")]

    def _content_events(self, draw: DrawFn, block: Block) -> Iterator[Fields]:
        yield {"type": "content-start", "delta": {"message": {"content": _content(block, "")}}}
        for piece in texts.pieces(draw, getattr(block, "text", "")):
            content = {key: value for key, value in _content(block, piece).items() if key != "type"}
            yield {"type": "content-delta", "delta": {"message": {"content": content}}}
        yield {"type": "content-end"}

    def _call_events(self, draw: DrawFn, call: Call) -> Iterator[Fields]:
        yield {"type": "tool-call-start", "delta": {"message": {"tool_calls": _call(call, "")}}}
        for piece in texts.pieces(draw, call.arguments):
            yield {"type": "tool-call-delta", "delta": {"message": {"tool_calls": {"function": {"arguments": piece}}}}}
        yield {"type": "tool-call-end"}

    def error_frame(self, api: Api) -> Frame:
        """Return the end of a message that failed."""
        return Frame(
            {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "it broke down"}}, "message-end"
        )


def _content(block: Block, piece: str | None) -> Fields:
    kind, text = ("text", block.text) if isinstance(block, Text) else ("thinking", getattr(block, "text", ""))
    return {"type": kind, kind: text if piece is None else piece}


def _call(call: Call, arguments: str) -> Fields:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _citation_events(numbered: Iterator[tuple[int, Fields]]) -> Iterator[Fields]:
    for number, each in numbered:
        yield {"type": "citation-start", "index": number, "delta": {"message": {"citations": each}}}
        yield {"type": "citation-end", "index": number}
