"""Broken adapters that make the wrong thing of an error."""

from __future__ import annotations

from collections.abc import Iterable

from llm_conformance.contract import Call, HttpResponse, LLMError, Response, StreamEvent
from tests.broken.kinds import Broken, Events, Streamed


class ErrorGivenOutAsAnAnswer(Broken):
    fails = ("ERR-1", "STR-6")
    says = "expected .*, raised; got an answer"
    complete = stream = None  # type: ignore[assignment]

    def parse(self, http: HttpResponse, call: Call) -> Response:
        try:
            return super().parse(http, call)
        except LLMError:
            return self.sorry(call)

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        try:
            yield from super().parse_stream(chunks, call)
        except LLMError:
            yield StreamEvent("response.completed", response=self.sorry(call))

    @staticmethod
    def sorry(call: Call) -> Response:
        return Response(message="Sorry.", provider=call.provider, model=call.model, finish_reason="stop", usage=None)


class EveryErrorOfTheBaseClass(Streamed):
    fails = ("ERR-1",)
    says = "expected ServiceUnavailableError; got LLMError"

    def alter(self, events: Events) -> Events:
        try:
            yield from events
        except LLMError as error:
            raise LLMError(error.message) from error


class RawExceptionEscapes(Streamed):
    fails = ("ERR-1",)
    says = "got OSError: .*neither its class nor a status"

    def alter(self, events: Events) -> Events:
        try:
            yield from events
        except LLMError as error:
            raise OSError(str(error)) from error
