"""Broken adapters that get wrong what gateways add to the formats that they speak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters import ReferenceAdapters
from adapters._chat import ChatDecoder
from adapters._responses import ResponsesDecoder
from llm_conformance.contract import Call, HttpResponse, Response, ValidationError
from tests.broken.kinds import Broken, Events, Misunderstood


class Echoing(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        details = message.get("reasoning_details") or ()
        again = "".join(each.get("text") or each.get("summary") or "" for each in details)
        return super()._feed_message(
            {**message, "reasoning": (message.get("reasoning") or "") + again} if again else message
        )


class DetailsAddedToTheTrace(Misunderstood):
    apis = ("openrouter:chat",)
    fails = ("RSN-1", "RSN-2", "RSN-3")
    says = "expected the reasoning"
    decoders = MappingProxyType({ChatDecoder: Echoing})


class Glancing(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        return super()._feed_message(message if message.get("reasoning") else {**message, "reasoning_details": None})


class DetailsWithoutTextLost(Misunderstood):
    apis = ("openrouter:chat",)
    fails = ("RSN-4", "RSN-3")
    says = "expected opaque data"
    decoders = MappingProxyType({ChatDecoder: Glancing})


class Scattering(ChatDecoder):
    def _feed_message(self, message: Mapping[str, Any]) -> Events:
        self._details.in_pieces = False
        return super()._feed_message(message)


class PiecesOfDetailsSentBack(Misunderstood):
    """Streams by itself, for what goes back depends on what came in pieces."""

    apis = ("openrouter:chat",)
    fails = ("RPL-1",)
    says = "/messages/1/reasoning_details of the request"
    decoders = MappingProxyType({ChatDecoder: Scattering})
    stream = ReferenceAdapters.stream  # type: ignore[assignment]
    parse_stream = None  # type: ignore[assignment]


class Nameless(ResponsesDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        return super().feed(document) if self._answer.call.provider != "openrouter" else iter(())


class NamesOfEventsWaitedFor(Misunderstood):
    """Finds none, and gives out an empty answer when [DONE] comes."""

    apis = ("openrouter:responses",)
    fails = ("MSG-2", "RSN-1", "RSN-3", "FIN-1", "PRV-1", "STR-7", "USE-1", "USE-2", "USE-3", "USE-5")
    says = "expected the message of 10 code points"
    decoders = MappingProxyType({ResponsesDecoder: Nameless})


class Reading(Broken):
    """Parses plain answers only; `alter` puts the fault in before."""

    complete = stream = parse_stream = None  # type: ignore[assignment]

    def parse(self, http: HttpResponse, call: Call) -> Response:
        return super().parse(self.alter(http) if http.status < 400 else http, call)

    def alter(self, http: HttpResponse) -> HttpResponse:
        raise NotImplementedError


class WhiteSpaceBeforeJsonRefused(Reading):
    """An answer that does not come fails every rule that has something to look at in it."""

    apis = ("openrouter:chat",)
    fails = (
        *("MSG-1", "MSG-2", "RSN-1", "RSN-2", "RSN-3", "RSN-4", "ANN-1", "ANN-2", "ANN-3", "ANN-4", "TOOL-1", "FIN-1"),
        *("USE-1", "USE-2", "USE-3", "SHP-1", "ERR-1", "ERR-4", "PRV-1", "PRV-2", "PRV-3"),
    )
    says = "raised ValidationError: that is no JSON"

    def alter(self, http: HttpResponse) -> HttpResponse:
        if http.body[:1].isspace():
            raise ValidationError("that is no JSON", provider="gateway")
        return http


class ErrorOfAChoiceOverlooked(Reading):
    apis = ("openrouter:chat",)
    fails = ("ERR-1",)
    says = "expected ServiceUnavailableError"

    def alter(self, http: HttpResponse) -> HttpResponse:
        return (
            replace(http, body=http.body.replace(b'"error": {', b'"mishap": {')) if b'"choices"' in http.body else http
        )
