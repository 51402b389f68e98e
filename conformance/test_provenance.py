"""PRV: an answer names its origin, can be stored, and was obtained without side effects."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from llm_conformance.compare import show
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import always, rule
from llm_conformance.rules.violation import expect_equal, fail
from llm_conformance.wire.answers import documents


@rule("PRV-1", harm="untraceable")
def test_answer_names_its_origin(exchange: Exchange) -> None:
    """`id` and `model` are the wire's, `provider` is the call's; `created`, if given, is the wire's, in UTC.

    The model that answers is not always the requested one: an alias resolves to a dated release. If the provider sends
    no time, any `created` is made up. With the capability `raw`, `raw_events` hold every frame. An adapter that lists
    attempts lists all of them, the one that was used last, and says why the earlier ones failed.

    Source: S0-07, S0-09, S0-17, S0-18, S4-05, S4-13, S4-14, S4-17, C-09.
    """
    response, expected = exchange.response, exchange.expected
    expect_equal("provider", response.get("provider"), exchange.call.provider)
    if "model" in expected.stated:
        expect_equal("model", response.get("model"), expected.model)
    if "id" in expected.stated and response.get("id") not in expected.ids:
        fail(f"id {' or '.join(map(show, expected.ids))}", show(response.get("id")))
    created = response.get("created")
    if created is not None and "created" in expected.stated:
        times = [time for time in expected.times if time is not None]
        if not times:
            fail("created null, because the provider sends no time", show(created))
        if _to_the_second(created) not in map(_to_the_second, times):
            fail(f"created {' or '.join(map(show, times))}, to the second", show(created))
    request_id = response.get("request_id")
    if request_id is not None and "request_id" in expected.stated:
        expect_equal("request_id", request_id, expected.request_id)
    if "raw" in exchange.adapter.capabilities:
        frames = list(documents(exchange.scenario.interactions[exchange.mode]))
        expect_equal("the raw events", list(response.get("raw_events", ())), frames)
    attempts = response.get("provider_meta", ())
    if attempts and exchange.outcome.attempts:
        expect_equal("the number of attempts in provider_meta", len(attempts), exchange.outcome.attempts)
        for number, attempt in enumerate(attempts[:-1]):
            if not attempt.get("extra"):
                fail(f"extra of attempt {number} to say why it failed", show(attempt))


@rule("PRV-2", harm="lost")
def test_everything_survives_storage(exchange: Exchange) -> None:
    """Everything returned is JSON-serialisable, and dumping and loading it again changes nothing.

    Answers are logged, cached and sent on. An object of an SDK, a tuple or a key that is not a string fails then, or
    comes back as something else.

    Source: S1-15, S4-02, S0-31, S0-40.
    """
    _expect_survives("the response", exchange.response.data)
    for number, event in enumerate(exchange.events):
        _expect_survives(f"event {number}", event)


@rule("PRV-3", harm="unsafe", when=always)
def test_inputs_and_network_are_left_alone(exchange: Exchange) -> None:
    """Inputs are not mutated, nothing but the replayed provider is contacted, and one answer takes one request.

    An adapter that changes the messages it is given changes the caller's conversation. One that asks again for an
    answer that it has makes the caller pay twice.

    Source: U-01, S1-25.
    """
    if exchange.outcome.mutations:
        fail("the call unchanged", f"changed: {', '.join(exchange.outcome.mutations)}")
    if exchange.outcome.connections:
        fail("no connection to anywhere else", f"it tried {exchange.outcome.connections[0]}")
    if exchange.outcome.repeats and exchange.expected.error is None:
        fail("one request for one answer", f"{exchange.outcome.repeats + 1} of the same")


def _to_the_second(time: str) -> datetime:
    return datetime.fromisoformat(time).replace(microsecond=0)


def _expect_survives(what: str, value: Any) -> None:
    try:
        loaded = json.loads(json.dumps(value, allow_nan=False))
        changes = loaded != value
    except (TypeError, ValueError, RecursionError) as error:
        fail(f"{what} to be JSON-serialisable", str(error))
    if changes:
        key = next((key for key in value if loaded.get(key, _ABSENT) != value[key]), None)
        fail(f"{what} unchanged by dumping and loading", f"`{key}` changes to {show(loaded.get(key))}")


_ABSENT = object()
