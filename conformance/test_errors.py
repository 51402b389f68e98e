"""ERR: what fails, fails as an error that a caller can act on."""

from __future__ import annotations

import json

from llm_conformance.compare import show, shown
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import always, rule
from llm_conformance.rules.violation import fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import Mode

ANY = "LLMError"
"""The error that a truth names where any class of the contract is right."""


def _said(expected: Expected, _mode: Mode) -> bool:
    return expected.error is not None and not expected.fault


def _malformed(expected: Expected, _mode: Mode) -> bool:
    return expected.fault == "malformed"


def _lost_connection(expected: Expected, _mode: Mode) -> bool:
    return expected.fault == "connection"


@rule("ERR-1", capability="errors", when=_said)
def test_an_error_is_of_its_class(exchange: Exchange) -> None:
    """An error of the provider is raised, as the contract's class of its status, and nothing raw escapes.

    Callers wait and try again after a RateLimitError, and do not after an AuthenticationError; an exception of the HTTP
    library says neither, and an answer in the place of an error is stored and shown (S3-23 to S3-32, C-12). An error
    within a 200 has the class of the status that it names, else of its type.
    """
    _expect_class(exchange)


@rule("ERR-2", capability="errors", when=_malformed)
def test_a_malformed_body_is_a_validation_error(exchange: Exchange) -> None:
    """A body that is cut short, no JSON, or of no known shape is a ValidationError, never half an answer.

    Gateways answer with HTML, with nothing, with `{}`, and with status 200; half a JSON document has lost what came
    behind (S3-26).
    """
    _expect_class(exchange)


@rule("ERR-3", capability="errors", when=_lost_connection)
def test_a_lost_connection_is_told_in_time(exchange: Exchange) -> None:
    """A time-out is a TimeoutError, a broken connection a ServiceUnavailableError, within the call's time limit.

    `call.timeout_s` is the limit, for all attempts together; a client that waits by its own default keeps its caller
    waiting (S3-25, S3-27, C-12). Two seconds more are let pass, for slow machines.
    """
    _expect_class(exchange)


@rule("ERR-4", capability="errors", when=always)
def test_errors_keep_their_facts_and_no_secret(exchange: Exchange) -> None:
    """Provider, original error and Retry-After survive, and the API key is in no message, dump, log or raw event.

    Who gets a RateLimitError wants to know when to try again. Errors and answers are logged and reported; providers
    echo keys, and HTTP libraries keep requests (S3-19, S3-22, S3-31, S4-16). An error need not name its provider, but
    no other one; behind a lost connection there is an error of somebody's.
    """
    raised, expected = exchange.outcome.raised, exchange.expected
    told = exchange.outcome.response.data if exchange.outcome.response else {}
    of_error = raised and (raised.dump, raised.headers)
    asked = exchange.outcome.request
    places = (("the response", told), ("the events", exchange.events), ("the error", of_error), ("the request", asked))
    for what, value in places:
        if CANARY_KEY in _text(value):
            fail(f"{what} without the API key", "it is there")
    if exchange.outcome.logs:
        fail("the log without the API key", f"the logger {exchange.outcome.logs[0]!r} wrote it")
    if raised is None or expected.error is None:
        return
    if raised.provider not in (None, exchange.call.provider):
        fail(f"an error of the provider {exchange.call.provider!r}", show(raised.provider))
    if expected.fault == "connection" and not raised.has_origin:
        fail("the original error, as original_error or as the cause", "none")
    if expected.retry_after and expected.retry_after not in f"{raised.dump}{raised.headers}":
        fail(f"an error that still has Retry-After, {expected.retry_after} seconds", f"{raised}")


def _text(value: object) -> str:
    """Return all that there is in a value; objects without a text, and what contains itself, PRV-2 reports."""
    try:
        return json.dumps(value, ensure_ascii=False, default=shown)
    except (RecursionError, TypeError, ValueError):
        return shown(value)


def _expect_class(exchange: Exchange) -> None:
    wanted, raised = exchange.expected.error, exchange.outcome.raised
    if raised is None:
        fail(f"{_named(wanted)}, raised", "an answer" if exchange.outcome.response else "nothing")
    if raised.contract_type is None:
        fail(_named(wanted), f"{raised}", hint="neither its class nor a status says which error of the contract it is")
    if wanted not in (ANY, raised.contract_type):
        fail(_named(wanted), f"{raised.contract_type} ({raised})")


def _named(error: str | None) -> str:
    return "an error of the contract" if error == ANY else str(error)
