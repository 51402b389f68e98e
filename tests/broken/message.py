"""Broken adapters that fail MSG-2 or MSG-3 first: part of the visible answer is lost, altered or doubled."""

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
from adapters.cloudflare_run import RunDecoder
from llm_conformance.contract import Call, Response, StreamEvent
from tests.broken.base import Broken, Events, Misunderstood, Pieces, Plain, Splitting, Streamed, Unframed

# MSG-2


class TrimmedMessage(Plain):
    fails = ("MSG-2", "RSN-3", "ANN-2", "ATT-1")
    says = "they differ|expected the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message.strip())


class FirstTextBlockOnly(Plain):
    fails = ("MSG-2", "RSN-3", "ANN-1", "ANN-2", "ANN-5")
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        texts = [segment.content for segment in response.segments if segment.type == "text"]
        return replace(response, message=texts[0] if texts else "")


class EnvelopeForNoContent(Plain):
    fails = ("MSG-2", "RSN-3")
    says = "expected the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message or str({"id": response.id}))


class TextOnly(RunDecoder):
    def _feed_content(self, content: Any) -> Iterator[StreamEvent]:
        if isinstance(content, str):
            yield from super()._feed_content(content)


class ContentThatIsNoTextLost(Misunderstood):
    fails = ("MSG-2", "RSN-3", "STR-7")
    says = "expected the (JSON of the )?message"
    decoders = MappingProxyType({RunDecoder: TextOnly})


class OverlapsDoubleTheText(Plain):
    fails = ("MSG-2", "RSN-3", "ANN-2")
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        message, done = "", 0
        for each in sorted(response.annotations, key=lambda each: each.start or 0):
            if each.start is not None:
                message += response.message[done : each.start] + response.message[each.start : each.end]
                done = each.end or 0
        return replace(response, message=message + response.message[done:])


class TranscriptInTheText(Plain):
    fails = ("MSG-2", "RSN-3")
    says = "expected the message of"

    def alter(self, response: Response, call: Call) -> Response:
        spoken = "".join(each.transcript or "" for each in response.attachments)
        return replace(response, message=response.message + spoken)


class HalfDeaf(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        return super()._feed_message({**message, "content": None} if message.get("reasoning_content") else message)


class DeltaWithBothFieldsLosesOne(Misunderstood):
    fails = ("MSG-2", "RSN-3")
    says = "expected the message of"
    decoders = MappingProxyType({ChatDecoder: HalfDeaf})


class Stringly(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        return super()._feed_content(str(content) if self._answer.call.provider == "deepseek" else content)


class NoneTextForNullDeltas(Misunderstood):
    fails = ("MSG-2", "RSN-3")
    says = "expected the message .*None"
    decoders = MappingProxyType({ChatDecoder: Stringly})


class Repeating(ResponsesDecoder):
    def _feed_event(self, kind: str, event: Mapping[str, Any]) -> Events:
        yield from super()._feed_event(kind, event)
        if kind == "response.completed":
            for number, item in enumerate(event["response"]["output"]):
                if item["type"] == "message":
                    yield from self._feed_item(number, item)


class OutputOfTheLastEventAddedAgain(Misunderstood):
    fails = ("MSG-2", "RSN-3", "ANN-4")
    says = "expected the message of"
    decoders = MappingProxyType({ResponsesDecoder: Repeating})


class ObjectShownAsPython(Plain):
    fails = ("MSG-2",)
    says = "expected the JSON of the message"

    def alter(self, response: Response, call: Call) -> Response:
        content = response.raw_events[0].get("choices", [{}])[0].get("message", {}).get("content")
        return replace(response, message=str(content)) if isinstance(content, Mapping) else response


class TrueSentAsOne(Plain):
    fails = ("MSG-2",)
    says = "expected the JSON of the message"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=response.message.replace(": true", ": 1"))


class AnyCase(ThinkSplitter):
    """Ignores case as Python does without `re.A`: a Kelvin sign is a k."""

    def feed(self, piece: str) -> Pieces:
        before = len(piece)
        yield from super().feed(re.sub("</?think>", lambda found: found[0].replace("\u212a", "k"), piece, flags=re.I))
        assert before == len(piece)


class SplittingInAnyCase(Splitting):
    splitter = AnyCase


class TagInAnyCaseOfUnicode(Misunderstood):
    """Without `fails`: only generated texts have a tag with a Kelvin sign."""

    decoders = MappingProxyType({ChatDecoder: SplittingInAnyCase})


def _named(chunks: Iterable[bytes]) -> Iterator[bytes]:
    body = b"".join(chunks)
    for frame in body.split(b"\n\n"):
        if frame.startswith(b"event:") or b"response.output_text.delta" not in frame:
            yield frame + b"\n\n"


class EventLinesWanted(Streamed):
    """Takes text from those frames of responses that begin with the name of their event."""

    apis = ("bedrock:responses",)
    fails = ("MSG-2", "RSN-3", "STR-7", "PRV-1")
    says = "expected"

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        named = call.api == "responses"
        return super().parse_stream(_named(chunks) if named else chunks, call)

    def alter(self, events: Events) -> Events:
        return events


class FirstParts(ResponsesDecoder):
    def _feed_text(self, key: tuple[int, int], piece: str) -> Iterator[StreamEvent]:
        self._starts.setdefault(key, len(self._answer.message))
        if key[1] in (0, None):
            yield from super()._feed_text(key, piece)


class OnlyTheFirstPartOfAMessageRead(Misunderstood):
    fails = ("MSG-2", "RSN-3", "ANN-2")
    says = "expected"
    decoders = MappingProxyType({ResponsesDecoder: FirstParts})


class Nameless(ResponsesDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        return super().feed(document) if self._answer.call.provider != "openrouter" else iter(())


class NamesOfEventsWaitedFor(Misunderstood):
    """Finds none, and gives out an empty answer when [DONE] comes."""

    apis = ("openrouter:responses",)
    fails = ("MSG-2", "RSN-1", "RSN-3", "FIN-1", "PRV-1", "STR-7", "USE-1", "USE-2", "USE-3", "USE-5")
    says = "expected the message of 10 code points"
    decoders = MappingProxyType({ResponsesDecoder: Nameless})


class MessageFirst(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        choices = document.get("choices") or ()
        told = [{**each, self._place: each.get("message") or each.get("delta")} for each in choices]
        return super()._feed_completion({**document, "choices": told})


class MessageSoFarTakenForADelta(Misunderstood):
    fails = ("MSG-2", "MSG-1", "RSN-1", "RSN-3")
    says = "expected the message of"
    apis = ("perplexity:chat",)
    decoders = MappingProxyType({ChatDecoder: MessageFirst})


class Plaintext(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        yield from () if isinstance(content, list) else super()._feed_content(content)


class ContentThatIsAListLost(Misunderstood):
    apis = ("mistral:chat",)
    fails = ("MSG-2", "RSN-1", "RSN-3", "ANN-4", "STR-5", "STR-7")
    says = "expected the message"
    decoders = MappingProxyType({ChatDecoder: Plaintext})


class Curt(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        return super()._feed_content(content[:1] if isinstance(content, list) else content)


class FirstPartOfTheContentOnly(Misunderstood):
    apis = ("mistral:chat",)
    fails = ("MSG-2", "RSN-1", "RSN-2", "RSN-3", "ANN-4")
    says = "expected the message"
    decoders = MappingProxyType({ChatDecoder: Curt})


class Expecting(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        for choice in document.get("choices") or ():
            if "message" not in choice and "delta" not in choice:
                raise KeyError("message")
        return super()._feed_completion(document)


class ChoiceOfTheFilterTakenForMalformed(Misunderstood):
    apis = ("azure:chat",)
    fails = (
        *("MSG-2", "RSN-1", "RSN-3", "ANN-4", "TOOL-1", "FIN-1", "ERR-4", "SHP-1", "PRV-1", "PRV-2", "PRV-3"),
        *("STR-1", "STR-2", "STR-3", "STR-7", "USE-1", "USE-3", "USE-4", "USE-5"),
    )
    says = "malformed answer"
    decoders = MappingProxyType({ChatDecoder: Expecting})


def _text_of(items: Iterable[Mapping[str, Any]]) -> str:
    parts = [part for item in items if item["type"] == "message" for part in item["content"]]
    return "".join(part.get("text") or "" for part in parts)


class TextOfTheLastEventTaken(Streamed):
    apis = ("codex:responses",)
    fails = ("MSG-2", "RSN-3", "STR-1")
    says = "expected the message of"

    def alter(self, events: Events) -> Events:
        for event in events:
            whole = event.response
            last = whole.raw_events[-1] if whole and whole.raw_events else {}
            if whole and last.get("type") == "response.completed":
                event = replace(event, response=replace(whole, message=_text_of(last["response"]["output"])))
            yield event


def as_python_splits(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for line in _framing.lines(chunks):
        parts = line.decode().splitlines()
        yield from (part.encode() for part in parts if len(parts) == 1 or (part.endswith("}") and part.startswith("{")))


class LinesEndWherePythonSaysSo(Unframed):
    """Splits as `str.splitlines` does, and drops what is no whole object."""

    fails = ("MSG-2", "RSN-3", "PRV-1")
    says = "next-line-character"
    unframe = MappingProxyType({_framing.lines: as_python_splits})


class TextOfTextBlocksOnly(ConverseDecoder):
    def _feed_block(self, index: int, block: Mapping[str, Any]) -> Events:
        cited = block.get("citationsContent")
        told = {"citationsContent": {"citations": cited.get("citations")}} if cited else block
        return super()._feed_block(index, told)


class TextInsideCitationsLost(Misunderstood):
    parse, parse_stream = Broken.parse, None  # type: ignore[assignment]
    fails = ("MSG-2", "RSN-3", "ANN-2")
    says = "expected the message of 74 code points"
    decoders = MappingProxyType({ConverseDecoder: TextOfTextBlocksOnly})


# MSG-3


class LiteralTagsDeleted(Plain):
    fails = ("MSG-3", "MSG-2", "RSN-3")
    says = "times '<think' in the message; got 0 times"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, message=re.sub("</?think>", "", response.message))
