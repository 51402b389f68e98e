"""SRV-1 to SRV-3: what has to be refused, and how errors are reported."""

from __future__ import annotations

import json

from llm_conformance.compare import show
from llm_conformance.rules.violation import Blocked, fail
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule

_MEANS_SOMETHING_ELSE = (408, 409, 425, 429)
"""Statuses that tell a client to send the same request again."""
_ABOUT_THE_KEY = (401, 403)


@rule("SRV-1", harm="false success", of="refusals")
def wrong_request_is_refused(exchange: Exchange) -> None:
    """A wrong request gets an error status from 400 to 499, streamed or not; only a wrong key gets 401 or 403.

    Clients take a response with status 200 for an answer. After a status of 500 and above, or one that asks them to
    wait, they send the same request again.

    Source: https://platform.openai.com/docs/guides/error-codes; https://docs.anthropic.com/en/api/errors;
    https://docs.ollama.com/api/errors.
    """
    status = exchange.recording.status
    about_key = exchange.conversation.key is not None
    wrong = f"although {exchange.conversation.refused}"
    cause = f"status {status} {wrong}"
    if status == 0 and exchange.is_late:
        raise Blocked(f"no answer came within {exchange.recording.milliseconds} ms, the time limit")
    if status == 0:
        fail("an error status from 400 to 499", f"no answer ({exchange.recording.ended})", hint=wrong)
    body = show(exchange.recording.body[:200].decode("utf-8", "replace"))
    if not 400 <= status < 500 or status in _MEANS_SOMETHING_ELSE:
        fail("an error status from 400 to 499", f"status {status}", hint=f"{wrong}: {body}", cause=cause)
    if about_key is not (status in _ABOUT_THE_KEY):
        wanted = "status 401 or 403" if about_key else "a status that does not blame the key"
        fail(wanted, f"status {status}", hint=f"{wrong}: {body}", cause=cause)


@rule("SRV-2", harm="false success")
def no_error_in_an_answer(exchange: Exchange) -> None:
    """A response with status 200 is no error: neither its document nor the first event of its stream has `error`.

    Clients see from the status whether to raise an error. In a stream, an error may be an event only if it occurs after
    the first event.

    Source: https://platform.openai.com/docs/guides/error-codes; https://docs.anthropic.com/en/api/errors ("When
    receiving a streaming response via SSE, it's possible that an error can occur after returning a 200 response");
    https://docs.ollama.com/api/errors ("If an error occurs mid-stream").
    """
    if exchange.streamed:
        first = exchange.events[0].data if exchange.events else ""
    else:
        first = exchange.body.decode("utf-8", "replace")
    try:
        document = json.loads(first)
    except (ValueError, RecursionError):
        return
    if exchange.api.is_error(document):
        fail("an error status for an error", f"status 200 with {show(document)}")


@rule("SRV-3", harm="unsafe", of="all", needs=("keys",))
def key_is_not_repeated(exchange: Exchange) -> None:
    """No answer and no error contains the key of the request.

    Clients log errors, and everybody who reads the log then has the key.

    Source: https://owasp.org/API-Security/editions/2023/en/0xa8-security-misconfiguration/.
    """
    recording = exchange.recording
    if recording.repeats_key or "the key" in recording.hidden:
        fail("an answer without the key", recording.hidden or "an answer with the key of the request, masked here")
    exchange.kept_body  # noqa: B018 - raises Blocked
