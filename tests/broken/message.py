"""Broken adapters that fail MSG-2 to MSG-4 first: part of the visible answer is lost, altered or doubled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters import _framing
from adapters._chat_decoder import ChatDecoder
from adapters._converse import ConverseDecoder
from adapters._responses import ResponsesDecoder
from adapters._think import ThinkSplitter
from adapters.anthropic import MessagesDecoder
from adapters.cloudflare_run import RunDecoder
from llm_conformance.contract import Call, HttpResponse, Response, StreamEvent
from tests.broken.base import Broken, Events, FaultyDecoder, FaultyFraming, FaultyResponse, OtherSplitter, Pieces

# MSG-2


class TrimmedMessage(FaultyResponse):
    """Strips the white space around the message."""

    fails = ("MSG-2",)
    says = "they differ|expected the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message.strip())


class TokensForText(FaultyResponse):
    """Returns the tokens of the log probabilities as the message, if the answer has them."""

    apis = ("openai:chat",)
    fails = ("MSG-2",)
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        chances = (choice.get("logprobs") for event in response.raw_events for choice in event.get("choices", ()))
        tokens = [each["token"] for found in chances if found for each in found["content"]]
        return replace(response, message="".join(tokens)) if tokens else response


class FirstTextBlockOnly(FaultyResponse):
    """Returns only the first text block."""

    fails = ("MSG-2",)
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        texts = [segment.content for segment in response.segments if segment.type == "text"]
        return replace(response, message=texts[0] if texts else "")


class EnvelopeForNoContent(FaultyResponse):
    """Returns the envelope as the message of a response without text."""

    fails = ("MSG-2",)
    says = "expected the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message or str({"id": response.id}))


class TextOnly(RunDecoder):
    def _feed_content(self, content: Any) -> Iterator[StreamEvent]:
        if isinstance(content, str):
            yield from super()._feed_content(content)


class ContentThatIsNoTextLost(FaultyDecoder):
    """Drops content that is JSON instead of text."""

    fails = ("MSG-2",)
    says = "expected the (JSON of the )?message"
    decoders = MappingProxyType({RunDecoder: TextOnly})


class OverlapsDoubleTheText(FaultyResponse):
    """Builds the message from annotated pieces, which repeats text where annotations overlap."""

    fails = ("MSG-2",)
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        message, done = "", 0
        for each in sorted(response.annotations, key=lambda each: each.start or 0):
            if each.start is not None:
                message += response.message[done : each.start] + response.message[each.start : each.end]
                done = each.end or 0
        return replace(response, message=message + response.message[done:])


class TranscriptInTheText(FaultyResponse):
    """Appends the transcript of audio to the message."""

    fails = ("MSG-2",)
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        spoken = "".join(each.transcript or "" for each in response.attachments)
        return replace(response, message=response.message + spoken)


class ReasoningOrContent(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        return super()._feed_message({**message, "content": None} if message.get("reasoning_content") else message)


class DeltaWithBothFieldsLosesOne(FaultyDecoder):
    """Drops the content of a delta that also has reasoning."""

    fails = ("MSG-2",)
    says = "expected the message of"
    decoders = MappingProxyType({ChatDecoder: ReasoningOrContent})


class ContentAsStr(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        return super()._feed_content(str(content) if self._answer.call.provider == "deepseek" else content)


class NoneTextForNullDeltas(FaultyDecoder):
    """Writes `None` into the message for a null delta."""

    fails = ("MSG-2",)
    says = "expected the message .*None"
    decoders = MappingProxyType({ChatDecoder: ContentAsStr})


class OutputReadAgain(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        yield from super()._feed_event(kind, event)
        if kind == "response.completed":
            for number, item in enumerate(event["response"]["output"]):
                if item["type"] == "message":
                    yield from self._feed_item(number, item)


class OutputOfTheLastEventAddedAgain(FaultyDecoder):
    """Adds the text of the last event to the text of the deltas."""

    fails = ("MSG-2", "ANN-4")
    says = "expected the message of"
    decoders = MappingProxyType({ResponsesDecoder: OutputReadAgain})


class ObjectShownAsPython(FaultyResponse):
    """Returns content that is an object as Python's repr."""

    fails = ("MSG-2",)
    says = "expected the JSON of the message"

    def alter(self, response: Response, call: Call) -> Response:
        content = response.raw_events[0].get("choices", [{}])[0].get("message", {}).get("content")
        return replace(response, message=str(content)) if isinstance(content, Mapping) else response


class TrueSentAsOne(FaultyResponse):
    """Writes `true` in JSON content as 1."""

    fails = ("MSG-2",)
    says = "expected the JSON of the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message.replace(": true", ": 1"))


class AnyUnicodeCase(ThinkSplitter):
    """Ignores case as `re.I` does without `re.A`, which takes the Kelvin sign for a k."""

    def feed(self, piece: str) -> Pieces:
        before = len(piece)
        yield from super().feed(re.sub("</?think>", lambda found: found[0].replace("\u212a", "k"), piece, flags=re.I))
        assert before == len(piece)


class AnyUnicodeCaseDecoder(OtherSplitter):
    splitter = AnyUnicodeCase


class TagInAnyCaseOfUnicode(FaultyDecoder):
    """Takes a tag with a Kelvin sign for a think tag. It has no `fails`: only generated texts have such a tag."""

    decoders = MappingProxyType({ChatDecoder: AnyUnicodeCaseDecoder})


class FirstPartOnly(ResponsesDecoder):
    def _feed_text(self, key: tuple[int, int], piece: str) -> Iterator[StreamEvent]:
        self._starts.setdefault(key, len(self._answer.message))
        if key[1] in (0, None):
            yield from super()._feed_text(key, piece)


class OnlyTheFirstPartOfAMessageRead(FaultyDecoder):
    """Reads only the first content part of a message item."""

    fails = ("MSG-2",)
    says = "expected"
    decoders = MappingProxyType({ResponsesDecoder: FirstPartOnly})


def as_python_splits(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for line in _framing.lines(chunks):
        parts = line.decode().splitlines()
        yield from (part.encode() for part in parts if len(parts) == 1 or (part.endswith("}") and part.startswith("{")))


class LinesEndWherePythonSaysSo(FaultyFraming):
    """Splits lines as `str.splitlines` does, and drops what is not a whole object."""

    fails = ("MSG-2", "PRV-8")
    says = "next-line-character"
    unframe = MappingProxyType({_framing.lines: as_python_splits})


class TextOfTextBlocksOnly(ConverseDecoder):
    def _feed_block(self, index: int, block: Mapping[str, Any]) -> Events:
        cited = block.get("citationsContent")
        without_text = {"citationsContent": {"citations": cited.get("citations")}} if cited else block
        return super()._feed_block(index, without_text)


class TextInsideCitationsLost(FaultyDecoder):
    """Drops text inside `citationsContent`."""

    parse, parse_stream = Broken.parse, None  # type: ignore[assignment]
    fails = ("MSG-2",)
    says = "expected the message of 74 code points"
    decoders = MappingProxyType({ConverseDecoder: TextOfTextBlocksOnly})


class SummaryAsText(MessagesDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        yield from super().feed(document)
        delta = document.get("delta") or {}
        if delta.get("type") == "compaction_delta":
            yield from self._answer.text(delta["content"], document["index"])


class SummaryTakenForText(FaultyDecoder):
    """Adds the summary of a compacted conversation to the message."""

    fails = ("MSG-2",)
    says = "expected the message of 89 code points"
    decoders = MappingProxyType({MessagesDecoder: SummaryAsText})


# MSG-3


class LiteralTagsDeleted(FaultyResponse):
    """Deletes think tags that are part of the message."""

    fails = ("MSG-3",)
    says = "times '<think' in the message; got 0 times"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=re.sub("</?think>", "", response.message))


# MSG-4


class TrimmedAlias(FaultyResponse):
    """Returns the message a second time, as `content` and without the white space around it."""

    fails = ("MSG-4",)
    says = "expected `content`, an alias of the message, of"

    def parse(self, http: HttpResponse, call: Call) -> Any:
        response = super().parse(http, call)
        return {**response.to_dict(), "content": response.message.strip()}

    def alter(self, response: Response, call: Call) -> Response:
        return response
