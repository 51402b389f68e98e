"""WIRE-26: the shape of errors."""

from __future__ import annotations

from llm_conformance.compare import show
from llm_conformance.rules.violation import Vacuous, expect_equal, fail
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule
from llm_conformance.wire.framings.base import json_value


@rule("WIRE-26", harm="wrong", of="refusals", apis=("ollama",))
def error_is_a_text(exchange: Exchange) -> None:
    """The body of an error is a JSON object whose `error` is a text.

    Clients show it as the message of their exceptions. Typed clients fail at an object, which OpenAI sends there.

    Source: https://docs.ollama.com/api/errors ("Errors are returned in the application/json format with the following
    structure, with the error message in the error property").
    """
    recording = exchange.recording
    if recording.status < 400:
        raise Vacuous("the request was not refused; SRV-1 reports that")
    text = exchange.kept_body.decode("utf-8", "replace")
    expect_equal("content type", exchange.content_type, "application/json")
    try:
        document = json_value(text)
    except (ValueError, RecursionError):
        fail("a JSON object with `error`", show(text[:200]))
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, str) or not error:
        fail("a JSON object with a text as `error`", show(document))
