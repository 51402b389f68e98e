"""What a correct adapter makes of the facts on the wire: the truth of a recording, derived.

The lint holds a hand-written truth against it; a bare recording has no other.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from llm_conformance.contract import ToolCall, Usage
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.wire import answers
from llm_conformance.wire.answers import CitationFacts, WireFacts
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import TAG, Api

# Only ASCII letters have two cases here: the Kelvin sign is no K. White space is all that Unicode knows.
_OPEN, _INNER = "(?ai:<{tag}>)", r"(?P<inner>.*?)(?:(?ai:</{tag}>)\s*|\Z)"
_PATTERNS: Mapping[str, str] = {
    "leading": rf"\s*{_OPEN}{_INNER}",
    "anywhere": rf"(?:\A\s*)?{_OPEN}{_INNER}",
    "prefilled": rf"\s*(?:{_OPEN})?{_INNER}",
}


@dataclass(frozen=True)
class Expectation:
    """What an adapter has to return, as far as the wire decides it.

    `annotations` are (start, end, facts), in code points of `message`, both None where the wire gives no place in it.
    `finish_reasons` and `raw_finish_reasons` list all that is right. `reasoning` is None when there is none.
    """

    message: str
    refusal: str
    reasoning: str | None
    by_tag: bool
    message_is_json: bool
    annotations: tuple[tuple[int | None, int | None, CitationFacts], ...]
    tool_calls: tuple[ToolCall, ...]
    usage: Usage | None
    finish_reasons: tuple[str | None, ...]
    times: tuple[str, ...]


def expect(facts: WireFacts, api: Api, profile: ThinkProfile) -> Expectation:
    """Turn facts into what a correct adapter returns."""
    message, traces = (facts.text, []) if facts.reasoning else split(facts.text, profile, api.think_tag)
    reasoning = facts.reasoning or "".join(traces)
    removed = _removed(facts.text, message, profile, api.think_tag)
    return Expectation(
        message=message,
        refusal=facts.refusal,
        reasoning=reasoning or None,
        by_tag=message != facts.text,
        message_is_json=facts.text_is_json,
        annotations=tuple((*_span(each, facts, api, removed), each) for each in facts.citations),
        tool_calls=tuple(ToolCall(id or None, name, text or "{}") for id, name, text in facts.tool_calls),
        usage=api.normalise(facts.usage),
        finish_reasons=tuple(_finish_reasons(facts, api)),
        times=tuple(dict.fromkeys(map(utc, facts.times))),
    )


def split(text: str, profile: ThinkProfile, tag: str = TAG) -> tuple[str, list[str]]:
    """Return the answer and the blocks of reasoning of a text that has them between tags (S1-17 to S1-24).

    Blocks lose their outer white space, the answer the white space behind a block.
    """
    if profile == "anywhere":
        return _pattern(profile, tag).sub("", text), _inner(_pattern(profile, tag).finditer(text))
    rest, found = text, []
    way = profile
    while way != "off" and (block := _pattern(way, tag).match(rest)):
        found.append(block)
        rest, way = rest[block.end() :], "leading"
    return rest, _inner(iter(found))


@functools.cache
def _pattern(profile: ThinkProfile, tag: str) -> re.Pattern[str]:
    return re.compile(_PATTERNS[profile].replace("{tag}", tag), re.DOTALL)


def reasoning_spans(text: str, profile: ThinkProfile, tag: str = TAG) -> list[tuple[int, int]]:
    """Return where the blocks of reasoning stand in a text, without their outer white space."""
    spans, position = [], 0
    for inner in split(text, profile, tag)[1]:
        start = text.index(inner, position)
        position = start + len(inner)
        spans.append((start, position))
    return spans


def _inner(blocks: Iterator[re.Match[str]]) -> list[str]:
    return [inner for block in blocks if (inner := block["inner"].strip())]


def _span(
    citation: CitationFacts, facts: WireFacts, api: Api, removed: list[tuple[int, int]]
) -> tuple[int, int] | tuple[None, None]:
    """Return where in the message a citation stands, (None, None) where that is nowhere."""
    text = facts.text if citation.block is None else facts.blocks.get(citation.block, "")
    if citation.whole_block:
        start, end = 0, len(text)
    elif citation.start is None or citation.end is None:
        return None, None
    elif api.offset_unit == "utf-8 bytes":
        places = _code_points(text, citation.start), _code_points(text, citation.end)
        if None in places:
            return None, None
        start, end = places  # type: ignore[assignment]
    else:
        start, end = citation.start, citation.end
    if not 0 <= start <= end <= len(text):
        return None, None
    before = 0
    for key, block in facts.blocks.items() if citation.block is not None else ():
        if key == citation.block:
            break
        before += len(block)
    return _without(removed, start + before, end + before)


def _removed(text: str, message: str, profile: ThinkProfile, tag: str) -> list[tuple[int, int]]:
    """Return where the text has what the message has not."""
    if message == text:
        return []
    if profile == "anywhere":
        return [block.span() for block in _pattern(profile, tag).finditer(text)]
    return [(0, len(text) - len(message))]


def _without(removed: list[tuple[int, int]], start: int, end: int) -> tuple[int, int] | tuple[None, None]:
    """Return a span as it is when parts were removed, (None, None) where nothing of it is left."""
    first, last = (place - sum(min(place, stop) - at for at, stop in removed if at < place) for place in (start, end))
    if first == last and (start < end or any(at < start < stop for at, stop in removed)):
        return None, None
    return first, last


def _code_points(text: str, offset: int) -> int | None:
    """Return a byte offset in code points, None where it lies outside the text or inside a character."""
    encoded = text.encode("utf-8")
    if not 0 <= offset <= len(encoded):
        return None
    try:
        return len(encoded[:offset].decode("utf-8"))
    except UnicodeDecodeError:
        return None


def _finish_reasons(facts: WireFacts, api: Api) -> Iterator[str | None]:
    """Yield all finish reasons that are right: a call under a stop-like word may be called either."""
    reason = api.finish.get(facts.finish or "")
    yield "content_filter" if facts.refusal else reason
    if facts.tool_calls and reason == "stop":
        yield "tool_calls"


def utc(epoch: float | str) -> str:
    """Return seconds since 1970, or a time in RFC 3339, as RFC 3339 in UTC, whole seconds.

    Raises ValueError, OverflowError or OSError for what is no time.
    """
    moment = datetime.fromisoformat(epoch) if isinstance(epoch, str) else datetime.fromtimestamp(epoch, UTC)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def shown_early(interaction: Interaction, api: Api) -> frozenset[str]:
    """Return what a stream has before its last frame, as `Truth.shows_early` says it."""
    early = answers.derive(answers.without_last_frame(interaction), api)
    shown = {"text": early.text, "reasoning": early.reasoning, "tools": early.tool_calls, "audio": early.media}
    return frozenset(kind for kind, content in shown.items() if content)
