"""Rules raise no unexpected error, whatever values an adapter returns."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_conformance.adapter.declarations import describe
from llm_conformance.calling.values import as_mapping, of_line
from llm_conformance.judging.judge import judge_exchange
from llm_conformance.judging.status import Status
from llm_conformance.locations import CASSETTES
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.outcome import Outcome, Returned
from llm_conformance.scenarios import lint, load
from llm_conformance.scenarios.scenario import Scenario
from tests.calls import ADAPTERS, chat
from tests.test_broken import ALL_RULES

RICH = (
    "openai/audio-in-pieces",
    "openai/tool-calls-interleaved",
    "local/think-leading-citations",
    "anthropic/thinking-redacted-between",
    "anthropic/web-search-citations",
    "anthropic/unknown-block",
)
SCENARIOS = lint.load_all([CASSETTES], lambda path: load.id_of(path) in RICH)

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 99)
    | st.floats()
    | st.text(max_size=9)
    | st.just(object())
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "content", "start", "end", "data", "id", "index", "metadata"]), inner
        )
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of everything inside a value."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy of a value with something else at a path."""
    if not path:
        return new
    changed = copy.copy(value)
    changed[path[0]] = put(value[path[0]], path[1:], new)
    return changed


class Nothing:
    """Related exchanges, of which there are none."""

    def other_mode(self) -> None: ...
    def whole_frames(self) -> None: ...
    def with_canary(self) -> None: ...


def exchange(scenario: Scenario, response: Any, events: list[Any]) -> Exchange:
    """Return the exchange of an adapter that streamed these events and this response."""
    api = scenario.api
    call = chat(api.provider, api=api.name, model=scenario.model, messages=scenario.messages, stream=True)
    outcome = Outcome(response=Returned(response), events=tuple(events), buffered=False)
    adapter = describe("reference", ADAPTERS)
    return Exchange(adapter, scenario, "parse_stream", "stream", call, outcome, Nothing())


def streamed(scenario: Scenario) -> tuple[dict[str, Any], list[Any]]:
    """Return the response and the events of the reference adapters for a scenario's stream."""
    call = exchange(scenario, {}, []).call
    body = scenario.interactions["stream"].body
    events = [event.to_dict() for event in ADAPTERS.parse_stream([body], call)]
    return events[-1]["response"], events


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_rules_raise_no_unexpected_error_for_any_value(scenario: Scenario, data: st.DataObject) -> None:
    response, events = streamed(scenario)
    path = data.draw(st.sampled_from(places(response)[1:]))
    response = put(response, path, data.draw(values))
    number = data.draw(st.integers(0, len(events) - 1))
    inside = [path for path in places(events[number])[1:] if path[0] != "response"]
    events[number] = put(events[number], data.draw(st.sampled_from(inside)), data.draw(values))
    judged = exchange(scenario, response, events)
    for rule in ALL_RULES:
        if rule.applies(judged.expected, judged.mode):
            assert judge_exchange(rule, judged).status is not Status.ERROR


def test_a_value_that_contains_itself_fails(tmp_path: Path) -> None:
    response, events = streamed(SCENARIOS[0])
    response["extras"] = {"self": response}
    statuses = {rule.id: judge_exchange(rule, exchange(SCENARIOS[0], response, events)).status for rule in ALL_RULES}
    assert statuses["PRV-2"] is Status.FAIL


@pytest.mark.parametrize("value", [None, 3, "text", [1], (1, 2), object(), len])
def test_an_object_that_is_not_a_response_is_described(value: object) -> None:
    with pytest.raises(TypeError, match="which is neither a mapping nor an object with to_dict"):
        as_mapping(value)


@pytest.mark.parametrize("mark", ["$llm-conformance", "\\u0024llm-conformance", "$\\u006clm-conformance"])
def test_a_marked_value_is_read_however_its_mark_is_escaped(mark: str) -> None:
    assert of_line(f'{{"audio": {{"{mark}": ["bytes", "AAE="]}}}}') == {"audio": b"\x00\x01"}


def test_an_object_with_further_keys_is_no_marked_value() -> None:
    line = '{"$llm-conformance": ["bytes", "AAE="], "more": 1}'
    assert of_line(line) == {"$llm-conformance": ["bytes", "AAE="], "more": 1}


def test_bytes_that_are_not_in_base64_are_an_odd_value() -> None:
    assert repr(of_line('{"$llm-conformance": ["bytes", "A"]}')) == "<bytes that are not in base64>"


def test_an_escape_alone_marks_nothing() -> None:
    assert of_line('{"\\u0024other": ["bytes", "AAE="]}') == {"$other": ["bytes", "AAE="]}
