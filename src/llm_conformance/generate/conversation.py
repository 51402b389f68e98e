"""A generated conversation: what the provider is made to say, and what a correct adapter makes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.cassette import Interaction
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.generate import answers, framing
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.wires import WIRES
from llm_conformance.generate.wires.base import MODEL, Wire
from llm_conformance.providers import Provider
from llm_conformance.scenarios import Fault
from llm_conformance.truths import Mode, Truth

MESSAGES = ({"role": "user", "content": "(generated)"},)
JSON, EVENTS = "application/json", "text/event-stream"


@dataclass(frozen=True)
class Conversation:
    """Answers by mode, and the truth of all of them; `fault` is what goes wrong with the connection.

    An `outage` is what the first request is answered with, where that is not the answer yet.
    `before` are the turns whose answers stand in the messages, by their place there.
    """

    interactions: Mapping[Mode, Interaction]
    truth: Truth
    think_profile: ThinkProfile = "off"
    params: Mapping[str, Any] = field(default_factory=dict)
    fault: Fault | None = None
    outage: Interaction | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    messages: tuple[Mapping[str, Any], ...] = MESSAGES
    before: Mapping[int, Conversation] = field(default_factory=dict)


TOOLS = tuple(
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in answers.TOOL_NAMES
)


def interaction(
    row: Provider,
    mode: Mode,
    body: bytes,
    params: Mapping[str, Any] | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Interaction:
    """Return a request in a mode, and an answer to it."""
    streamed = mode == "stream"
    asked: dict[str, Any] = {"messages": list(MESSAGES), **(params or {})}
    if not row.names_model_in_path:
        asked["model"] = MODEL
    if streamed and row.path == row.stream_path:
        asked["stream"] = True
    base = re.sub(r"\{\w+\}", "0" * 32, row.base_urls[0])
    told = {"content-type": EVENTS if streamed else JSON} | dict(headers or {})
    return Interaction(base + row.path_for(streamed, MODEL), asked, status, told, body)


def answered(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw an answer as its provider writes it; a stream comes with the plain answer of the same content."""
    row, params = answer.row, _params(answer)
    wire = WIRES[row.wire]
    bodies: dict[Mode, bytes] = {"json": framing.document(draw, wire.body(draw, answer))}
    if mode == "stream":
        bodies["stream"] = framing.stream(draw, wire.frames(draw, answer), wire.line_end)
    told = {each: interaction(row, each, body, params) for each, body in bodies.items()}
    return Conversation(told, _truth(answer, wire), answer.profile, params, tools=TOOLS if answer.calls else ())


def _truth(answer: Answer, wire: Wire) -> Truth:
    audio = [block for block in answer.blocks if isinstance(block, answers.Audio)]
    by_tag = answer.think is not None and answer.think.sent != answer.message
    stated = {"id", "model", "message", "reasoning", "segments", "annotations", "tool_calls", "usage"}
    return Truth(
        stated=frozenset({*stated, "finish_reason", "raw_finish_reason", *(("attachments",) if audio else ())}),
        ids=wire.ids,
        model=MODEL,
        message=answer.message,
        reasoning=answer.reasoning,
        reasoning_source="tag" if by_tag else "native",
        segments=tuple(answer.segments(wire.seal)),
        annotations=tuple(wire.annotations(answer)),
        attachments=tuple(
            {"id": "audio-1", "type": "audio/wav", "data": block.data, "transcript": block.transcript}
            for block in audio
        ),
        tool_calls=answer.tool_calls,
        usage=answer.counts.usage,
        finish_reasons=answer.finish_reasons,
        raw_finish_reasons=wire.raw_finish_reasons(answer),
        offset_unit=answer.row.offset_unit,
    )


def _params(answer: Answer) -> Mapping[str, Any]:
    spoken = any(isinstance(block, answers.Audio) for block in answer.blocks)
    return {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}} if spoken else {}
