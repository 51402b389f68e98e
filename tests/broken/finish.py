"""Broken adapters that fail FIN-1 or FIN-2 first: finish reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters._chat_decoder import ChatDecoder
from adapters._generate import NUMBERS, GenerateDecoder
from llm_conformance.contract import Call, Response
from tests.broken.base import Events, FaultyDecoder, FaultyResponse

# FIN-1


class UnknownFinishIsStop(FaultyResponse):
    """Maps an unknown finish reason to `stop`."""

    fails = ("FIN-1",)
    says = 'expected finish_reason null; got "stop"'

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, finish_reason=response.finish_reason or "stop")


class IncompleteIsAStop(FaultyResponse):
    """Maps an incomplete response to `stop`."""

    fails = ("FIN-1",)
    says = "expected finish_reason .length"

    def alter(self, response: Response, call: Call) -> Response:
        cut_off = response.raw_finish_reason in ("max_output_tokens", "content_filter") and call.api == "responses"
        return replace(response, finish_reason="stop") if cut_off else response


class QueuedIsAStop(FaultyResponse):
    """Maps a response that is still queued to `stop`."""

    apis = ("openai:responses",)
    fails = ("FIN-1",)
    says = 'expected finish_reason null; got "stop"'

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, finish_reason="stop") if response.raw_finish_reason == "queued" else response


class RefusalTakenForAnAnswer(FaultyResponse):
    """Maps a refusal to `stop`."""

    fails = ("FIN-1",)
    says = "expected finish_reason .content_filter"

    def alter(self, response: Response, call: Call) -> Response:
        refused = any(each.metadata.get("kind") == "refusal" for each in response.segments)
        return replace(response, finish_reason="stop") if refused else response


class OtherNumbers(GenerateDecoder):
    def __init__(self, call: Call, **_numbers: Any) -> None:
        super().__init__(call, {**NUMBERS, **dict.fromkeys(("7", "8", "9"), "content_filter"), "10": "error"})


class NumbersOfTheOtherEnum(FaultyDecoder):
    """Maps the numeric finish reasons of Vertex AI as if they were the Gemini API's."""

    apis = ("vertex:generate",)
    fails = ("FIN-1",)
    says = 'expected finish_reason "content_filter"; got "error"'
    decoders = MappingProxyType({GenerateDecoder: OtherNumbers})


class StopReasonRead(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        yield from super()._feed_completion(document)
        for choice in document.get("choices") or ():
            stopped_at = choice.get("stop_reason")
            self._answer.raw_finish = self._answer.raw_finish if stopped_at is None else str(stopped_at)


class StopReasonTakenForTheFinishWord(FaultyDecoder):
    """Takes the stop sequence in `stop_reason` for the finish reason."""

    apis = ("crusoe:chat",)
    fails = ("FIN-1", "FIN-2")
    says = "expected (raw_)?finish_reason"
    decoders = MappingProxyType({ChatDecoder: StopReasonRead})


class FinishFromTheFilter(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        yield from super()._feed_completion(document)
        for choice in document.get("choices") or ():
            if "content_filter_offsets" in choice:
                self._answer.raw_finish = choice["finish_reason"]


class FinishTakenBackByTheFilter(FaultyDecoder):
    """Lets Azure's late content filter chunk reset the finish reason."""

    apis = ("azure:chat",)
    fails = ("FIN-1", "FIN-2")
    says = "expected finish_reason"
    decoders = MappingProxyType({ChatDecoder: FinishFromTheFilter})


# FIN-2


class CanonicalWordTakenForTheRawOne(FaultyResponse):
    """Returns the canonical finish reason as the provider's word."""

    fails = ("FIN-2",)
    says = "expected raw_finish_reason .end_turn.; got .stop."

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, raw_finish_reason=response.finish_reason)
