"""ERR: a call that fails ends in an error that the caller can act on."""

from __future__ import annotations

import json

from llm_conformance.compare import show, shown
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.rules.errors import is_same_wait
from llm_conformance.rules.exchange import UNMAPPED, Exchange
from llm_conformance.rules.outcome import Raised
from llm_conformance.rules.rule import always, class_of_error, in_error, no_error, rule
from llm_conformance.rules.violation import Blocked, Vacuous, fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

ANY = "LLMError"
"""The expected error of a call for which every class of the contract is right."""

_TRY_AGAIN = ("ServiceUnavailableError", "TimeoutError")

_WHERE_RETRY_AFTER_IS = (
    "read are `retry_after`, `extra_context['retry_after']`, `headers` and `response.headers` of the error and of the "
    "exceptions behind it"
)


def _provider_reports_error(expected: Expected, _mode: Mode) -> bool:
    return expected.error is not None and not expected.fault


def _body_is_spoilt(expected: Expected, _mode: Mode) -> bool:
    return expected.fault in ("malformed", "incomplete")


def _connection_is_lost(expected: Expected, _mode: Mode) -> bool:
    return expected.fault == "connection"


def _misleads(exchange: Exchange) -> bool:
    """Return True if the adapter ends the process, or if its error tells the caller anything but to try again."""
    raised = exchange.outcome.raised
    ends_the_process = raised is not None and raised.type == SystemExit.__name__
    return ends_the_process or (class_of_error(exchange) and _raised(exchange).contract_type not in _TRY_AGAIN)


def _an_error_is_expected(expected: Expected, _mode: Mode) -> bool:
    return expected.error is not None


def _names_a_wait(expected: Expected, _mode: Mode) -> bool:
    return expected.error is not None and bool(expected.retry_after)


@rule("ERR-1", harm="wrong", capability="errors", shown=class_of_error, when=_provider_reports_error)
def test_provider_error_has_its_class(exchange: Exchange) -> None:
    """If the provider sends an error, the adapter raises the error class for its status, and no other exception.

    The caller retries where a retry cannot help, or gives up where a retry would help. Callers can tell a
    RateLimitError from an AuthenticationError, but they do not know the exceptions of the HTTP library. If a response
    with status 200 holds an error, the class follows from the status that the error names, or else from its type or
    code. If the error names none of these, any class is right. Cloudflare sends 522 or 524 if the server took too long;
    a TimeoutError is right for these, too. ERR-8 and STR-6 report a call that raises no error.

    Source: S3-23, S3-24, S3-25, S3-26, S3-27, S3-28, S3-29, S3-30, S3-31, S3-32, C-12.
    """
    _expect_class(exchange)


@rule("ERR-2", harm="wrong", capability="unreadable_bodies", shown=_misleads, when=_body_is_spoilt)
def test_malformed_body_is_a_validation_error(exchange: Exchange) -> None:
    """A truncated, unreadable or unknown body raises a ValidationError; a stream that ends too early raises any error.

    The caller cannot tell an unreadable answer from a mistake in its own code. Gateways respond with HTML, with an
    empty body or with `{}`, sometimes with status 200. A truncated JSON document has lost the rest of the answer. "Any
    error" is any class of the contract. ERR-8, STR-6 and STR-9 report an adapter that returns half an answer.

    Source: S3-26.
    """
    _expect_class(exchange, hint=_handed_on("unreadable_bodies"))


@rule("ERR-3", harm="wrong", capability="lost_connections", shown=_misleads, when=_connection_is_lost)
def test_lost_connection_is_reported_in_time(exchange: Exchange) -> None:
    """A timeout is a TimeoutError and a broken connection a ServiceUnavailableError, within the call's time limit.

    The caller waits longer than it has allowed, or cannot tell a lost connection from another failure. The limit is
    `call.timeout_s` seconds, for all attempts together. The suite allows two seconds more, for slow machines. ERR-8 and
    STR-6 report a call that raises no error.

    Source: S3-25, S3-27, C-12.
    """
    _expect_class(exchange, hint=_handed_on("lost_connections"))


@rule("ERR-4", harm="unsafe", when=always)
def test_the_key_is_nowhere(exchange: Exchange) -> None:
    """The API key is in no response, stream event, error, request body or log.

    The key is stored and sent on with answers, error reports and logs. Providers echo keys, and HTTP libraries keep
    requests with their headers. A key that the provider has masked is no leak. A whole key is a leak, even if the
    adapter only repeats the provider's text. No provider is known to send a whole key, so only probes contain one.

    Source: S3-22, S4-16.
    """
    raised = exchange.outcome.raised
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
        fail("the log without the API key", exchange.outcome.logs[0])


@rule(
    "ERR-5",
    harm="untraceable",
    capability="error_details",
    shown=in_error("provider"),
    when=_an_error_is_expected,
)
def test_error_names_no_other_provider(exchange: Exchange) -> None:
    """An error that names a provider names the one of the call.

    People look for the cause at the wrong provider. An error need not name a provider. If it does, the name of an API
    may follow after a colon (`openai:responses`).

    Source: S3-19.
    """
    provider = _raised(exchange).provider
    if provider is not None and provider.partition(":")[0] != exchange.call.provider:
        fail(f"an error of the provider {exchange.call.provider!r}", show(provider))


@rule("ERR-6", harm="untraceable", capability="error_details", when=_connection_is_lost)
def test_lost_connection_keeps_its_origin(exchange: Exchange) -> None:
    """The error for a lost connection keeps the exception of the HTTP library.

    Nobody can tell whether DNS, a certificate, a proxy or the provider was the cause. The exception is `original_error`
    or `__cause__` of the error, or the error itself.

    Source: S3-19, S3-31.
    """
    if not _raised(exchange).has_origin:
        fail("the original exception, as `original_error` or `__cause__`", "none")


@rule(
    "ERR-7",
    harm="untraceable",
    capability="error_details",
    shown=in_error("retry_after"),
    when=_names_a_wait,
)
def test_retry_after_is_kept(exchange: Exchange) -> None:
    """An error keeps the `Retry-After` of the response, as a field or with the headers.

    The caller retries too early and is refused again. The suite looks for the value in fields and headers of the error
    and of the exceptions behind it. Numbers are compared as numbers: 41 and 41.0 are the same.

    Source: S3-24.
    """
    raised, expected = _raised(exchange), exchange.expected.retry_after
    if expected and not is_same_wait(raised.retry_after, expected):
        fail(
            f"an error with `retry_after` or a Retry-After header of {expected} seconds",
            f"{raised} without one" if raised.retry_after is None else show(raised.retry_after),
            hint=_WHERE_RETRY_AFTER_IS if raised.retry_after is None else "",
        )


@rule("ERR-8", harm="false success", capability="errors", shown=no_error, when=_an_error_is_expected)
def test_failed_call_is_no_answer(exchange: Exchange) -> None:
    """A call that fails raises an error and gives no answer.

    An error text, the page of a gateway or half an answer is stored, shown and billed as the answer. STR-6 and STR-9
    demand the same of streams.

    Source: S3-26, S3-32.
    """
    if exchange.outcome.fault is not None:
        raise Blocked(f"the call failed: {exchange.outcome.fault}")
    if exchange.judged_as_stream or (exchange.streamed and exchange.expected.fault == "incomplete"):
        raise Vacuous("STR-6 and STR-9 judge how a stream ends")
    if exchange.outcome.raised is None:
        fail("an error to be raised", "an answer" if exchange.outcome.response else "nothing")


def _raised(exchange: Exchange) -> Raised:
    """Return the error that was raised. Raises Blocked if there was none, or Vacuous if there need not be one."""
    if exchange.outcome.raised is not None:
        return exchange.outcome.raised
    if exchange.callers_notice_the_end:
        raise Vacuous("no error was raised, and the adapter does not declare `incomplete_streams`")
    raise Blocked("no error was raised; ERR-8, STR-6 or STR-9 reports that")


def _text(value: object) -> str:
    """Return everything in a value as text, to search it. PRV-2 reports values that JSON cannot hold."""
    try:
        return json.dumps(value, ensure_ascii=False, default=shown)
    except (RecursionError, TypeError, ValueError):
        return shown(value)


def _handed_on(capability: str) -> str:
    return f"{UNMAPPED}; if they are to catch what its client raises, do not declare `{capability}`"


def _expect_class(exchange: Exchange, hint: str = UNMAPPED) -> None:
    error = exchange.expected.error
    exchange.expect_no_fault("an error of the contract" if error == ANY else f"{error} to be raised")
    expected = "an error of the contract" if error == ANY else str(error)
    raised = _raised(exchange)
    if raised.contract_type is None:
        fail(expected, f"{raised}", hint=hint, cause=raised.cause, traceback=raised.traceback)
    if error not in (ANY, raised.contract_type) and raised.contract_type not in exchange.expected.may_raise:
        cause = f"expected {expected}; got {raised.contract_type}"
        fail(expected, f"{raised.contract_type} ({raised})", cause=cause)
