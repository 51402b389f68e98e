"""SRV-62 and SRV-63: token counts, and how a response has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.compare import show
from llm_conformance.rules.violation import Blocked, fail
from llm_conformance.server.apis.answer import inner
from llm_conformance.server.apis.responses import usage_of
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule
from llm_conformance.server.rules.counts import expect_sum

_APIS = ("responses",)


@rule("SRV-62", harm="wrong count", apis=_APIS)
def counts_of_responses_add_up(exchange: Exchange) -> None:
    """A response has `usage`: `total_tokens` is the sum of input and output, and reasoning is a part of the output.

    Budgets and bills are made from these counts.

    Source: https://platform.openai.com/docs/api-reference/responses/object ("usage").
    """
    _last(exchange)
    usage = usage_of(exchange.documents)
    if not usage:
        fail("`usage`", "none")
    expect_sum(exchange, usage, "input_tokens", "output_tokens")


@rule("SRV-63", harm="false success", apis=_APIS)
def status_says_how_it_ended(exchange: Exchange) -> None:
    """A response has the status `completed`, or `incomplete` with the reason, and the last event is named accordingly.

    Programs ask for the rest of an incomplete response, or tell a user that something is missing.

    Source: https://platform.openai.com/docs/api-reference/responses/object ("status", "incomplete_details").
    """
    last = _last(exchange)
    response = inner(last, "response") if exchange.streamed else last
    status, reason = response.get("status"), inner(response, "incomplete_details").get("reason")
    if status not in ("completed", "incomplete"):
        fail('the status "completed" or "incomplete"', show(status))
    if exchange.streamed and last["type"] != f"response.{status}":
        fail(f"the last event response.{status}", show(last["type"]))
    if (status == "incomplete") is not bool(reason):
        fail("incomplete_details with a reason if the status is incomplete, and only then", show([status, reason]))


def _last(exchange: Exchange) -> Mapping[str, Any]:
    """Return the last event, or the plain document. Raises Blocked if the stream ends with another event."""
    last = exchange.documents[-1]
    if exchange.streamed and last.get("type") not in ("response.completed", "response.incomplete"):
        raise Blocked("the stream has no last event; WIRE-6 reports that")
    return last
