"""Broken adapters that fail PRV-1 to PRV-3 first: model, time, attempts, side effects."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from adapters.anthropic import MessagesDecoder
from llm_conformance.contract import Call, Response
from tests.broken.base import Events, FaultyClient, FaultyDecoder, FaultyResponse

# PRV-1


class ModelOfTheCall(FaultyResponse):
    """Returns the requested model instead of the one that answered."""

    fails = ("PRV-1",)
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

    fails = ("PRV-1",)
    says = "expected model"
    decoders = MappingProxyType({MessagesDecoder: FirstModel})


class TimeMadeUp(FaultyResponse):
    """Returns the current time if the provider sends none."""

    fails = ("PRV-1",)
    says = "expected created null"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, created=response.created or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


class FailedAttemptForgotten(FaultyClient):
    """Leaves the failed attempt out of `provider_meta`."""

    fails = ("PRV-1",)
    says = "expected the number of attempts in provider_meta 2; got 1"

    def complete(self, call: Call) -> Response:
        response = super().complete(call)
        return replace(response, provider_meta=response.provider_meta[-1:])


class FailedAttemptSaysNothing(FaultyClient):
    """Does not state why an attempt failed."""

    fails = ("PRV-1",)
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


class DialsOut(FaultyResponse):
    """Connects to another host."""

    fails = ("PRV-3",)
    says = r"it tried 192\.0\.2\.7:443, from .*provenance\.py"

    def alter(self, response: Response, call: Call) -> Response:
        with contextlib.suppress(OSError):
            socket.create_connection(("192.0.2.7", 443), timeout=1)
        return response


class AsksTwice(FaultyClient):
    """Sends every request twice."""

    fails = ("PRV-3", "PRV-1")
    says = "expected one request for one answer; got 2 of the same"

    def complete(self, call: Call) -> Response:
        first = super().complete(call)
        return super().complete(call) if len(first.provider_meta) == 1 else first
