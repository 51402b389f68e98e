"""Generator of Cloudflare Workers AI, native: text in `response`, tool calls whole and without nesting."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from hypothesis.strategies import DrawFn

from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Block, Text
from llm_conformance.generate.chance import either
from llm_conformance.generate.counts import growing
from llm_conformance.generate.generator import Generator
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.providers.api import Api


class WorkersAiGenerator(Generator):
    """Writes a `result`, or frames of the same form."""

    structure: ClassVar[tuple[str, ...]] = ("/result", "/tool_calls")
    has_ids: ClassVar[bool] = False

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw text, then tool calls."""
        return (Text(draw(texts.answers())), *answers.calls(draw, api))

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a response with its `result`."""
        result: dict[str, Any] = {"response": answer.sent, "finish_reason": answer.word}
        if answer.calls:
            result["tool_calls"] = [_flat(call) for call in answer.calls]
        if answer.counts.usage:
            result["usage"] = answer.counts.raw
        return {"result": result, "success": True, "errors": [], "messages": []}

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream: a frame for each piece of text and each call, and the end."""
        always = either(draw) and answer.counts.usage is not None
        frames: list[dict[str, Any]] = [{"response": piece} for piece in texts.pieces(draw, answer.sent)]
        frames += [{"response": "", "tool_calls": [_flat(call)]} for call in answer.calls]
        if always:
            counted = growing(draw, answer.counts, len(frames))
            frames = [frame | {"usage": usage} for frame, usage in zip(frames, counted, strict=True)]
        last: dict[str, Any] = {"response": "", "finish_reason": answer.word}
        if answer.counts.usage:
            last["usage"] = answer.counts.raw
        return [*map(Frame, frames), Frame(last, ends=True), Frame("[DONE]")]


def _flat(call: answers.Call) -> dict[str, Any]:
    return {"id": call.id, "name": call.name, "arguments": json.loads(call.arguments or "{}")}
