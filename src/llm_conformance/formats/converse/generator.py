"""Generator of Amazon Bedrock's Converse: a message of blocks, or the events that build it."""

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
    """Writes `output` with a message of blocks. Responses have no id. Each stream event is named after its type."""

    has_ids: ClassVar[bool] = False
    structure: ClassVar[tuple[str, ...]] = ("/output", "/output/message", "/output/message/content/0", "/delta")

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a place in a document. Its offsets count in the document, not in the message."""
        place = {"documentIndex": citation.number, "start": citation.start, "end": citation.end}
        kind = "documentChar" if citation.number else "documentPage"
        return {"title": "Found", "sourceContent": [{"text": "what is cited"}], "location": {kind: place}}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a response with its blocks."""
        content = [self._whole(answer, block) for block in answer.blocks]
        body: Fields = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": answer.word}
        return body | ({"usage": answer.counts.raw} if answer.counts.usage else {})

    def _whole(self, answer: Answer, block: Block) -> Fields:
        if isinstance(block, Text) and block.citations:
            citations = [self.citation(answer, block, each) for each in block.citations]
            return {"citationsContent": {"content": [{"text": block.text}], "citations": citations}}
        return self.bare(block)

    def bare(self, block: Block) -> Fields:
        """Return a block: an object with one field, named by the kind of block."""
        if isinstance(block, Text):
            return {"text": block.text}
        if isinstance(block, Call):
            arguments = json.loads(block.arguments or "{}")
            return {"toolUse": {"toolUseId": block.id, "name": block.name, "input": arguments}}
        if isinstance(block, Reasoning) and not block.redacted:
            return {"reasoningContent": {"reasoningText": {"text": block.text, "signature": block.seal}}}
        return {"reasoningContent": {"redactedContent": block.seal if isinstance(block, Reasoning) else ""}}

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream: the events of each block, the stop reason, and the token counts."""
        events: list[tuple[str, Fields]] = [("messageStart", {"role": "assistant"})]
        for index, block in enumerate(answer.blocks):
            if isinstance(block, Call):
                start = {"toolUse": {"toolUseId": block.id, "name": block.name}}
                events.append(("contentBlockStart", {"contentBlockIndex": index, "start": start}))
            for delta in self._deltas(draw, answer, block):
                events.append(("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}))
            events.append(("contentBlockStop", {"contentBlockIndex": index}))
        events.append(("messageStop", {"stopReason": answer.word}))
        if answer.counts.usage:
            events.append(("metadata", {"usage": answer.counts.raw, "metrics": {"latencyMs": 7}}))
        padding = {"p": "abcdefghijklmnop"} if either(draw) else {}
        return [Frame(event | padding, kind, ends=kind == "messageStop") for kind, event in events]

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
        """Return an exception, which is sent like an event."""
        return Frame({"message": "the model is not ready"}, "serviceUnavailableException")
