"""PRV: an answer names its origin, can be stored, and was obtained without side effects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from llm_conformance.calling.values import Odd
from llm_conformance.compare import show
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import always, in_response, rule
from llm_conformance.rules.violation import Vacuous, expect_equal, fail
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.answers import documents
from llm_conformance.wire.interaction import Mode


def _states_id(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "id" in expected.stated


def _states_model(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "model" in expected.stated


def _states_created(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "created" in expected.stated


def _states_request_id(expected: Expected, _mode: Mode) -> bool:
    return expected.error is None and "request_id" in expected.stated


@rule("PRV-1", harm="untraceable", capability="provenance", shown=in_response("id"), when=_states_id)
def test_id_is_the_providers(exchange: Exchange) -> None:
    """`id` is the provider's id of the answer, or None if the provider sends none.

    The provider cannot find the answer that a report or a bill is about.

    Source: S0-17, S4-05.
    """
    ids, id = exchange.expected.ids, exchange.response.get("id")
    if id not in ids:
        cause = f"another id; got {'null' if id is None else 'an id'}"
        fail(f"id {' or '.join(map(show, ids))}", show(id), cause=cause)


@rule("PRV-2", harm="lost")
def test_everything_survives_storage(exchange: Exchange) -> None:
    """Everything returned is JSON-serialisable, and dumping and loading it again changes nothing.

    Answers cannot be logged, cached or sent on, or they come back changed. Examples of values that do not survive are
    an object of an SDK, a tuple, and a key that is not a string.

    Source: S1-15, S4-02, S0-31, S0-40.
    """
    _expect_survives("the response", exchange.response.data)
    for number, event in enumerate(exchange.events):
        _expect_survives(f"event {number}", event)


@rule("PRV-3", harm="unsafe", when=always)
def test_inputs_are_left_alone(exchange: Exchange) -> None:
    """The adapter changes nothing in the call: neither the messages nor anything else that it is given.

    The caller's own conversation is changed behind its back.

    Source: U-01, S1-25.
    """
    if exchange.outcome.mutations:
        fail("the call unchanged", f"changed: {', '.join(exchange.outcome.mutations)}")


@rule("PRV-4", harm="untraceable", capability="provenance", shown=in_response("model"), when=_states_model)
def test_model_is_the_one_that_answered(exchange: Exchange) -> None:
    """`model` is the model that answered, as the provider names it.

    Nobody can tell which model wrote the answer. The model that answers is not always the requested one: an alias
    resolves to a dated release. An adapter that does not declare `provenance` may return the requested model.

    Source: S0-07.
    """
    model = exchange.response.get("model")
    if "provenance" in exchange.adapter.capabilities or model != exchange.call.model:
        expect_equal("model", model, exchange.expected.model)


@rule("PRV-5", harm="untraceable")
def test_provider_is_the_one_of_the_call(exchange: Exchange) -> None:
    """`provider` is the provider of the call.

    Logs and bills of several providers cannot be told apart.

    Source: S0-09.
    """
    expect_equal("provider", exchange.response.get("provider"), exchange.call.provider)


@rule("PRV-6", harm="untraceable", capability="provenance", shown=in_response("created"), when=_states_created)
def test_time_is_the_providers(exchange: Exchange) -> None:
    """`created`, if given, is the time that the provider sends, in UTC.

    The answer has the time of this machine's clock, or a time in another time zone. If the provider sends no time, any
    `created` is made up.

    Source: S0-18, C-09.
    """
    created = exchange.response.get("created")
    times = [time for time in exchange.expected.times if time is not None]
    if created is None:
        if times:
            raise Vacuous("the response has no `created`, which is optional")
    elif not times:
        fail("created null, because the provider sends no time", show(created))
    elif _to_the_second(created) not in map(_to_the_second, times):
        fail(f"created {' or '.join(map(show, times))}, to the second", show(created))


@rule("PRV-7", harm="untraceable", capability="provenance", shown=in_response("request_id"), when=_states_request_id)
def test_request_id_is_the_providers(exchange: Exchange) -> None:
    """`request_id`, if given, is the provider's id of the request.

    The provider's support asks for this id, and cannot find the request without it.

    Source: S4-01.
    """
    request_id = exchange.response.get("request_id")
    if request_id is None and exchange.expected.request_id is not None:
        raise Vacuous("the response has no `request_id`, which is optional")
    expect_equal("request_id", request_id, exchange.expected.request_id)


@rule("PRV-8", harm="untraceable", capability="raw", shown=in_response("raw_events"))
def test_raw_events_are_all_frames(exchange: Exchange) -> None:
    """`raw_events` holds every document that the provider sent, in order and unchanged.

    Callers cannot get a value that the adapter does not read, and nobody can check what the provider sent.

    Source: S4-16, S4-17.
    """
    frames = list(documents(exchange.scenario.interactions[exchange.mode]))
    expect_equal("the raw events", list(exchange.response.get("raw_events", ())), frames)


@rule("PRV-9", harm="untraceable", needs_request=True)
def test_all_attempts_are_listed(exchange: Exchange) -> None:
    """`provider_meta`, if it lists attempts, lists all of them.

    Retries that cost time and money are hidden.

    Source: S4-13.
    """
    expect_equal("the number of attempts in provider_meta", len(_attempts(exchange)), exchange.outcome.attempts)


@rule("PRV-10", harm="untraceable", needs_request=True)
def test_failed_attempts_say_why(exchange: Exchange) -> None:
    """Each attempt in `provider_meta` but the last says in `extra` why it failed.

    Nobody can tell whether a limit, an outage or a timeout made the adapter ask again.

    Source: S4-14.
    """
    failed = _attempts(exchange)[:-1]
    if not failed:
        raise Vacuous("the adapter lists no failed attempt")
    for number, attempt in enumerate(failed):
        if not attempt.get("extra"):
            fail(f"extra of attempt {number} to say why it failed", show(attempt))


@rule("PRV-11", harm="unsafe", when=always)
def test_nobody_else_is_contacted(exchange: Exchange) -> None:
    """Nothing but the provider of the call is contacted.

    Prompts, keys or statistics reach a third party that the caller did not choose.

    Source: U-01, S1-25.
    """
    if exchange.outcome.connections:
        fail("no connection to anywhere else", f"it tried {exchange.outcome.connections[0]}")


@rule("PRV-12", harm="unsafe")
def test_one_answer_takes_one_request(exchange: Exchange) -> None:
    """The adapter does not ask again for an answer that it has received.

    The caller pays twice, and the model does its work twice.

    Source: U-01.
    """
    if exchange.outcome.repeats:
        fail("one request for one answer", f"{exchange.outcome.repeats + 1} of the same")


def _attempts(exchange: Exchange) -> Sequence[Mapping[str, Any]]:
    """Return the attempts that the response lists. Raises Vacuous if it lists none, or they cannot be counted."""
    attempts: Sequence[Mapping[str, Any]] = exchange.response.get("provider_meta", ())
    if not attempts:
        raise Vacuous("the response lists no attempts, which is optional")
    if not exchange.outcome.attempts:
        raise Vacuous("the transport cannot count attempts")
    return attempts


def _to_the_second(time: str) -> datetime:
    return datetime.fromisoformat(time).replace(microsecond=0)


def _expect_survives(what: str, value: Any) -> None:
    try:
        loaded = json.loads(json.dumps(value, allow_nan=False, default=_refuse))
        changes = loaded != value
    except (TypeError, ValueError, RecursionError) as error:
        fail(f"{what} to be JSON-serialisable", str(error))
    if changes:
        key = next((key for key in value if loaded.get(key, _ABSENT) != value[key]), None)
        fail(f"{what} unchanged by dumping and loading", f"`{key}` changes to {show(loaded.get(key))}")


def _refuse(value: Any) -> None:
    what = value.what if isinstance(value, Odd) else type(value).__name__
    raise TypeError(f"{what if what.startswith(('a ', 'an ')) else f'Object of type {what}'} is not JSON serializable")


_ABSENT = object()
