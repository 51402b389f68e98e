"""Broken adapters that fail PRV-1 to PRV-12 first: ids, model, time, raw events, attempts, side effects."""

from __future__ import annotations

import contextlib
import socket
import uuid
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters.anthropic import MessagesDecoder
from llm_conformance.contract import Call, Response
from tests.broken.base import Events, FaultyClient, FaultyDecoder, FaultyEvents, FaultyResponse

# PRV-1


class IdOfTheCall(FaultyResponse):
    """Returns an id of its own instead of the provider's."""

    fails = ("PRV-1",)
    says = "expected id .*; got .llm-conformance/"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, id=call.correlation_id)


class NewIdForEachStream(FaultyEvents):
    """Makes up an id, another one for each answer. That is no fault of how the bytes are cut, so STR-4 passes."""

    fails = ("PRV-1",)
    says = "expected id"

    def alter(self, events: Events) -> Events:
        for event in events:
            whole = event.response
            yield event if whole is None else replace(event, response=replace(whole, id=str(uuid.uuid4())))


# PRV-4


class ModelOfTheCall(FaultyResponse):
    """Returns the requested model instead of the one that answered."""

    fails = ("PRV-4",)
    says = "expected model"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, model=call.model)


class FirstModel(MessagesDecoder):
    def feed(self, document: Mapping[str, Any]) -> Events:
        first = self._answer.model
        yield from super().feed(document)
        if document["type"] != "message_start":
            self._answer.model = first


class ModelThatDeclined(FaultyDecoder):
    """Returns the model of message_start, although another one has answered."""

    fails = ("PRV-4",)
    says = "expected model"
    decoders = MappingProxyType({MessagesDecoder: FirstModel})


# PRV-5


class ProviderOfTheFormat(FaultyResponse):
    """Names OpenAI as the provider of every answer in OpenAI's format."""

    apis = ("deepseek:chat",)
    fails = ("PRV-5",)
    says = 'expected provider "deepseek"; got "openai"'

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, provider="openai")


# PRV-6


class TimeMadeUp(FaultyResponse):
    """Returns a time of its own if the provider sends none."""

    fails = ("PRV-6",)
    says = "expected created null"

    def alter(self, response: Response, call: Call) -> Response:
        # A fixed time, so that the example of this failure is the same in every run.
        return replace(response, created=response.created or "2026-11-22T12:00:00Z")


# PRV-7


class RequestIdOfTheCall(FaultyResponse):
    """Returns the correlation id of the call as the request id."""

    fails = ("PRV-7",)
    says = "expected request_id .*; got .llm-conformance/"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, request_id=call.correlation_id)


# PRV-8


class LastRawEventLost(FaultyResponse):
    """Leaves the last frame out of `raw_events`."""

    fails = ("PRV-8",)
    says = "expected the raw events"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, raw_events=response.raw_events[:-1])


# PRV-9


class FailedAttemptForgotten(FaultyClient):
    """Leaves the failed attempt out of `provider_meta`."""

    fails = ("PRV-9",)
    says = "expected the number of attempts in provider_meta 2; got 1"

    def complete(self, call: Call) -> Response:
        response = super().complete(call)
        return replace(response, provider_meta=response.provider_meta[-1:])


# PRV-10


class FailedAttemptSaysNothing(FaultyClient):
    """Does not state why an attempt failed."""

    fails = ("PRV-10",)
    says = "expected extra of attempt 0 to say why it failed"

    def complete(self, call: Call) -> Response:
        response = super().complete(call)
        return replace(response, provider_meta=tuple(replace(each, extra={}) for each in response.provider_meta))


# PRV-2


class ForeignObjectInACorner(FaultyResponse):
    """Puts an object that is not JSON into `extras`."""

    fails = ("PRV-2",)
    says = "to be JSON-serialisable"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, extras={"sdk": {"client": object()}})


# PRV-3


class MessagesMutated(FaultyResponse):
    """Changes the messages of the call."""

    fails = ("PRV-3",)
    says = "changed: messages"

    def alter(self, response: Response, call: Call) -> Response:
        written = next(message for message in call.messages if isinstance(message, dict))  # others are responses
        written["content"] = "something else"
        return response


# PRV-11


class DialsOut(FaultyResponse):
    """Connects to another host."""

    fails = ("PRV-11",)
    says = r"it tried 192\.0\.2\.7:443, from .*provenance\.py"

    def alter(self, response: Response, call: Call) -> Response:
        with contextlib.suppress(OSError):
            socket.create_connection(("192.0.2.7", 443), timeout=1)
        return response


# PRV-12


class AsksTwice(FaultyClient):
    """Sends every request twice."""

    fails = ("PRV-12", "PRV-9")
    says = "expected one request for one answer; got 2 of the same"

    def complete(self, call: Call) -> Response:
        first = super().complete(call)
        return super().complete(call) if len(first.provider_meta) == 1 else first
