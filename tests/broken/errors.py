"""Broken adapters that fail ERR-1 to ERR-8 first: errors, retries and what they disclose."""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters import _framing
from adapters._chat_decoder import ChatDecoder
from llm_conformance.contract import (
    Call,
    HttpResponse,
    LLMError,
    Response,
    ServiceUnavailableError,
    StreamEvent,
    TimeoutError,
    ValidationError,
)
from tests.broken.base import (
    Broken,
    Events,
    FaultyBody,
    FaultyClient,
    FaultyDecoder,
    FaultyEvents,
    FaultyFraming,
    FaultyResponse,
)

# ERR-1, ERR-8


class ErrorGivenOutAsAnAnswer(Broken):
    """Returns an apology instead of raising an error."""

    fails = ("ERR-8", "STR-6", "STR-9")
    says = "expected an error to be raised; got an answer"
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


class EveryErrorOfTheBaseClass(FaultyEvents):
    """Raises LLMError itself for every error."""

    fails = ("ERR-1", "ERR-2")
    says = "expected ServiceUnavailableError; got LLMError"

    def alter(self, events: Events) -> Events:
        try:
            yield from events
        except LLMError as error:
            raise LLMError(error.message) from error


class RawExceptionEscapes(FaultyEvents):
    """Raises OSError instead of an error of the contract."""

    fails = ("ERR-1", "ERR-2")
    says = "got OSError: .*neither its class nor a status.*in the adapter's `errors`"

    def alter(self, events: Events) -> Events:
        try:
            yield from events
        except LLMError as error:
            raise OSError(str(error)) from error


class WithoutBaseResp(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        if not document.get("base_resp"):
            return super()._feed_completion(document)
        return super()._feed_completion({**document, "base_resp": None, "choices": document.get("choices") or []})


class StatusInsideA200Overlooked(FaultyDecoder):
    """Ignores MiniMax's `base_resp`, which reports an error in a 200."""

    apis = ("minimax:chat",)
    fails = ("ERR-1",)
    says = "expected RateLimitError"
    decoders = MappingProxyType({ChatDecoder: WithoutBaseResp})


class WithoutStatusCode(ChatDecoder):
    def _feed_completion(self, document: Mapping[str, Any]) -> Events:
        return super()._feed_completion({**document, "status_code": None})


class StatusBesideTheErrorOverlooked(FaultyDecoder):
    """Ignores the status that Cerebras sends beside the error object of a stream."""

    apis = ("cerebras:chat",)
    fails = ("ERR-1",)
    says = "expected RateLimitError"
    decoders = MappingProxyType({ChatDecoder: WithoutStatusCode})


class ErrorOfAChoiceOverlooked(FaultyBody):
    """Ignores an error inside a choice."""

    apis = ("openrouter:chat",)
    fails = ("ERR-8",)
    says = "expected an error to be raised; got an answer"

    def alter(self, http: HttpResponse) -> HttpResponse:
        renamed = re.sub(rb'"error": ?\{', b'"mishap": {', http.body)
        return replace(http, body=renamed) if b'"choices"' in http.body else http


def without_exceptions(chunks: Iterable[bytes]) -> Iterator[str | bytes]:
    for document in _framing.aws_messages(chunks):
        if not next(iter(json.loads(document)), "").endswith("Exception"):
            yield document


class ExceptionsAmongTheMessagesIgnored(FaultyFraming):
    """Skips the exceptions in an AWS event stream."""

    fails = ("ERR-1",)
    says = "expected RateLimitError|expected TimeoutError"
    unframe = MappingProxyType({_framing.aws_messages: without_exceptions})


# ERR-2, ERR-8


class FaultyParsing(FaultyResponse):
    """Puts the fault into `parse` itself."""

    def alter(self, response: Response, call: Call) -> Response:
        return response


class MalformedBodyEscapes(FaultyParsing):
    """Lets the JSONDecodeError of a malformed body escape."""

    fails = ("ERR-2",)
    says = "expected ValidationError; got JSONDecodeError"

    def parse(self, http: HttpResponse, call: Call) -> Response:
        if http.status < 400:
            json.loads(http.body)
        return super().parse(http, call)


class HalfABodyIsAnAnswer(FaultyParsing):
    """Returns a response for a malformed body."""

    fails = ("ERR-8",)
    says = "expected an error to be raised; got an answer"

    def parse(self, http: HttpResponse, call: Call) -> Response:
        try:
            return super().parse(http, call)
        except ValidationError:
            return ErrorGivenOutAsAnAnswer.sorry(call)


# ERR-3


class TransportErrorEscapes(FaultyClient):
    """Raises OSError when the connection is lost."""

    fails = ("ERR-3",)
    says = "got OSError"

    def complete(self, call: Call) -> Response:
        try:
            return super().complete(call)
        except (TimeoutError, ServiceUnavailableError) as error:
            if error.original_error is None:
                raise
            raise OSError("the connection was lost") from error.original_error


class TimeOutTakenForABrokenConnection(FaultyClient):
    """Raises ServiceUnavailableError for a timeout."""

    fails = ("ERR-3",)
    says = "expected TimeoutError; got ServiceUnavailableError"

    def complete(self, call: Call) -> Response:
        try:
            return super().complete(call)
        except TimeoutError as error:
            if error.original_error is None:
                raise
            raise ServiceUnavailableError(error.message, original_error=error.original_error) from error


class WaitsAnewForEachAttempt(FaultyClient):
    """Retries after each timeout with the whole time limit again."""

    fails = ("ERR-3",)
    says = "did not come back within"

    def complete(self, call: Call) -> Response:
        for _ in range(3):
            with contextlib.suppress(TimeoutError):
                return super().complete(call)
        return super().complete(call)


# ERR-4


class KeyEchoed(FaultyParsing):
    """Puts the response body, which repeats the API key, into the error."""

    fails = ("ERR-4",)
    says = "expected the error without the API key"

    def parse(self, http: HttpResponse, call: Call) -> Response:
        try:
            return super().parse(http, call)
        except LLMError as error:
            raise type(error)(http.body.decode(), extra_context=error.extra_context) from None


class KeyNoted(FaultyParsing):
    """Adds a note with the API key, which tracebacks show, to a cause of the error."""

    fails = ("ERR-4",)
    says = "expected the error without the API key"

    def parse(self, http: HttpResponse, call: Call) -> Response:
        try:
            return super().parse(http, call)
        except LLMError as error:
            origin = OSError("refused")
            origin.add_note(f"asked with {call.api_key}")
            error.__cause__ = ValueError("no answer")
            error.__cause__.__cause__ = origin
            raise


class KeyLogged(FaultyResponse):
    """Logs the API key."""

    fails = ("ERR-4",)
    says = "expected the log without the API key; got the logger 'mine' wrote it"

    def alter(self, response: Response, call: Call) -> Response:
        logging.getLogger("mine").warning("asked with %s", {"authorization": f"Bearer {call.api_key}"})
        return response


class RequestKeptWithItsHeaders(FaultyResponse):
    """Keeps the request headers, with the API key, in the response."""

    fails = ("ERR-4",)
    says = "expected the response without the API key"

    def alter(self, response: Response, call: Call) -> Response:
        return replace(response, extras={"sent": {"authorization": f"Bearer {call.api_key}"}})


# ERR-5


class ErrorOfAnotherProvider(FaultyParsing):
    """Names the wrong provider in the error."""

    fails = ("ERR-5",)
    says = "expected an error of the provider"

    def parse(self, http: HttpResponse, call: Call) -> Response:
        try:
            return super().parse(http, call)
        except LLMError as error:
            raise type(error)(error.message, provider="somebody", extra_context=error.extra_context) from None


# ERR-6


class OriginOfALostConnectionDropped(FaultyClient):
    """Drops the exception of the HTTP library behind an error."""

    fails = ("ERR-6",)
    says = "expected the original exception"

    def complete(self, call: Call) -> Response:
        try:
            return super().complete(call)
        except LLMError as error:
            alone = type(error)(error.message, provider=error.provider, extra_context=error.extra_context)
        raise alone


# ERR-7


class RetryAfterLost(FaultyParsing):
    """Drops Retry-After from the error."""

    fails = ("ERR-7",)
    says = "expected an error with `retry_after` or a Retry-After header"

    def parse(self, http: HttpResponse, call: Call) -> Response:
        try:
            return super().parse(http, call)
        except LLMError as error:
            poorer = type(error)(error.message, provider=call.provider)
        raise poorer


class RetryAfterInTheMessageOnly(FaultyParsing):
    """Writes Retry-After into the text of the error, where no caller can read it."""

    fails = ("ERR-7",)
    says = "expected an error with `retry_after` or a Retry-After header"

    def parse(self, http: HttpResponse, call: Call) -> Response:
        try:
            return super().parse(http, call)
        except LLMError as error:
            wait = error.extra_context.get("retry_after")
            poorer = type(error)(f"{error.message}; retry after {wait}", provider=call.provider)
        raise poorer
