"""Broken adapters that fail MSG-2 first, with one provider: part of the visible answer is lost, altered or doubled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat_decoder import ChatDecoder
from adapters._responses import ResponsesDecoder
from llm_conformance.contract import Call
from tests.broken.base import Events, FaultyDecoder, FaultyEvents

# MSG-2


def _named(chunks: Iterable[bytes]) -> Iterator[bytes]:
    body = b"".join(chunks)
    for frame in body.split(b"\n\n"):
        if frame.startswith(b"event:") or b"response.output_text.delta" not in frame:
            yield frame + b"\n\n"


class EventLinesWanted(FaultyEvents):
    """Ignores text deltas without an `event:` line."""

    apis = ("bedrock:responses",)
    fails = ("MSG-2", "STR-7", "PRV-8")
    says = "expected"

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        named = call.api == "responses"
        return super().parse_stream(_named(chunks) if named else chunks, call)

    def alter(self, events: Events) -> Events:
        return events


class WithoutEvents(ResponsesDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        return super().feed(document) if self._answer.call.provider != "openrouter" else iter(())


class NamesOfEventsWaitedFor(FaultyDecoder):
    """Ignores all events without an `event:` line, and returns an empty response at [DONE]."""

    apis = ("openrouter:responses",)
    fails = ("MSG-2", "RSN-1", "USE-3", "FIN-1", "FIN-2", "ERR-1", "PRV-1", "PRV-8")
    says = "expected the message of 10 code points"
    decoders = MappingProxyType({ResponsesDecoder: WithoutEvents})


class MessageBeforeDelta(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        choices = document.get("choices") or ()
        changed = [{**each, self._place: each.get("message") or each.get("delta")} for each in choices]
        return super()._feed_completion({**document, "choices": changed})


class MessageSoFarTakenForADelta(FaultyDecoder):
    """Takes the message so far, which each chunk repeats, for a delta."""

    fails = ("MSG-2", "MSG-1", "RSN-1")
    says = "expected the message of"
    apis = ("perplexity:chat",)
    decoders = MappingProxyType({ChatDecoder: MessageBeforeDelta})


class WithoutLists(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        yield from () if isinstance(content, list) else super()._feed_content(content)


class ContentThatIsAListLost(FaultyDecoder):
    """Drops content that is a list of parts."""

    apis = ("mistral:chat",)
    fails = ("MSG-2", "RSN-1", "RSN-4", "ANN-4", "STR-5")
    says = "expected the message"
    decoders = MappingProxyType({ChatDecoder: WithoutLists})


class FirstOfAList(ChatDecoder):
    def _feed_content(self, content: Any) -> Events:
        return super()._feed_content(content[:1] if isinstance(content, list) else content)


class FirstPartOfTheContentOnly(FaultyDecoder):
    """Reads only the first part of content that is a list."""

    apis = ("mistral:chat",)
    fails = ("MSG-2", "RSN-1")
    says = "expected the message"
    decoders = MappingProxyType({ChatDecoder: FirstOfAList})


def _text_of(items: Iterable[Mapping[str, Any]]) -> str:
    parts = [part for item in items if item["type"] == "message" for part in item["content"]]
    return "".join(part.get("text") or "" for part in parts)


class TextOfTheLastEventTaken(FaultyEvents):
    """Takes the message from the last event, although Codex sends an empty output in it."""

    apis = ("codex:responses",)
    fails = ("MSG-2", "STR-1")
    says = "expected the message of"

    def alter(self, events: Events) -> Events:
        for event in events:
            whole = event.response
            last = whole.raw_events[-1] if whole and whole.raw_events else {}
            if whole and last.get("type") == "response.completed":
                event = replace(event, response=replace(whole, message=_text_of(last["response"]["output"])))
            yield event
