"""Errors of the provider or of a gateway, with an error status or in a response with status 200."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from hypothesis.strategies import DrawFn

from llm_conformance.contract import TimeoutError, error_for_status
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.formats.errors import error_body
from llm_conformance.formats.gateways import GATEWAYS, LISTED, Gateway
from llm_conformance.generate.answers import Answer
from llm_conformance.generate.chance import either, pick
from llm_conformance.themes.conversation import JSON, Conversation, answered, interaction
from llm_conformance.themes.failing import class_meant, failure, values
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.errors import StatusError

RETRY_AFTER = "86397"
"""A number of seconds that occurs nowhere else."""

_OUTAGES = (500, 502, 503, 529)
_MASKED = f"Incorrect API key provided: {CANARY_KEY[:8]}***{CANARY_KEY[-4:]}"


def every_status(api: Api, mode: Mode) -> Iterator[Conversation]:
    """Yield each error of the API, and each status with which gateways answer."""
    for error in _own(api, mode):
        yield _provider_error(api, mode, error, "it cannot be done", says_when=error.retry_after)
    for gateway in LISTED:
        yield _gateway_error(api, mode, gateway, says_when=False)


def refused(draw: DrawFn, api: Api, mode: Mode) -> Conversation:
    """Draw an error of the provider or of a gateway."""
    own = _own(api, mode)
    if own and pick(draw, True, True, False):
        error = pick(draw, *own)
        message = pick(draw, "it cannot be done", _MASKED) if error.status == 401 else "it cannot be done"
        return _provider_error(api, mode, error, message, says_when=error.retry_after and either(draw))
    gateway = pick(draw, *GATEWAYS)
    return _gateway_error(api, mode, gateway, says_when=gateway.may_say_when and either(draw))


def outage(draw: DrawFn, answer: Answer, mode: Mode) -> Conversation:
    """Draw a passing error as the response to the first request, and the answer to the second request."""
    api = answer.api
    conversation = answered(draw, answer, mode)
    own = [error for error in _own(api, mode) if error.status in _OUTAGES]
    others = [gateway for gateway in GATEWAYS if gateway.status in _OUTAGES]
    failed = (
        _provider_error(api, mode, pick(draw, *own), "try again", says_when=False)
        if own and either(draw)
        else _gateway_error(api, mode, pick(draw, *others), says_when=False)
    )
    return replace(conversation, outage=failed.interactions[mode])


def _own(api: Api, mode: Mode) -> list[StatusError]:
    return [error for error in api.statuses if error.answers(mode)]


def _provider_error(api: Api, mode: Mode, error: StatusError, message: str, says_when: bool) -> Conversation:
    wait = RETRY_AFTER if says_when else None
    headers = {"content-type": JSON} | dict(error.headers) | ({"retry-after": wait} if wait else {})
    body = json.dumps(error_body(api, error, values(api, message, _model(api)))).encode()
    sent = interaction(api, mode, body, _model(api), status=error.status, headers=headers)
    return Conversation({mode: sent}, failure(class_meant(error), retry_after=wait), _model(api))


def _gateway_error(api: Api, mode: Mode, gateway: Gateway, says_when: bool) -> Conversation:
    wait = RETRY_AFTER if says_when else None
    headers = {"content-type": gateway.content_type} if gateway.content_type else {}
    sent = interaction(api, mode, gateway.body, _model(api), status=gateway.status)
    sent = replace(sent, headers=headers | ({"retry-after": wait} if wait else {}))
    also = (TimeoutError.__name__,) if gateway.is_timeout else ()
    expected = failure(error_for_status(gateway.status).__name__, retry_after=wait, may_raise=also)
    return Conversation({mode: sent}, expected, _model(api))


def _model(api: Api) -> str:
    return next(iter(api.models))
