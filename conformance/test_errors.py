"""ERR: a call that fails ends in an error that the caller can act on."""

from __future__ import annotations

import json

from llm_conformance.compare import show, shown
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.retry_after import is_same_wait
from llm_conformance.rules.rule import always, rule
from llm_conformance.rules.violation import fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

ANY = "LLMError"
"""The expected error where any class of the contract is right."""

_WHERE_RETRY_AFTER_IS = (
    "read are `retry_after`, `extra_context['retry_after']`, `headers` and `response.headers` of the error and of the "
    "exceptions behind it"
)


def _provider_reports_error(expected: Expected, _mode: Mode) -> bool:
    return expected.error is not None and not expected.fault


def _body_is_malformed(expected: Expected, _mode: Mode) -> bool:
    return expected.fault == "malformed"


def _connection_is_lost(expected: Expected, _mode: Mode) -> bool:
    return expected.fault == "connection"


@rule("ERR-1", harm="wrong", capability="errors", when=_provider_reports_error)
def test_provider_error_has_its_class(exchange: Exchange) -> None:
    """An error of the provider is raised as the contract's class for its status; no other exception escapes.

    Callers retry after a RateLimitError, and not after an AuthenticationError. An exception of the HTTP library tells
    them neither, and an error returned as an answer is stored and shown. An error in a response with status 200 has the
    class of the status that it names, or else of its type or code. If it names none, any class is right.

    Source: S3-23, S3-24, S3-25, S3-26, S3-27, S3-28, S3-29, S3-30, S3-31, S3-32, C-12.
    """
    _expect_class(exchange)


@rule("ERR-2", harm="false success", capability="errors", when=_body_is_malformed)
def test_malformed_body_is_a_validation_error(exchange: Exchange) -> None:
    """A body that is truncated, not JSON, or of unknown shape raises a ValidationError and is never half an answer.

    Gateways respond with HTML, with an empty body or with `{}`, also with status 200. A truncated JSON document has
    lost the rest of the answer.

    Source: S3-26.
    """
    _expect_class(exchange)


@rule("ERR-3", harm="wrong", capability="errors", when=_connection_is_lost)
def test_lost_connection_is_reported_in_time(exchange: Exchange) -> None:
    """A timeout is a TimeoutError and a broken connection a ServiceUnavailableError, within the call's time limit.

    The limit is `call.timeout_s` seconds, for all attempts together. A client that waits for its own default timeout
    keeps its caller waiting. The suite allows two seconds more, for slow machines.

    Source: S3-25, S3-27, C-12.
    """
    _expect_class(exchange)


@rule("ERR-4", harm="unsafe", capability="errors", when=always)
def test_errors_keep_their_facts_and_no_secret(exchange: Exchange) -> None:
    """Provider, original error and Retry-After survive, and the API key is in no message, dump, log or raw event.

    A caller who catches a RateLimitError needs to know when to retry. Errors and answers are logged and reported, while
    providers echo keys and HTTP libraries keep requests. A key that the provider has masked is no leak. A whole one is,
    also if the provider's own text has it; no provider is known to send that, so only probes do. An error may leave out
    its provider, but not name another. A lost connection has an exception of the HTTP library behind it. `Retry-After`
    is read from fields and headers of the error and of the exceptions behind it, as a value: 41 and 41.0 are the same.

    Source: S3-19, S3-22, S3-31, S4-16.
    """
    raised, expected = exchange.outcome.raised, exchange.expected
    places = {
        "the response": exchange.outcome.response.data if exchange.outcome.response else {},
        "the events": exchange.events,
        "the error": raised and (raised.dump, raised.headers),
        "the request": exchange.outcome.request,
    }
    for place, value in places.items():
        if CANARY_KEY in _text(value):
            fail(f"{place} without the API key", "one that contains it")
    if exchange.outcome.logs:
        fail("the log without the API key", f"the logger {exchange.outcome.logs[0]!r} wrote it")
    if raised is None or expected.error is None:
        return
    if raised.provider not in (None, exchange.call.provider):
        fail(f"an error of the provider {exchange.call.provider!r}", show(raised.provider))
    if expected.fault == "connection" and not raised.has_origin:
        fail("the original exception, as `original_error` or `__cause__`", "none")
    if expected.retry_after and not is_same_wait(raised.retry_after, expected.retry_after):
        fail(
            f"an error with `retry_after` or a Retry-After header of {expected.retry_after} seconds",
            f"{raised} without one" if raised.retry_after is None else show(raised.retry_after),
            hint=_WHERE_RETRY_AFTER_IS if raised.retry_after is None else "",
        )


def _text(value: object) -> str:
    """Return everything in a value as text. Values that JSON cannot hold are PRV-2's concern."""
    try:
        return json.dumps(value, ensure_ascii=False, default=shown)
    except (RecursionError, TypeError, ValueError):
        return shown(value)


def _expect_class(exchange: Exchange) -> None:
    error, raised = exchange.expected.error, exchange.outcome.raised
    exchange.expect_no_fault("an error of the contract" if error == ANY else f"{error} to be raised")
    expected = "an error of the contract" if error == ANY else str(error)
    if raised is None:
        fail(f"{expected} to be raised", "an answer" if exchange.outcome.response else "nothing")
    if raised.contract_type is None:
        hint = "neither its class nor a status attribute maps it to an error of the contract"
        fail(expected, f"{raised}", hint=hint, cause=raised.cause, traceback=raised.traceback)
    if error not in (ANY, raised.contract_type):
        cause = f"expected {expected}; got {raised.contract_type}"
        fail(expected, f"{raised.contract_type} ({raised})", cause=cause)
