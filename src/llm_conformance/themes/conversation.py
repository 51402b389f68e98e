"""A generated conversation: what the provider is made to say, and what a correct adapter makes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.formats.generators import GENERATORS
from llm_conformance.generate import answers, framing
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.wire import MODEL, Wire
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.scenario import Fault
from llm_conformance.wire.framings.registry import named
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api

MESSAGES = ({"role": "user", "content": "(generated)"},)
JSON = "application/json"


@dataclass(frozen=True)
class Conversation:
    """Answers by mode, and the truth of all of them; `fault` is what goes wrong with the connection.

    An `outage` is what the first request is answered with, where that is not the answer yet.
    `before` are the turns whose answers stand in the messages, by their place there.
    """

    interactions: Mapping[Mode, Interaction]
    expected: Expected
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
    api: Api,
    mode: Mode,
    body: bytes,
    params: Mapping[str, Any] | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Interaction:
    """Return a request in a mode, and an answer to it."""
    streamed = mode == "stream"
    asked: dict[str, Any] = {"messages": list(MESSAGES), **(params or {})}
    if not api.names_model_in_path:
        asked["model"] = MODEL
    asked |= api.stream_field(streamed)
    base = re.sub(r"\{\w+\}", "0" * 32, api.base_urls[0])
    told = {"content-type": named(api.framing).content_type if streamed else JSON} | dict(headers or {})
    return Interaction(base + api.path_for(streamed, MODEL), asked, status, told, body)


def answered(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw an answer as its provider writes it; a stream comes with the plain answer of the same content."""
    api, params = answer.api, _params(answer)
    wire = GENERATORS[api.wire]
    bodies: dict[Mode, bytes] = {"json": framing.document(draw, wire.body(draw, answer))}
    if mode == "stream":
        bodies["stream"] = framing.stream(draw, wire.frames(draw, answer), wire.style(api))
    told = {each: interaction(api, each, body, params) for each, body in bodies.items()}
    return Conversation(told, _expected(answer, wire), answer.profile, params, tools=TOOLS if answer.calls else ())


def _expected(answer: Answer, wire: Wire) -> Expected:
    audio = [block for block in answer.blocks if isinstance(block, answers.Audio)]
    by_tag = answer.think is not None and answer.think.sent != answer.message
    stated = {"id", "model", "message", "reasoning", "segments", "annotations", "tool_calls", "usage"}
    return Expected(
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
        offset_unit=answer.api.offset_unit,
    )


def _params(answer: Answer) -> Mapping[str, Any]:
    spoken = any(isinstance(block, answers.Audio) for block in answer.blocks)
    return {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}} if spoken else {}
