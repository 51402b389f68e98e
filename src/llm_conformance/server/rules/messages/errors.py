"""WIRE-19: the shape of errors."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.violation import Blocked, Vacuous, fail
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule
from llm_conformance.wire.framings.base import json_value


@rule("WIRE-19", harm="untraceable", of="refusals", apis=("messages",))
def error_is_called_one(exchange: Exchange) -> None:
    """The body of an error has the `type` `error`.

    The type tells a client that the body is no message.

    Source: https://docs.anthropic.com/en/api/errors#error-shapes, and `ErrorResponse` in anthropic 2.x (Python).
    """
    if exchange.recording.status < 400:
        raise Vacuous("the request was not refused; SRV-1 reports that")
    try:
        document = json_value(exchange.kept_body.decode("utf-8"))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Blocked("the body is not a JSON object; WIRE-11 reports that")
    if document.get("type") != "error":
        fail('the type "error"', show(document.get("type")))
