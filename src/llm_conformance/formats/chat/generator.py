"""Generator of OpenAI-shaped chat completions, with the variations of all their providers."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from llm_conformance.formats.chat.variations import COUNTS, COUNTS_OF_A_STREAM, END_MARKER
from llm_conformance.generate import answers, texts
from llm_conformance.generate.answers import Answer, Audio, Block, Call, Citation, Reasoning, Text
from llm_conformance.generate.chance import either, pick, some
from llm_conformance.generate.counts import growing
from llm_conformance.generate.generator import CREATED, Generator, nothing
from llm_conformance.generate.variations import Variation, as_empty, choose, ways_of
from llm_conformance.wire.framings.base import Frame
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]

_STEPS = "reasoning_steps"
"""Perplexity's field: a list of steps, each with a thought."""


class ChatGenerator(Generator):
    """Writes one message, or its deltas."""

    sends_back: ClassVar[bool] = True
    counted: ClassVar[Mapping[Mode, Variation]] = {"json": COUNTS, "stream": COUNTS_OF_A_STREAM}
    allows_tags_beside_fields: ClassVar[bool] = True
    # Not the content: some providers send other JSON values than text there.
    structure: ClassVar[tuple[str, ...]] = ("/choices", "/choices/0", "/choices/0/message", "/choices/0/delta")

    def blocks(self, draw: DrawFn, api: Api) -> tuple[Block, ...]:
        """Draw reasoning, then text, then tool calls; or audio, if the API speaks."""
        reasoning = draw(texts.reasonings()) if either(draw) and api.reasoning_fields else ""
        seal = answers.seals(draw) if reasoning and _has_details(api) and either(draw) else ""
        shown: list[Block] = [Reasoning(reasoning, seal)] if reasoning else []
        if api.speaks and some(draw):
            data = base64.b64encode(draw(st.binary(min_size=1, max_size=24))).decode()
            return (*shown, Audio(data, draw(texts.answers(3).filter(bool))))
        places = either(draw) and api.offset_unit == "code points"
        text = draw(texts.answers())
        return (*shown, answers.cited(draw, text) if places else Text(text), *answers.calls(draw, api))

    def citation(self, answer: Answer, block: Text, citation: Citation) -> Mapping[str, Any]:
        """Return a `url_citation`, without the nesting."""
        return {"type": "url_citation", **_source(citation)}

    def sent_back(self, answer: Answer) -> Mapping[str, Any]:
        """Return the reasoning, or its details, in the slot of the API."""
        value = [_detail(answer)] if _has_details(answer.api) else answer.reasoning
        return {f"/messages/1{answer.api.round_trip.slot}": value}

    def body(self, draw: DrawFn, answer: Answer) -> Mapping[str, Any]:
        """Draw a `chat.completion`."""
        message: Fields = {"role": "assistant"}
        reasoning = _text_of(answer, Reasoning)
        if _has_details(answer.api):
            message |= {"reasoning_details": [_detail(answer)]} if reasoning else nothing(draw, "reasoning_details", [])
        text = answer.sent
        if answer.api.content_parts and (reasoning or (text and either(draw))):
            message["content"] = [*_thinking(draw, reasoning), *_texts(draw, text)]
        else:
            message |= _reasoning(_names(draw, answer.api), reasoning) if reasoning else _no_reasoning(draw, answer.api)
            message |= {"content": text} if text or len(answer.blocks) == 1 else nothing(draw, "content", None, "")
        calls = [_tool_call(call, call.arguments) for call in answer.calls]
        message |= {"tool_calls": calls} if calls else nothing(draw, "tool_calls", None, [])
        annotations = _annotations(answer)
        message |= {"annotations": annotations} if annotations else nothing(draw, "annotations", None, [])
        for block in answer.blocks:
            if isinstance(block, Audio):
                audio = {"id": "audio-1", "data": block.data, "transcript": block.transcript, "expires_at": CREATED}
                message |= {"audio": audio, "content": None}
        choice = {"index": 0, "message": message, "finish_reason": answer.word}
        absent = [way for way in ways_of(answer.api, COUNTS) if way != "given"]
        usage = {"usage": answer.counts.raw} if answer.counts.usage else as_empty(pick(draw, *absent), "usage")
        return {**_head("chat.completion", answer), "choices": [choice], **usage}

    def frames(self, draw: DrawFn, answer: Answer) -> list[Frame]:
        """Draw a stream of chunks."""
        counted = [way for way in ways_of(answer.api, COUNTS_OF_A_STREAM) if way != "never"]
        when = pick(draw, *counted) if answer.counts.usage else "never"
        chunks: list[Fields] = []
        deltas = list(self._deltas(draw, answer))
        so_far = growing(draw, answer.counts, len(deltas))
        for delta, usage in zip(deltas, so_far, strict=True):
            counts = {"usage": usage} if when == "always" else nothing(draw, "usage", None)
            chunks.append({"choices": [_choice(delta)]} | counts)
        finish: Fields = {"choices": [_choice(({"content": ""} if either(draw) else {}), answer.word)]}
        if when in ("at the finish", "always"):
            finish["usage"] = answer.counts.raw
        chunks += [finish, {"choices": finish["choices"]}] if some(draw) else [finish]
        if when == "apart":
            chunks.append({"choices": [], "usage": answer.counts.raw})
        head = _head("chat.completion.chunk", answer)
        frames = [Frame({**head, **chunk}, ends=chunk is finish) for chunk in chunks]
        return frames if choose(draw, answer.api, END_MARKER) == "missing" else [*frames, Frame("[DONE]")]

    def _deltas(self, draw: DrawFn, answer: Answer) -> Iterator[Fields]:
        api, annotations = answer.api, _annotations(answer)
        where = pick(draw, "after", "with", "before")
        yield {"role": "assistant"} | nothing(draw, "content", None, "")
        if annotations and where == "before":
            yield {"annotations": annotations}
        reasoning, text = (_deltas_of_parts if api.content_parts else _deltas_of_fields)(draw, answer)
        seal = {"reasoning_details": [_sealing(answer)]} if _seal_of(answer) else None
        both = _both(reasoning[-1], text[0]) if reasoning and text and not seal and some(draw) else None
        for delta in reasoning[:-1] if both else reasoning:
            yield nothing(draw, "content", None, "") | delta
        if seal:
            yield seal | nothing(draw, "reasoning", None) | nothing(draw, "content", None, "")
        if both:
            yield both
            text = text[1:]
        for number, delta in enumerate(text):
            has_annotations = annotations and where == "with" and number == len(text) - 1
            yield delta | _no_reasoning(draw, api) | ({"annotations": annotations} if has_annotations else {})
        if annotations and (where == "after" or (where == "with" and not text)):
            yield {"annotations": annotations}
        for block in answer.blocks:
            if isinstance(block, Audio):
                yield from _audio_deltas(draw, block)
        yield from _call_deltas(draw, answer.calls)


def _head(kind: str, answer: Answer) -> Fields:
    return {"id": answer.id, "object": kind, "created": CREATED, "model": answer.model}


def _choice(delta: Fields, word: str | None = None) -> Fields:
    return {"index": 0, "delta": delta, "finish_reason": word}


def _text_of(answer: Answer, kind: type[Text | Reasoning]) -> str:
    return "".join(block.text for block in answer.blocks if isinstance(block, kind))


def _names(draw: DrawFn, api: Api) -> tuple[str, ...]:
    """Draw the fields that have the reasoning: one that the API has, or two with the same reasoning."""
    if not api.reasoning_fields:
        return ()
    several = len(api.reasoning_fields) > 1 and some(draw)
    return api.reasoning_fields[:2] if several else (pick(draw, *api.reasoning_fields),)


def _reasoning(names: tuple[str, ...], piece: str) -> Fields:
    return {name: [{"thought": piece}] if name == _STEPS else piece for name in names}


def _no_reasoning(draw: DrawFn, api: Api) -> Fields:
    if not api.reasoning_fields or api.content_parts:
        return {}
    name = api.reasoning_fields[0]
    return nothing(draw, name, None, [] if name == _STEPS else "")


def _deltas_of_fields(draw: DrawFn, answer: Answer) -> tuple[list[Fields], list[Fields]]:
    """Draw the deltas of the reasoning, which has a field of its own, and the deltas of the text."""
    names = _names(draw, answer.api)
    details = _has_details(answer.api)
    reasoning = [
        _reasoning(names, piece) | ({"reasoning_details": [_detail_of(piece)]} if details else {})
        for piece in texts.pieces(draw, _text_of(answer, Reasoning))
    ]
    return reasoning, [{"content": piece} for piece in texts.pieces(draw, answer.sent)]


def _deltas_of_parts(draw: DrawFn, answer: Answer) -> tuple[list[Fields], list[Fields]]:
    """Draw the deltas of the reasoning, which is a part of the content, and of the text, which is another or plain."""
    reasoning: list[Fields] = [{"content": [part]} for part in _thinking(draw, _text_of(answer, Reasoning))]
    plain = either(draw)
    return reasoning, [{"content": part["text"] if plain else [part]} for part in _texts(draw, answer.sent)]


def _thinking(draw: DrawFn, reasoning: str) -> list[Fields]:
    """Draw the parts that have the reasoning; an empty part may follow them."""
    whole = either(draw)
    pieces = [{"type": "text", "text": piece} for piece in texts.pieces(draw, reasoning)]
    runs = [pieces] if whole and pieces else [[piece] for piece in pieces]
    if pieces and either(draw):
        runs.append([])
    return [{"type": "thinking", "thinking": run} | nothing(draw, "closed", True) for run in runs]


def _texts(draw: DrawFn, text: str) -> list[Fields]:
    return [{"type": "text", "text": piece} for piece in texts.pieces(draw, text)]


def _both(reasoning: Fields, text: Fields) -> Fields:
    """Return a delta with the end of the reasoning and the beginning of the text."""
    before, content = reasoning.get("content"), text["content"]
    if before is None:
        return reasoning | text
    return {"content": [*before, *(content if isinstance(content, list) else [{"type": "text", "text": content}])]}


def _has_details(api: Api) -> bool:
    """Return True if the API repeats reasoning as a list of details, which it takes back in the next request."""
    return api.round_trip.slot == "/reasoning_details"


def _detail_of(text: str) -> Fields:
    return {"type": "reasoning.text", "text": text, "format": "unknown", "index": 0}


def _seal_of(answer: Answer) -> str:
    return "".join(block.seal for block in answer.blocks if isinstance(block, Reasoning))


def _detail(answer: Answer) -> Fields:
    """Return the whole reasoning as one detail."""
    seal = _seal_of(answer)
    return _detail_of(_text_of(answer, Reasoning)) | ({"signature": seal} if seal else {})


def _sealing(answer: Answer) -> Fields:
    """Return the last piece of a detail, which has only its signature."""
    return {"type": "reasoning.text", "signature": _seal_of(answer), "format": "unknown", "index": 0}


def _source(citation: Citation) -> Fields:
    return {"url": f"https://example.org/{citation.number}", "title": f"Source {citation.number}"}


def _annotations(answer: Answer) -> list[Fields]:
    """Return the annotations. Their offsets count in the text as it is sent, with think tags."""
    annotations = []
    for base, _, citation in answer.spans:
        span = base + citation.start, base + citation.end
        sent_span = answer.think.on_the_wire(*span) if answer.think else span
        if sent_span:
            nested = {**_source(citation), "start_index": sent_span[0], "end_index": sent_span[1]}
            annotations.append({"type": "url_citation", "url_citation": nested})
    return annotations


def _tool_call(call: Call, arguments: str) -> Fields:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _call_deltas(draw: DrawFn, calls: tuple[Call, ...]) -> Iterator[Fields]:
    """Draw the deltas of tool calls: whole, or in pieces of which the first has the name; interleaved or not."""
    all_pieces: list[list[Fields]] = []
    for index, call in enumerate(calls):
        first, *rest = texts.pieces(draw, call.arguments) or [""]
        if either(draw):
            first, rest = "", [first, *rest]
        pieces: list[Fields] = [{"index": index, **_tool_call(call, first)}]
        all_pieces.append(pieces + [{"index": index, "function": {"arguments": piece}} for piece in rest])
    if all_pieces and some(draw):
        yield {"tool_calls": [pieces[0] for pieces in all_pieces]}
        all_pieces = [pieces[1:] for pieces in all_pieces]
    if some(draw):
        longest = max(map(len, all_pieces), default=0)
        ordered = [pieces[n] for n in range(longest) for pieces in all_pieces if n < len(pieces)]
    else:
        ordered = [piece for pieces in all_pieces for piece in pieces]
    for piece in ordered:
        yield {"tool_calls": [piece]}


def _audio_deltas(draw: DrawFn, audio: Audio) -> Iterator[Fields]:
    yield {"audio": {"id": "audio-1"}}
    for piece in texts.pieces(draw, audio.transcript):
        yield {"audio": {"transcript": piece}}
    for piece in texts.pieces(draw, audio.data):
        yield {"audio": {"data": piece}}
    yield {"audio": {"expires_at": CREATED}}
