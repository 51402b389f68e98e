"""SRV-64 and SRV-65: token counts and durations."""

from __future__ import annotations

from llm_conformance.rules.violation import Blocked, Vacuous, fail
from llm_conformance.server.apis.answer import count
from llm_conformance.server.apis.ollama import before_the_last
from llm_conformance.server.exchange import Exchange
from llm_conformance.server.rule import rule

_APIS = ("ollama",)
_COUNTS = ("prompt_eval_count", "eval_count")
_PARTS = ("prompt_eval_duration", "eval_duration")
_NS_IN_MS = 1_000_000
_FAR = 2
"""The allowed factor.

A wrong unit makes a duration 1000 times too large or too small. If a server reads its clock twice, the durations differ
only a little.
"""
_SLACK_NS = 1_000_000_000
_LONG_MS = 1000
_PART = 10
"""A stream may take this many times as long as `total_duration`. Without buffers, both would be about equal."""


@rule("SRV-64", harm="wrong count", apis=_APIS)
def counts_are_in_the_last_object(exchange: Exchange) -> None:
    """Only the last object has `prompt_eval_count` and `eval_count`, and neither is 0 if there is content.

    Budgets are made from these counts. Clients use those of the last object, or add up all that they see.

    Source: https://docs.ollama.com/api/usage ("usage fields are included as part of the final chunk, where done is
    true"). A missing count for a cached prompt was a fault of Ollama's: https://github.com/ollama/ollama/issues/2068.
    """
    for where, document in before_the_last(exchange.documents):
        for name in _COUNTS:
            if count(document, name):
                fail("counts in the last object alone", f"{name} {document[name]}", where)
    if exchange.documents[-1].get("done") is not True:
        raise Blocked("the answer has no object with `done: true`; WIRE-6 or WIRE-7 reports that")
    counts, answer = exchange.counts, exchange.answer
    if not counts.input:
        fail("a prompt of at least one token", "no prompt_eval_count" if counts.input is None else "0 tokens")
    if not counts.output and (answer.text or answer.reasoning or answer.calls):
        fail("at least one token for the answer", "no eval_count" if counts.output is None else "0 tokens")


@rule("SRV-65", harm="wrong count", apis=_APIS)
def durations_are_nanoseconds(exchange: Exchange) -> None:
    """`total_duration` is in nanoseconds: not much more than the client waited, and not much less than other durations.

    Programs divide the counts by the durations to show tokens per second.

    A stream of a second or more must not take far longer than `total_duration`, either.

    Source: https://docs.ollama.com/api/usage ("total_duration: How long the response took to generate", "All timing
    values are measured in nanoseconds").
    """
    recording = exchange.recording
    last = exchange.documents[-1]
    total = count(last, "total_duration")
    if total is None:
        raise Vacuous("the answer has no total_duration")
    waited = recording.milliseconds * _NS_IN_MS
    if total > _FAR * waited + _SLACK_NS:
        fail(f"a total_duration of at most the {waited} ns that the client waited", f"{total}")
    for name in _PARTS:
        part = count(last, name)
        if part is not None and part > _FAR * total:
            fail(f"a {name} of at most the total_duration {total}", f"{part}")
    times = [at for _, at in recording.arrival]
    streamed_ms = times[-1] - times[0] if exchange.streamed and times else 0
    if streamed_ms >= _LONG_MS and total < streamed_ms * _NS_IN_MS / _PART:
        fail(f"a total_duration of about the {streamed_ms * _NS_IN_MS} ns that the stream took", f"{total}")
