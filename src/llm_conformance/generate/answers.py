"""Answers in no wire format yet: blocks, token counts and a finish word."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from llm_conformance.contract import Segment
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.generate.chance import at_most, pick
from llm_conformance.generate.count_ways import Shown
from llm_conformance.generate.counts import Counts
from llm_conformance.generate.ids import draw_id
from llm_conformance.generate.think import ThinkText
from llm_conformance.generate.variations import ARGUMENTS, FINISH_WORDS, ways_of
from llm_conformance.scenarios.expected import ExpectedToolCall
from llm_conformance.wire.providers.api import Api

TOOL_NAMES = ("look_up", "add")

NEW_WORD = "a_reason_nobody_knows"
"""A finish word that the provider table does not have."""


@dataclass(frozen=True)
class Citation:
    """A citation of `block.text[start:end]`, in code points. `number` decides its data, and need not be unique."""

    start: int
    end: int
    number: int


@dataclass(frozen=True)
class Text:
    """A block of visible text with its citations, in any order. `seal` is its opaque data."""

    text: str
    citations: tuple[Citation, ...] = ()
    seal: str = ""


@dataclass(frozen=True)
class Reasoning:
    """A block of reasoning. `seal` is opaque data beside its text or, if the block is `redacted`, instead of it."""

    text: str
    seal: str = ""
    redacted: bool = False


@dataclass(frozen=True)
class Call:
    """A call of a client's tool. `arguments` is JSON text, "" for no arguments; `seal` is its opaque data."""

    id: str | None
    name: str
    arguments: str
    seal: str = ""


@dataclass(frozen=True)
class Audio:
    """A spoken answer: base64 data, and its transcript."""

    data: str
    transcript: str


@dataclass(frozen=True)
class Hosted:
    """A call of a tool that the provider runs itself. `arguments` is JSON text, `tool` the provider's name for it."""

    id: str
    tool: str
    arguments: str


@dataclass(frozen=True)
class HostedResult:
    """The result of a tool that the provider runs; `failed` is True if it is an error."""

    id: str
    tool: str
    failed: bool = False


@dataclass(frozen=True)
class Refusal:
    """A refusal in a place of its own, outside the text."""

    text: str


Block = Text | Reasoning | Call | Audio | Hosted | HostedResult | Refusal


@dataclass(frozen=True)
class Answer:
    """An answer in no wire format yet.

    Attributes:
        api: The API that gives the answer.
        blocks: The blocks, in the order in which they are sent.
        counts: The token counts.
        word: The provider's finish word.
        asked: The model that the call names.
        model: The name of that model in the answer.
        id: The id of the answer.
        think: The text with its think tags; None if it has no tags. If it has tags, `blocks` has one text block.
        choices: How many choices the request asks for. The first choice is the answer.
        word_also: The finish word of the provider behind a gateway. It means the same as `word`.
        is_second: Whether the answer follows tool results. The request then offers tools even if the answer has no
            calls.
    """

    api: Api
    blocks: tuple[Block, ...]
    counts: Counts
    word: str | None
    asked: str
    model: str
    id: str
    think: ThinkText | None = None
    choices: int = 1
    word_also: str | None = None
    is_second: bool = False

    @property
    def message(self) -> str:
        """The visible answer."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def reasoning(self) -> str | None:
        """The visible reasoning."""
        native = [block.text for block in self.blocks if isinstance(block, Reasoning)]
        return "".join([*native, *(self.think.blocks if self.think else ())]) or None

    @property
    def shown(self) -> Shown:
        """Whether the answer shows reasoning, sound, and words or calls. Each of these has its own token count."""
        is_sealed = any(getattr(block, "seal", "") for block in self.blocks)
        speaks = any(isinstance(block, Audio) for block in self.blocks)
        return Shown(bool(self.reasoning) or is_sealed, speaks, bool(self.message or self.calls or self.refusal))

    @property
    def sent(self) -> str:
        """The visible text as it is sent, with think tags and the reasoning between them."""
        return self.think.sent if self.think else self.message

    @property
    def profile(self) -> ThinkProfile:
        """The think profile of the model."""
        return self.think.profile if self.think else "off"

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tool calls."""
        return tuple(block for block in self.blocks if isinstance(block, Call))

    @property
    def refusal(self) -> str:
        """The text of refusals."""
        return "".join(block.text for block in self.blocks if isinstance(block, Refusal))

    @property
    def spans(self) -> Iterator[tuple[int, Text, Citation]]:
        """For each citation: (offset of its block in the message, the block, the citation)."""
        base = 0
        for block in self.blocks:
            if isinstance(block, Text):
                for citation in block.citations:
                    yield base, block, citation
                base += len(block.text)

    @property
    def finish_reasons(self) -> tuple[str | None, ...]:
        """The right finish reasons. With tool calls, a word for `stop` may also be returned as `tool_calls`.

        A refusal that was cut off may be `content_filter` or `length`. Audio without a finish word may be None or
        `stop`.
        """
        reason = self.api.finish.get(self.word or "")
        if self.refusal:
            return ("content_filter", "length") if reason == "length" else ("content_filter",)
        if self.word is None and any(isinstance(block, Audio) for block in self.blocks):
            return (None, "stop")
        return (reason, "tool_calls") if self.calls and reason == "stop" else (reason,)

    @property
    def tool_calls(self) -> tuple[ExpectedToolCall, ...]:
        """The tool calls that the adapter has to return."""
        return tuple(ExpectedToolCall(call.id, call.name, call.arguments or "{}") for call in self.calls)

    def segments(self, seal: str) -> Iterator[Segment]:
        """Yield the segments that the adapter has to return. `seal` is the metadata key of opaque data."""
        for block in self.blocks:
            if isinstance(block, Text) and self.think:
                yield from (
                    Segment("reasoning" if kind == "reasoning" else "text", run) for kind, run in self.think.runs
                )
            elif isinstance(block, Text):
                yield Segment("text", block.text, {seal: block.seal} if block.seal else {})
            elif isinstance(block, Reasoning):
                key = "redacted" if block.redacted else seal
                yield Segment("reasoning", block.text, {key: block.seal} if block.seal else {})
            elif isinstance(block, Call):
                yield Segment("tool_call", block.arguments, {seal: block.seal} if block.seal else {})
            elif isinstance(block, Hosted):
                yield Segment("tool_call", "", {"server_executed": True})
            elif isinstance(block, HostedResult):
                yield Segment("other", "")
            elif isinstance(block, Refusal):
                yield Segment("other", "", {"kind": "refusal"})


def cited(draw: DrawFn, text: str, most: int = 3) -> Text:
    """Draw 0 to `most` citations of a text, in the order of the text. They may overlap or touch.

    No two are identical, because no recording has that.
    """
    spans = {
        (*sorted((min(one, len(text)), min(other, len(text)))), number) for one, other, number in draw(_SPANS[most])
    }
    return Text(text, tuple(Citation(start, end, number) for start, end, number in sorted(spans) if start < end))


_PLACE = st.integers(0, 16)  # a place beyond the end of a text counts as its end
_SPANS = {most: st.lists(st.tuples(_PLACE, _PLACE, st.integers(0, 1)), max_size=most) for most in (2, 3)}

_VALUES = st.one_of(
    st.integers(-9, 9), st.booleans(), st.none(), st.sampled_from(("", "a", 'say "a"', "é\n", "😀", "\\u0061"))
)
_ARGUMENTS = st.dictionaries(
    st.sampled_from(("a", "b", "ä")), st.one_of(_VALUES, st.lists(_VALUES, max_size=2)), max_size=2
)


def calls(draw: DrawFn, api: Api, most: int = 2) -> tuple[Call, ...]:
    """Draw 0 to `most` tool calls with different ids. They may call the same tool, and may have no arguments.

    If the provider table has no form for an API's ids of calls, the API sends no calls.
    """
    return tuple(call(draw, api, number) for number in range(at_most(draw, most if "call" in api.ids else 0)))


def without_ids(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Return the calls without their ids, for providers that send none."""
    return tuple(replace(call, id=None) for call in calls)


def call(draw: DrawFn, api: Api, number: int) -> Call:
    """Draw a tool call. Calls with different numbers have different ids."""
    name = pick(draw, *TOOL_NAMES)
    return Call(draw_id(draw, api, "call", number, name), name, _arguments(draw, api))


_STYLES: Mapping[str, Mapping[str, Any]] = {
    "compact": {"separators": (",", ":")},
    "spaced": {},
    "indented": {"indent": 2},
}


def _arguments(draw: DrawFn, api: Api) -> str:
    arguments = draw(_ARGUMENTS)
    if not arguments:
        return pick(draw, "{}", "")
    ways = [way for way in ways_of(api, ARGUMENTS) if way in _STYLES] or [ARGUMENTS.usual]
    return json.dumps(arguments, ensure_ascii=False, **_STYLES[pick(draw, *ways)])  # as in all recordings


def style_of(arguments: str) -> str | None:
    """Return the style of a JSON text of arguments; None if they are empty."""
    value = json.loads(arguments or "{}")
    if not value:
        return None
    texts = (
        (way, json.dumps(value, ensure_ascii=escaped, **style))
        for way, style in _STYLES.items()
        for escaped in (True, False)
    )
    return next((way for way, text in texts if text == arguments), "other")


def seals(draw: DrawFn) -> str:
    """Draw opaque data. In practice it is never the same twice."""
    return draw(_SEALS)


_SEALS = st.integers(0, 2**32).map(lambda number: base64.b64encode(b"seal" + number.to_bytes(5)).decode("ascii"))


def word(draw: DrawFn, api: Api, words: Mapping[str, str | None], has_calls: bool) -> str:
    """Draw a finish word for an answer with or without tool calls. Without calls, it may be a new word.

    `words` maps the words that the API sends with an answer to their finish reasons.
    """
    fitting = [word for word, reason in words.items() if (reason == "tool_calls") == has_calls]
    stops = [word for word, reason in words.items() if reason == "stop"]
    new = [NEW_WORD] if "new" in ways_of(api, FINISH_WORDS) else []
    return pick(draw, *(fitting or stops or list(words) if has_calls else [*stops[:1], *fitting, *new]))
