"""Amazon Bedrock's Converse: blocks, or the events that build them up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.generate import texts
from llm_conformance.generate.answers import Answer, Block, Call, Citation, Reasoning, Text
from llm_conformance.generate.blocks import BlocksGenerator
from llm_conformance.generate.chance import at_most, either
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


class ConverseGenerator(BlocksGenerator):
    """`output` with a message of blocks. There is no id; a stream's events have their type as a name."""

    ids: ClassVar[tuple[str | None, ...]] = (None,)
    structure: ClassVar[tuple[str, ...]] = ("/output", "/output/message", "/output/message/content/0", "/delta")

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a place in a document; its offsets are none into the message."""
        place = {"documentIndex": citation.number, "start": citation.start, "end": citation.end}
        kind = "documentChar" if citation.number else "documentPage"
        return {"title": "Found", "sourceContent": [{"text": "what is cited"}], "location": {kind: place}}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a plain answer."""
        content = [self._whole(answer, block) for block in answer.blocks]
        said: Fields = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": answer.word}
        return said | ({"usage": answer.counts.raw} if answer.counts.usage else {})

    def _whole(self, answer: Answer, block: Block) -> Fields:
        if isinstance(block, Text) and block.citations:
            cited = [self.citation(answer, block, each) for each in block.citations]
            return {"citationsContent": {"content": [{"text": block.text}], "citations": cited}}
        return self.bare(block)

    def bare(self, block: Block) -> Fields:
        """Return a block, named by what it is."""
        if isinstance(block, Text):
            return {"text": block.text}
        if isinstance(block, Call):
            made = json.loads(block.arguments or "{}")
            return {"toolUse": {"toolUseId": block.id, "name": block.name, "input": made}}
        if isinstance(block, Reasoning) and not block.redacted:
            return {"reasoningContent": {"reasoningText": {"text": block.text, "signature": block.seal}}}
        return {"reasoningContent": {"redactedContent": block.seal if isinstance(block, Reasoning) else ""}}

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream: events for each block, the reason of the end, and the counts behind it."""
        events: list[tuple[str, Fields]] = [("messageStart", {"role": "assistant"})]
        for index, block in enumerate(answer.blocks):
            if isinstance(block, Call):
                begun = {"toolUse": {"toolUseId": block.id, "name": block.name}}
                events.append(("contentBlockStart", {"contentBlockIndex": index, "start": begun}))
            for delta in self._deltas(draw, answer, block):
                events.append(("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}))
            events.append(("contentBlockStop", {"contentBlockIndex": index}))
        events.append(("messageStop", {"stopReason": answer.word}))
        if answer.counts.usage:
            events.append(("metadata", {"usage": answer.counts.raw, "metrics": {"latencyMs": 7}}))
        padding = {"p": "abcdefghijklmnop"} if either(draw) else {}
        return [Frame(told | padding, kind, ends=kind == "messageStop") for kind, told in events]

    def _deltas(self, draw: DrawFn, answer: Answer, block: Block) -> Iterator[Fields]:
        if isinstance(block, Text):
            deltas: list[Fields] = [{"text": piece} for piece in texts.pieces(draw, block.text)]
            for each in block.citations:
                deltas.insert(at_most(draw, len(deltas)), {"citation": self.citation(answer, block, each)})
            yield from deltas
        elif isinstance(block, Call):
            first = [""] if either(draw) else []
            yield from ({"toolUse": {"input": piece}} for piece in [*first, *texts.pieces(draw, block.arguments)])
        elif isinstance(block, Reasoning) and block.redacted:
            yield {"reasoningContent": {"redactedContent": block.seal}}
        elif isinstance(block, Reasoning):
            yield from ({"reasoningContent": {"text": piece}} for piece in texts.pieces(draw, block.text))
            yield {"reasoningContent": {"signature": block.seal}}

    def error_frame(self, api: Api) -> Frame:
        """Return an exception among the events."""
        return Frame({"message": "the model is not ready"}, "serviceUnavailableException")
