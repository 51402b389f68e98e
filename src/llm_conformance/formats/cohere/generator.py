"""Generator of Cohere chat, v2: content blocks with citations, or a tool plan and calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.formats.cohere.variations import (
    BEFORE_CALLS,
    CITATION_PLACE,
    CITATION_SOURCE,
    CITATION_TYPE,
    CONTENT,
    COUNTS_OF_A_FAILURE,
    NO_CITATIONS,
)
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Reasoning, Text
from llm_conformance.generate.generator import Generator
from llm_conformance.generate.variations import choose, empty, ways_of, with_one_way
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


@dataclass(frozen=True)
class Thinking(Reasoning):
    """Reasoning in a content block. Reasoning before calls that is not of this class is the plan of the calls."""


class CohereGenerator(Generator):
    """Writes a message with content, plan, calls and citations."""

    sends_back: ClassVar[bool] = True
    structure: ClassVar[tuple[str, ...]] = (
        *("/message", "/message/content"),
        *("/delta", "/delta/message", "/delta/message/content"),
    )
    carriers: ClassVar[tuple[str, ...]] = ("content-delta", "message-end")

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw reasoning and calls, or content blocks."""
        calls = answers.calls(draw, api)
        if not calls:
            kinds = choose(draw, api, CONTENT)
            return tuple(self._block(draw, kind) for kind in kinds.split(", ") if kind != "none")
        where = choose(draw, api, BEFORE_CALLS)
        reasoning = draw(texts.reasonings().filter(bool)) if where != "nothing" else ""
        before = Thinking(reasoning) if where == "thinking" else Reasoning(reasoning)
        return (*([before] if reasoning else []), *calls)

    def _block(self, draw: DrawFn, kind: str) -> Block:
        if kind == "thinking":
            return Thinking(draw(texts.reasonings()))
        return answers.cited(draw, draw(texts.answers()))

    def settled(self, draw: DrawFn, answer: Answer, mode: Mode) -> Answer:
        """Draw what all citations of an answer have in common."""
        api = answer.api
        if any(answer.spans):
            for variation in (CITATION_SOURCE, CITATION_TYPE):
                api = with_one_way(api, variation, choose(draw, api, variation))
        return replace(answer, api=api)

    def has_counts(self, draw: DrawFn, answer: Answer, mode: Mode) -> bool:
        """Draw whether an answer has token counts. An answer that failed may have none."""
        failed = answer.api.finish.get(answer.word or "") == "error"
        return not failed or choose(draw, answer.api, COUNTS_OF_A_FAILURE) != "absent"

    def may_lack_counts(self, api: Api, mode: Mode) -> bool:
        """Return True if the API sends failed answers without token counts."""
        return "absent" in ways_of(api, COUNTS_OF_A_FAILURE)

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a citation without its offsets.

        They count in the content block that the citation names; if it names none, in the whole text.
        """
        (kind,), (typed,) = ways_of(answer.api, CITATION_SOURCE), ways_of(answer.api, CITATION_TYPE)
        number = next(number for number, each in enumerate(answer.blocks) if each is block)
        return {
            "text": block.text[citation.start : citation.end],
            **({"type": "TEXT_CONTENT"} if typed == "given" else {}),
            **({"content_index": number} if len(answer.blocks) > 1 else {}),
            "sources": [_SOURCES[kind]],
        }

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return the plan, in the slot of the API."""
        return {f"/messages/1{answer.api.round_trip.slot}": answer.reasoning}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a response with its message."""
        message: Fields = {"role": "assistant"}
        content = _contents(answer)
        if content or not answer.calls:
            message["content"] = [_content(block, None) for block in content]
        if answer.calls:
            message["tool_calls"] = [_call(call, call.arguments) for call in answer.calls]
            message |= {"tool_plan": answer.reasoning} if answer.reasoning and not content else {}
        citations = self._citations(answer)
        message |= {"citations": citations} if citations else empty(draw, answer.api, NO_CITATIONS, "citations", [])
        usage = {"usage": _usage(answer)} if answer.counts.usage else {}
        return {"id": answer.id, "finish_reason": answer.word, "message": message, **usage}

    def _citations(self, answer: Answer) -> list[Fields]:
        return [
            {**self.citation(answer, block, each), "start": each.start, "end": each.end}
            for _, block, each in answer.spans
        ]

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream of events."""
        whole = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        events: list[Fields] = [{"type": "message-start", "id": answer.id, "delta": {"message": whole}}]
        content = _contents(answer)
        for index, block in enumerate(content):
            events += [event | {"index": index} for event in self._content_events(draw, block)]
        if answer.calls and not content:
            pieces = texts.pieces(draw, answer.reasoning or "")
            events += [{"type": "tool-plan-delta", "delta": {"message": {"tool_plan": piece}}} for piece in pieces]
        for number, call in enumerate(answer.calls):
            events += [event | {"index": number} for event in self._call_events(draw, call)]
        self._add_citations(draw, answer, events)
        usage = _usage(answer) if answer.counts.usage else {}
        events.append({"type": "message-end", "delta": {"finish_reason": answer.word, "usage": usage}})
        return [*(Frame(event, event["type"], event["type"] == "message-end") for event in events), Frame("[DONE]")]

    def _add_citations(self, draw: DrawFn, answer: Answer, events: list[Fields]) -> None:
        """Draw a place for the citations among the events of the content, and add them there."""
        citations = list(enumerate(self._citations(answer)))
        where = choose(draw, answer.api, CITATION_PLACE) if citations else ""
        if where == "behind all blocks":
            events += _citation_events(citations)
            return
        for number, event in reversed(list(enumerate(events))):
            if event["type"] == "content-end":
                own = [each for each in citations if each[1].get("content_index", event["index"]) == event["index"]]
                at = number if where == "in the block" else number + 1
                events[at:at] = _citation_events(own)

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


_SOURCES: Mapping[str, Fields] = {
    "document": {"type": "document", "id": "doc:0", "document": {"id": "doc:0", "title": "Found", "text": "a"}},
    "tool": {"type": "tool", "id": "look_up_0:0", "tool_output": {"content": "a"}},
}


def _contents(answer: Answer) -> list[Block]:
    """Return the content blocks. Reasoning before calls is a content block unless it is the plan of the calls."""
    return [
        block
        for block in answer.blocks
        if isinstance(block, Thinking) or (not answer.calls and not isinstance(block, Call))
    ]


def _usage(answer: Answer) -> Fields:
    """Return the token counts, and the smaller counts that were billed."""
    return {"billed_units": {"input_tokens": 1, "output_tokens": 0}, **answer.counts.raw}


def _content(block: Block, piece: str | None) -> Fields:
    kind, text = ("text", block.text) if isinstance(block, Text) else ("thinking", getattr(block, "text", ""))
    return {"type": kind, kind: text if piece is None else piece}


def _call(call: Call, arguments: str) -> Fields:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _citation_events(numbered: Iterable[tuple[int, Fields]]) -> list[Fields]:
    events: list[Fields] = []
    for number, each in numbered:
        events.append({"type": "citation-start", "index": number, "delta": {"message": {"citations": each}}})
        events.append({"type": "citation-end", "index": number})
    return events
