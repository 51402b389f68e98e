"""The messages of plain answers, and the parts that they share with deltas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis.strategies import DrawFn

from llm_conformance.formats.chat import variations as v
from llm_conformance.formats.chat.fields import STEPS, written
from llm_conformance.generate import texts
from llm_conformance.generate.answers import Answer, Audio, Call, Citation, Reasoning, Refusal, Text
from llm_conformance.generate.chance import pick
from llm_conformance.generate.generator import CREATED
from llm_conformance.generate.variations import Variation, as_empty, choose, empty, ways_of
from llm_conformance.wire.providers.api import Api

Fields = dict[str, Any]


def choices(draw: DrawFn, answer: Answer) -> list[Fields]:
    """Draw the choices of a body. The first one is the answer."""
    native = native_field(answer.api, answer.word_also)
    own = {"index": 0, "message": _message(draw, answer), "finish_reason": answer.word, **native}
    others = [
        {"index": index, "message": {"role": "assistant", "content": OTHER}, "finish_reason": answer.word, **native}
        for index in range(1, answer.choices)
    ]
    return [own, *others]


def native_word(draw: DrawFn, api: Api, word: str | None) -> str | None:
    """Draw the upstream provider's own ("native") finish word for a finish word of a gateway.

    Returns None if the API lists no native word for it.
    """
    ends = f" for {word}"
    fitting = [way.removesuffix(ends) for way in ways_of(api, v.NATIVE_FINISH) if way.endswith(ends)]
    return pick(draw, *fitting) if fitting else None


def native_field(api: Api, native: str | None) -> Fields:
    """Return the field `native_finish_reason`, which may be null; {} if the API does not have this field."""
    return {} if ways_of(api, v.NATIVE_FINISH) == ("absent",) else {"native_finish_reason": native}


OTHER = "(another choice)"
"""The content of choices that are not the answer."""


def _message(draw: DrawFn, answer: Answer) -> Fields:
    api, text = answer.api, answer.sent
    message: Fields = {"role": "assistant"}
    for block in answer.blocks:
        if isinstance(block, Audio):
            audio = {"id": "audio-1", "data": block.data, "transcript": block.transcript, "expires_at": CREATED}
            message |= {"audio": audio, "content": None}
        elif isinstance(block, Refusal):
            message |= {"content": None, "refusal": block.text}
    if api.content_parts and (text or text_of(answer, Reasoning)):
        message["content"] = _parts(draw, answer)
    else:
        message |= _reasoning(draw, answer)
        if text:
            message["content"] = text
        elif "content" not in message:
            message |= empty(draw, api, v.NO_TEXT_BESIDE_CALLS if answer.calls else v.NO_TEXT, "content")
    numbered = bool(answer.calls) and choose(draw, api, v.INDEXED) == "numbered"
    calls = [  # only streams are known to have calls without a type
        ({"index": index} if numbered else {}) | call_fields(call, call.arguments, "given")
        for index, call in enumerate(answer.calls)
    ]
    message |= {"tool_calls": calls} if calls else empty(draw, api, v.NO_CALLS, "tool_calls", [])
    cited = cited_places(answer)
    message |= {"annotations": cited} if cited else empty(draw, api, v.NO_ANNOTATIONS, "annotations", [])
    return message if "refusal" in message else message | empty(draw, api, v.NO_REFUSAL, "refusal")


def _reasoning(draw: DrawFn, answer: Answer) -> Fields:
    api, reasoning = answer.api, text_of(answer, Reasoning)
    if not api.reasoning_fields:
        return {}
    if not reasoning:
        return written(choose(draw, api, v.NO_REASONING), {})
    details = {"reasoning_details": [detail(answer)]} if has_details(api) else {}
    return written(fields_of(draw, api, v.REASONING_FIELDS), dict.fromkeys(api.reasoning_fields, reasoning)) | {
        **{name: [{"thought": reasoning}] for name in api.reasoning_fields if name == STEPS},
        **details,
    }


def fields_of(draw: DrawFn, api: Api, variation: Variation) -> str:
    """Draw the list of fields with the reasoning (`fields`), or one of `reasoning_fields` if the row has no lists."""
    ways = tuple(api.varies.get(variation.name, ())) or api.reasoning_fields
    return pick(draw, *ways)


def _parts(draw: DrawFn, answer: Answer) -> Any:
    """Draw content. It may be a list of parts, in which one or more parts have reasoning."""
    api, reasoning = answer.api, text_of(answer, Reasoning)
    if not reasoning and choose(draw, api, v.CONTENT) == "text":
        return answer.sent
    return [*thinking(draw, api, reasoning, whole=True), *text_parts(draw, answer.sent)]


def thinking(draw: DrawFn, api: Api, reasoning: str, whole: bool) -> list[Fields]:
    """Draw the parts with the reasoning.

    If `whole`, one part may have all of it; else there is a part for each piece.
    """
    if not reasoning:
        return []
    pieces = [{"type": "text", "text": piece} for piece in texts.pieces(draw, reasoning)]
    way = choose(draw, api, v.THINKING) if whole else "several parts"
    runs = [[{"type": "text", "text": reasoning}]] if way == "one text" else [pieces]
    if way == "several parts":
        runs = [[piece] for piece in pieces]
        if not whole and choose(draw, api, v.END_OF_THINKING) == "empty part":
            runs.append([])
    closed = {"closed": True} if choose(draw, api, v.CLOSED) == "true" else {}
    return [{"type": "thinking", "thinking": run} | closed for run in runs]


def text_parts(draw: DrawFn, text: str) -> list[Fields]:
    """Draw the parts with the text."""
    return [{"type": "text", "text": piece} for piece in texts.pieces(draw, text)]


def text_of(answer: Answer, kind: type[Text | Reasoning]) -> str:
    """Return the text of all blocks of a kind."""
    return "".join(block.text for block in answer.blocks if isinstance(block, kind))


def has_details(api: Api) -> bool:
    """Return True if the API repeats reasoning as a list of details, and accepts that list in the next request."""
    return api.round_trip.slot == "/reasoning_details"


def detail_of(text: str) -> Fields:
    """Return a detail with a piece of reasoning."""
    return {"type": "reasoning.text", "text": text, "format": "unknown", "index": 0}


def seal_of(answer: Answer) -> str:
    """Return the signature of the reasoning."""
    return "".join(block.seal for block in answer.blocks if isinstance(block, Reasoning))


def detail(answer: Answer) -> Fields:
    """Return the whole reasoning as one detail."""
    seal = seal_of(answer)
    return detail_of(text_of(answer, Reasoning)) | ({"signature": seal} if seal else {})


def kind_of_annotation(api: Api) -> str:
    """Return the kind of annotations of an API; `none` if it sends none with a place in the text."""
    return ways_of(api, v.ANNOTATION)[0]


def source(api: Api, citation: Citation) -> Fields:
    """Return the source of a citation."""
    if kind_of_annotation(api) == "document_citation":
        return {"document_id": f"doc-{citation.number}"}
    return {"url": f"https://example.org/{citation.number}", "title": f"Source {citation.number}"}


def cited_places(answer: Answer) -> Sequence[Fields]:
    """Return the annotations. Texts with think tags have none; `themes.contents.citing` says why."""
    found = []
    for base, _, citation in answer.spans:
        span = {"start_index": base + citation.start, "end_index": base + citation.end}
        kind = kind_of_annotation(answer.api)
        found.append({"type": kind, kind: {**source(answer.api, citation), **span}})
    return found


def call_fields(call: Call, arguments: Any, typed: str) -> Fields:
    """Return a tool call."""
    kind = {"type": "function"} if typed == "given" else as_empty(typed, "type")
    return {"id": call.id, **kind, "function": {"name": call.name, "arguments": arguments}}
