"""A generated conversation: what is asked, what the provider sends, and what a correct adapter returns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.contract import Segment
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.formats.generators import GENERATORS
from llm_conformance.generate import answers, framing
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.generator import Generator
from llm_conformance.scenarios.expected import FAILED, Expected
from llm_conformance.scenarios.scenario import Fault
from llm_conformance.wire.interaction import MODES, Interaction, Mode
from llm_conformance.wire.providers.api import Api

MESSAGES = ({"role": "user", "content": "(generated)"},)
JSON = "application/json"


@dataclass(frozen=True)
class Conversation:
    """One call and its response, in one mode or both.

    Attributes:
        interactions: Maps a mode to the response. `themes.request` adds the request.
        expected: The expected values, the same for both modes.
        fault: The failure of the connection; None if it does not fail.
        unbroken: The whole answer to the request. With a fault, the server sends a part of this answer, or something
            else.
        outage: The response to the first request, if only the second request gets the real response.
        model: The model that the call names.
        stream_params: Parameters that only a streamed request has.
        before: Maps the position of an earlier answer in `messages` to its conversation.
        turns: Maps the same positions to the answers as parts of the request, in the form of the API.
    """

    interactions: Mapping[Mode, Interaction]
    expected: Expected
    model: str
    think_profile: ThinkProfile = "off"
    params: Mapping[str, Any] = field(default_factory=dict)
    stream_params: Mapping[str, Any] = field(default_factory=dict)
    fault: Fault | None = None
    unbroken: Interaction | None = None
    outage: Interaction | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    messages: tuple[Mapping[str, Any], ...] = MESSAGES
    before: Mapping[int, Conversation] = field(default_factory=dict)
    turns: Mapping[int, Sequence[Mapping[str, Any]]] = field(default_factory=dict)


TOOLS = tuple(
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in answers.TOOL_NAMES
)


def interaction(
    api: Api,
    mode: Mode,
    body: bytes,
    model: str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Interaction:
    """Return an interaction with this response. Its request is not written yet."""
    streamed = mode == "stream"
    base_url = re.sub(r"\{\w+\}", "0" * 32, api.base_urls[0])
    all_headers = {"content-type": api.framing.content_type if streamed else JSON} | dict(headers or {})
    return Interaction(base_url + api.path_for(streamed, model), {}, status, all_headers, body)


def failing(
    answer: Answer,
    mode: Mode,
    body: bytes,
    whole: bytes,
    expected: Expected,
    fault: Fault | None = None,
    headers: Mapping[str, str] | None = None,
) -> Conversation:
    """Return a conversation that asks for an answer with the bytes `whole` but gets `body`."""
    sent = {mode: interaction(answer.api, mode, body, answer.asked, headers=headers)}
    unbroken = interaction(answer.api, mode, whole, answer.asked)
    return replace(_conversation(answer, sent, expected, fault), unbroken=unbroken)


def answered(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw the bytes of an answer. A stream comes with a plain response of the same content, if that can exist."""
    api = answer.api
    generator = GENERATORS[api.wire]
    bodies: dict[Mode, bytes] = {}
    segments = {each: tuple(generator.segments(answer, each)) for each in MODES}
    may_be = generator.may_have_counts if answer.counts.usage else generator.may_lack_counts
    has_body = mode == "json" or may_be(api, "json")
    if has_body and generator.has_body(answer) and segments["json"] == segments[mode]:
        bodies["json"] = framing.document(draw, generator.document(draw, answer), api)
    if mode == "stream":
        bodies["stream"] = framing.stream(draw, generator.stream(draw, answer), api)
    interactions = {mode: interaction(api, mode, body, answer.asked) for mode, body in bodies.items()}
    decided = generator.decides_segments(answer, mode)
    return _conversation(answer, interactions, _expected(answer, generator, segments[mode], decided))


def _conversation(
    answer: Answer, interactions: Mapping[Mode, Interaction], expected: Expected, fault: Fault | None = None
) -> Conversation:
    """Return a conversation that asks for an answer, with what the server sends."""
    return Conversation(
        interactions=interactions,
        expected=expected,
        model=answer.asked,
        think_profile=answer.profile,
        params=_params(answer),
        stream_params=_stream_params(answer),
        fault=fault,
        tools=_tools(answer),
        messages=_messages(answer),
    )


def _expected(answer: Answer, generator: Generator, segments: tuple[Segment, ...], decided: bool) -> Expected:
    audio = [block for block in answer.blocks if isinstance(block, answers.Audio)]
    by_tag = answer.think is not None and answer.think.sent != answer.message
    stated = {"id", "model", "message", "reasoning", "annotations", "tool_calls", "usage"}
    stated |= {"segments"} if decided else set()
    return Expected(
        stated=frozenset({*stated, "finish_reason", "raw_finish_reason", *(("attachments",) if audio else ())}),
        ids=((answer.id or None) if generator.has_ids else None,),
        model=answer.model,
        message=answer.message,
        reasoning=answer.reasoning,
        reasoning_source="tag" if by_tag else "native",
        segments=segments if decided else (),
        annotations=tuple(generator.annotations(answer)),
        attachments=tuple(
            {"id": "audio-1", "type": "audio/wav", "data": block.data, "transcript": block.transcript}
            for block in audio
        ),
        tool_calls=answer.tool_calls,
        usage=answer.counts.usage,
        refusal=answer.refusal,
        finish_reasons=answer.finish_reasons,
        raw_finish_reasons=generator.raw_finish_reasons(answer),
        offset_unit=answer.api.offset_unit,
        may_raise=FAILED if "error" in answer.finish_reasons else (),
    )


def _messages(answer: Answer) -> tuple[Mapping[str, Any], ...]:
    (message,) = MESSAGES
    if answer.think is not None and answer.think.is_blank:
        words = answer.api.blank_blocks[answer.asked]
        return ({**message, "content": f"{message['content']} {words}".rstrip()},)
    sources = GENERATORS[answer.api.wire].sources(answer)
    if not sources:
        return MESSAGES
    return ({**message, "content": [*sources, {"type": "text", "text": message["content"]}]},)


def _tools(answer: Answer) -> tuple[Mapping[str, Any], ...]:
    return TOOLS if answer.calls else ()


def _stream_params(answer: Answer) -> Mapping[str, Any]:
    """Return the parameters without which the provider would not send such a stream (`Api.way_params`)."""
    api = answer.api
    return {
        name: value
        for variation, ways in api.way_params.items()
        for way, params in ways.items()
        if tuple(api.varies.get(variation, ())) == (way,)
        for name, value in params.items()
    }


def _params(answer: Answer) -> Mapping[str, Any]:
    has_audio = any(isinstance(block, answers.Audio) for block in answer.blocks)
    choices = {"n": answer.choices} if answer.choices > 1 else {}
    audio = {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}} if has_audio else {}
    thinks = any(isinstance(block, answers.Reasoning) for block in answer.blocks)
    thinking = answer.api.reasoning_params if thinks else {}
    return {**choices, **audio, **thinking, **GENERATORS[answer.api.wire].params(answer)}
