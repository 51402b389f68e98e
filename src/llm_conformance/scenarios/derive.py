"""Derive the expected values of an answer from the facts in its bytes.

The lint compares a scenario's hand-written values with the derived values. A bare recording has only derived values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from llm_conformance.contract import Usage
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.scenarios.expected import Expected, ExpectedAnnotation, ExpectedToolCall
from llm_conformance.wire import answers, think_tags
from llm_conformance.wire.answers import CitationFacts, WireFacts
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.compactions import with_compactions

_DERIVED = frozenset(
    {
        *("id", "created", "model", "message", "reasoning", "annotations", "attachments", "tool_calls", "usage"),
        *("finish_reason", "raw_finish_reason"),
    }
)


def expect(facts: WireFacts, api: Api, profile: ThinkProfile, model: str | None = None) -> Expected:
    """Return what a correct adapter returns for an answer with these facts.

    Args:
        facts: The facts in the bytes.
        api: The API that sent them.
        profile: The think profile of the model: where its text may have reasoning between tags.
        model: The model of the request, for an answer that does not name its model.
    """
    message, blocks = (facts.text, []) if facts.reasoning else think_tags.split(facts.text, profile, api.think_tag)
    removed = think_tags.removed_spans(facts.text, message, profile, api.think_tag)
    return Expected(
        stated=_DERIVED,
        ids=tuple(facts.ids) or (None,),
        times=tuple(dict.fromkeys(map(utc, facts.times))) or (None,),
        model=facts.model or model,
        message=message,
        message_is_json=facts.text_is_json,
        refusal=facts.refusal,
        reasoning=facts.reasoning or "".join(blocks) or None,
        reasoning_source="native" if message == facts.text else "tag",
        annotations=tuple(_annotation(citation, facts, api, message, removed) for citation in facts.citations),
        attachments=tuple(
            {key: piece[key] for key in ("id", "data", "url", "transcript") if piece.get(key)} for piece in facts.media
        ),
        tool_calls=tuple(_tool_call(facts, *call) for call in facts.tool_calls),
        usage=api.normalise(facts.usage),
        usage_with_compactions=normalised_with_compactions(facts.usage, api),
        oversized=api.oversized(facts.usage),
        unread=api.unread(facts.usage),
        finish_reasons=tuple(_finish_reasons(facts, api)),
        raw_finish_reasons=tuple(dict.fromkeys((facts.finish, facts.finish_also or facts.finish))),
        offset_unit=api.offset_unit,
    )


def normalised_with_compactions(usage: Mapping[str, Any], api: Api) -> Usage | None:
    """Return the canonical counts plus the counts of the summaries; None if the provider made no summary."""
    summed = with_compactions(usage)
    return None if summed is None else api.normalise(summed)


def shown_early(interaction: Interaction, api: Api) -> frozenset[str]:
    """Return the kinds of content that a stream has before its last frame, as in `Expected.shows_early`."""
    early = answers.derive(answers.without_last_frame(interaction), api)
    shown = {"text": early.text, "reasoning": early.reasoning, "tools": early.tool_calls, "audio": early.media}
    return frozenset(kind for kind, content in shown.items() if content)


def in_plain_order(interaction: Interaction, api: Api) -> bool:
    """Return True if an answer has all of its reasoning before its text, and all of its text before its tool calls."""
    ranks = [
        _RANKS[kind]
        for document in answers.documents(interaction)
        for kind in _ranked_kinds(document, api, interaction.streamed)
    ]
    return ranks == sorted(ranks)


_RANKS = {"reasoning": 0, "text": 1, "name": 2, "arguments": 2}


def _ranked_kinds(document: Mapping[str, object], api: Api, streamed: bool) -> list[str]:
    kinds = answers.kinds(document, api, streamed)
    return sorted((kind for kind in kinds if kind in _RANKS), key=lambda kind: _RANKS[kind])


def utc(time: float | str) -> str:
    """Return seconds since 1970, or an RFC 3339 time, as RFC 3339 in UTC with whole seconds.

    Raises ValueError, OverflowError or OSError if the value is not a time.
    """
    moment = datetime.fromisoformat(time) if isinstance(time, str) else datetime.fromtimestamp(time, UTC)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _tool_call(facts: WireFacts, id: str, name: str, arguments: str) -> ExpectedToolCall:
    kind = facts.own_tools.get(id)
    other_names = () if kind is None else (kind, *_OTHER_NAMES.get(kind, ()))
    return ExpectedToolCall(id or None, name, arguments or "{}", other_names=other_names, has_object=kind is not None)


_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {"computer_call": ("computer_use_preview", "computer_use")}
"""Maps the type of a call to further names of the provider's tool that is called: the tool's types in requests."""


def _annotation(
    citation: CitationFacts, facts: WireFacts, api: Api, message: str, removed: list[tuple[int, int]]
) -> ExpectedAnnotation:
    start, end = _span(citation, facts, api, removed)
    text = None if start is None or end is None else message[start:end]
    unanchored = citation.start == citation.end == 0 or _names_no_block(citation, facts)
    return ExpectedAnnotation(start, end, text, citation.data, may_be_unanchored=unanchored)


def _names_no_block(citation: CitationFacts, facts: WireFacts) -> bool:
    """Return True if a citation names a block that does not exist, and only one block has text.

    The offsets of the citation then count in the whole text. Cohere may give all blocks of a stream the index 0, and
    still number them in the citations.
    """
    is_other = citation.block is not None and citation.block not in facts.blocks
    return is_other and not citation.whole_block and len(facts.blocks) == 1


def _span(
    citation: CitationFacts, facts: WireFacts, api: Api, removed: list[tuple[int, int]]
) -> tuple[int, int] | tuple[None, None]:
    """Return a citation's span in code points of the message; (None, None) if it has no place in the message."""
    counts_in_all = citation.block is None or _names_no_block(citation, facts)
    text = facts.text if counts_in_all else facts.blocks.get(citation.block, "")
    if citation.whole_block:
        start, end = 0, len(text)
    elif citation.start is None or citation.end is None:
        return None, None
    elif api.offset_unit == "utf-8 bytes":
        offsets = _code_points(text, citation.start), _code_points(text, citation.end)
        if None in offsets:
            return None, None
        start, end = offsets  # type: ignore[assignment]
    else:
        start, end = citation.start, citation.end
    if not 0 <= start <= end <= len(text):
        return None, None
    before = 0
    for key, block in () if counts_in_all else facts.blocks.items():
        if key == citation.block:
            break
        before += len(block)
    return _without(removed, start + before, end + before)


def _without(removed: list[tuple[int, int]], start: int, end: int) -> tuple[int, int] | tuple[None, None]:
    """Return where a span is after the `removed` spans are cut out of its text; (None, None) if none of it is left."""
    first, last = (place - sum(min(place, stop) - at for at, stop in removed if at < place) for place in (start, end))
    if first == last and (start < end or any(at < start < stop for at, stop in removed)):
        return None, None
    return first, last


def _code_points(text: str, offset: int) -> int | None:
    """Convert an offset in bytes to code points; None if it is outside the text or inside a character."""
    encoded = text.encode("utf-8")
    if not 0 <= offset <= len(encoded):
        return None
    try:
        return len(encoded[:offset].decode("utf-8"))
    except UnicodeDecodeError:
        return None


def _finish_reasons(facts: WireFacts, api: Api) -> Iterator[str | None]:
    """Yield every correct finish reason.

    Three kinds of answers have two correct reasons: an answer with tool calls whose finish word means stop, a refusal
    that was cut off, and streamed audio. OpenAI ends streamed audio without a finish word, and its own SDK takes that
    for stop (https://github.com/openai/openai-node/pull/1991).
    """
    reason = api.finish.get(facts.finish or "")
    yield "content_filter" if facts.refusal else reason
    if facts.refusal and reason == "length":
        yield reason
    if facts.finish is None and facts.media and facts.ended:
        yield "stop"
    if (facts.tool_calls or facts.asks) and reason == "stop":
        yield "tool_calls"
