"""Calls that are read from recorded requests, so that bare recordings can also judge methods that send requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter.declarations import METHODS, AdapterUnderTest, describe
from llm_conformance.contract import Call, Response
from llm_conformance.formats import calls
from llm_conformance.formats.recorded_call import CannotAskError, EarlierAnswer
from llm_conformance.formats.tools import tools_of
from llm_conformance.judging.judge import judge_exchange, known_without_running
from llm_conformance.judging.status import Status
from llm_conformance.locations import CASSETTES, RULES
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import rules_in
from llm_conformance.rules.exchange import Exchange
from llm_conformance.scenarios import bare, cassette, load
from llm_conformance.scenarios.build import build
from llm_conformance.scenarios.scenario import Scenario

REFERENCE = describe("adapters", ReferenceAdapters())
SCENARIOS = [build(load.read(path, check=False), CASSETTES) for path in load.find(CASSETTES)[0]]
INTERACTIONS = [(scenario, mode) for scenario in SCENARIOS for mode in scenario.modes]
WIRES = sorted({scenario.api.wire for scenario in SCENARIOS})

NOT_SAID = {
    "llamacpp/chat-error-messages-is-no-list": "the request has no 'messages'",
    "llamacpp/responses-error-input-is-a-number": "the request has no 'input'",
    "openai/responses-found-tools-go-back": "the input has an item of the type 'tool_search_output'",
    "openai/responses-patch-goes-back": "the input has an item of the type 'apply_patch_call_output'",
    "openai/responses-program-goes-back": "a tool result has the field 'caller'",
    "openai/responses-shell-output-goes-back": "the input has an item of the type 'shell_call_output'",
}
"""What a call has no place for."""
STATED_OTHERWISE = {
    "anthropic/turn-goes-on-after-a-pause": "states the blocks of the earlier answer in the provider's form",
    "openai/responses-program-calls-a-function": "states a tool with fields of the provider's in OpenAI's form",
    "openai/responses-tool-search-by-openai": "states a tool with fields of the provider's in OpenAI's form",
}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


def as_bare(scenario: Scenario, mode: str, directory: Path) -> Scenario:
    """Return one recording of a scenario as a bare one."""
    path = directory / scenario.api.provider / "one.yaml"
    path.unlink(missing_ok=True)
    about = {"provenance": "recorded", "provider": scenario.api.provider, "api": scenario.api.name}
    cassette.save(path, about, [scenario.interactions[mode]])  # type: ignore[index]
    (found,) = bare.recordings(path)
    assert isinstance(found, Scenario), found.why
    return calls.asked(found)


def asked_of(adapter: AdapterUnderTest, scenario: Scenario, runner: Runner) -> Exchange:
    """Return the exchange of the method that sends a request."""
    (mode,) = scenario.modes
    return runner.run(Cell(adapter, scenario, mode, METHODS[mode][0]))


def request(**fields: Any) -> dict[str, Any]:
    return {"model": "m", **fields}


def test_the_call_of_a_request_is_that_of_the_scenario() -> None:
    """Scenario files state by hand the call that made a request; nearly all of them are read from the request, too."""
    differing, compared = {}, 0
    for scenario, mode in INTERACTIONS:
        recorded = scenario.api.read_request(scenario.interactions[mode].request)
        try:
            call = calls.recorded_call(recorded, scenario.api.wire)
        except CannotAskError as reason:
            differing[scenario.id] = str(reason)
            continue
        params = {mode: {key: value for key, value in call.params.items() if key != "stream_options"}}
        stated = {key: value for key, value in scenario.params[mode].items() if key != "stream_options"}
        same_messages = len(call.messages) == len(scenario.messages) and all(
            map(_says, call.messages, scenario.messages)
        )
        if not same_messages or [*call.tools] != [*scenario.tools] or params[mode] != stated:
            differing[scenario.id] = "stated otherwise"
        compared += 1
    assert compared > 1100
    assert differing == {**NOT_SAID, **dict.fromkeys(STATED_OTHERWISE, "stated otherwise")}


def _says(read: Mapping[str, Any] | EarlierAnswer, stated: Mapping[str, Any]) -> bool:
    """Return True if a message is the stated one, except for names. An earlier answer is stated by its role alone."""
    if dict(stated) == {"role": "assistant"}:
        return isinstance(read, EarlierAnswer) or read["role"] == "assistant"
    return not isinstance(read, EarlierAnswer) and {**read, "name": None} == {**stated, "name": None}


SECOND_TURNS = [(each, mode) for each, mode in INTERACTIONS if each.earlier and each.id not in NOT_SAID]
FIRST_TURNS = [next((each, each.modes[-1]) for each in SCENARIOS if each.api.wire == wire) for wire in WIRES]


@pytest.mark.parametrize(
    ("scenario", "mode"), [pytest.param(*each, id=f"{each[0].id}-{each[1]}") for each in (*SECOND_TURNS, *FIRST_TURNS)]
)
def test_the_reference_adapter_asks_what_was_recorded(
    scenario: Scenario, mode: str, tmp_path: Path, runner: Runner
) -> None:
    recording = as_bare(scenario, mode, tmp_path)
    assert not recording.cannot_be_asked
    outcome = asked_of(REFERENCE, recording, runner).outcome
    assert outcome.unsupported is None
    assert outcome.difference is None


def test_second_turns_are_of_all_formats_with_earlier_answers() -> None:
    with_answers = set()
    for scenario, mode in SECOND_TURNS:
        recorded = scenario.api.read_request(scenario.interactions[mode].request)
        call = calls.recorded_call(recorded, scenario.api.wire)
        with_answers |= {scenario.api.wire} if any(isinstance(each, EarlierAnswer) for each in call.messages) else set()
    assert with_answers == {*WIRES} - {"cohere_v1", "completions", "workers_ai"}


class Forgetful(ReferenceAdapters):
    """Leaves earlier answers out of its requests."""

    def complete(self, call: Call) -> Response:
        kept = tuple(each for each in call.messages if not isinstance(each, Response))
        return super().complete(replace(call, messages=kept))


def test_an_earlier_answer_that_is_lost_is_reported(tmp_path: Path, runner: Runner) -> None:
    scenario = next(each for each in SCENARIOS if each.id == "anthropic/redacted-thinking-goes-back")
    recording = as_bare(scenario, "json", tmp_path)
    exchange = asked_of(describe("forgetful", Forgetful()), recording, runner)
    (rule,) = (rule for _, rule in rules_in(RULES / "test_round_trip.py") if rule.id == "RPL-4")
    judgement = judge_exchange(rule, exchange)
    assert judgement.status == Status.FAIL
    assert str(judgement.message).endswith("of assistant; got no text of assistant")


class Failing(ReferenceAdapters):
    """Reads no answer to a first question."""

    def complete(self, call: Call) -> Response:
        if not any(isinstance(each, Response) for each in call.messages):
            raise RuntimeError("not read")
        return super().complete(call)


def test_an_earlier_answer_that_cannot_be_read_accuses_nobody(tmp_path: Path, runner: Runner) -> None:
    """The suite has written that answer from the request, so nobody knows what the provider sent."""
    scenario = next(each for each in SCENARIOS if each.id == "anthropic/redacted-thinking-goes-back")
    outcome = asked_of(describe("failing", Failing()), as_bare(scenario, "json", tmp_path), runner).outcome
    assert str(outcome.unsupported).startswith("the adapter has no earlier answer to send back: raised RuntimeError")


def test_a_stream_after_an_earlier_answer_needs_complete(tmp_path: Path, runner: Runner) -> None:
    scenario = next(each for each in SCENARIOS if each.id == "anthropic/redacted-thinking-goes-back")
    only_streams = replace(REFERENCE, methods=frozenset({"stream"}))
    outcome = asked_of(only_streams, as_bare(scenario, "stream", tmp_path), runner).outcome
    assert outcome.unsupported == ("the adapter has no earlier answer to send back: the adapter has no method complete")


def test_a_parser_needs_no_earlier_answers(tmp_path: Path, runner: Runner) -> None:
    scenario = next(each for each in SCENARIOS if each.id == "anthropic/redacted-thinking-goes-back")
    recording = as_bare(scenario, "json", tmp_path)
    exchange = runner.run(Cell(describe("failing", Failing()), recording, "json", "parse"))
    assert exchange.outcome.fault is None
    assert exchange.outcome.returned is not None


def test_what_cannot_be_asked_is_unsupported_but_parsed(tmp_path: Path) -> None:
    scenario = next(each for each in SCENARIOS if each.id == "openai/responses-program-goes-back")
    recording = as_bare(scenario, "json", tmp_path)
    (rule,) = (rule for _, rule in rules_in(RULES / "test_round_trip.py") if rule.id == "RPL-4")
    known = known_without_running(Cell(REFERENCE, recording, "json", "complete"), rule)
    assert known is not None
    assert (known.status, known.message) == (Status.UNSUPPORTED, "a tool result has the field 'caller'")
    (shape,) = (rule for _, rule in rules_in(RULES / "test_shape.py") if rule.id == "SHP-1")
    assert known_without_running(Cell(REFERENCE, recording, "json", "parse"), shape) is None


TURNS = [{"role": "user", "content": "Hi"}]
USED = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}


@pytest.mark.parametrize(
    ("wire", "sent", "reason"),
    [
        ("chat", {}, "the request has no 'messages'"),
        ("chat", {"messages": "Hi"}, "the request has no 'messages'"),
        ("chat", {"messages": [{"role": "critic", "content": "Hi"}]}, "a message has the role 'critic'"),
        ("chat", {"messages": [{**TURNS[0], "images": ["a"]}]}, "a message of the user has the field 'images'"),
        (
            "chat",
            {"messages": [*TURNS, {"role": "assistant", "content": "A", "prefix": True}]},
            "an earlier answer has",
        ),
        ("chat", {"messages": [*TURNS, {"role": "assistant", "content": None}]}, "an earlier answer is empty"),
        ("chat", {"messages": [*TURNS, {"role": "assistant", "content": [7]}]}, "the request is not of the documented"),
        ("messages", {"messages": [{"role": "user", "content": []}], "system": 7}, "a message is without content"),
        (
            "messages",
            {
                "messages": [
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": True}]}
                ]
            },
            "a tool result has the field 'is_error'",
        ),
        (
            "converse",
            {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "1", "status": "error"}}]}]},
            "a tool result is marked as an error",
        ),
        (
            "gemini",
            {"contents": [{"role": "user", "parts": [{"functionCall": {"name": "look"}}]}]},
            "a message of the user has a function call",
        ),
        ("responses", {"input": [{"type": "item_reference", "id": "1"}]}, "an item of the type 'item_reference'"),
        ("interactions", {"input": [{"type": "new_step"}]}, "a step of the type 'new_step'"),
        ("ollama", {"messages": [{**TURNS[0], "images": ["a"]}]}, "a message of the user has the field 'images'"),
        ("chat", {"messages": [{**TURNS[0], "\n" * 99: 1}]}, f"has the field {chr(10) * 40!r}"),
    ],
)
def test_a_reason_names_what_has_no_place(wire: str, sent: Mapping[str, Any], reason: str) -> None:
    with pytest.raises(CannotAskError) as raised:
        calls.recorded_call(request(**sent), wire)
    assert reason in str(raised.value)


def test_tools_with_fields_of_the_provider_stay_in_its_form() -> None:
    schema = {"type": "object", "properties": {"place": {"type": "string"}}}
    plain = {"name": "look", "description": "Look.", "input_schema": schema}
    deferred = {**plain, "name": "find", "defer_loading": True}
    hosted = {"type": "web_search_20250305", "name": "web_search"}
    call = calls.recorded_call(
        request(messages=TURNS, tools=[plain, deferred, hosted], tool_choice={"type": "any"}), "messages"
    )
    function = {"name": "look", "description": "Look.", "parameters": schema}
    assert call.tools == [{"type": "function", "function": function}]
    assert call.params == {"tools": [deferred, hosted], "tool_choice": {"type": "any"}}


def test_gemini_takes_one_tool_that_is_not_in_a_list() -> None:
    declared = {"functionDeclarations": [{"name": "look", "description": "Look."}]}
    sent = {"contents": [{"role": "user", "parts": {"text": "Hi"}}], "tools": declared}
    call = calls.recorded_call(sent, "gemini")
    assert call.tools == [{"type": "function", "function": {"name": "look", "description": "Look."}}]
    assert [tool.name for tool in tools_of(sent)] == ["look"]
    assert [tool.name for tool in tools_of({"tools": {"function_declarations": [{"name": "look"}]}})] == ["look"]


def test_a_result_without_an_id_is_of_the_first_open_call_of_its_tool() -> None:
    made = [{"functionCall": {"name": "look", "args": {"n": n}, "id": f"call-{n}"}} for n in (1, 2)]
    results = [{"functionResponse": {"name": "look", "response": {"result": text}}} for text in ("a", "b")]
    contents = [
        {"role": "user", "parts": {"text": "Hi"}},
        {"role": "model", "parts": made},
        {"role": "user", "parts": results},
    ]
    call = calls.recorded_call({"contents": contents, "systemInstruction": {"parts": {"text": "Be brief."}}}, "gemini")
    system, user, _, *answered = call.messages
    assert (system, user) == ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"})
    assert [(each["tool_call_id"], each["content"]) for each in answered if isinstance(each, dict)] == [
        ("call-1", "a"),
        ("call-2", "b"),
    ]


def test_items_between_two_messages_of_the_user_are_one_answer() -> None:
    items = [
        {"role": "user", "content": "Hi"},
        {"type": "reasoning", "summary": [], "encrypted_content": "sealed"},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Done.", "annotations": []}]},
        {"role": "user", "content": [{"type": "input_text", "text": "Thanks"}]},
    ]
    first, answer, *rest = calls.recorded_call(request(input=items), "responses").messages
    assert first == {"role": "user", "content": "Hi"}
    assert isinstance(answer, EarlierAnswer)
    assert (answer.at, answer.items) == (1, items[1:3])
    assert rest == [
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks"},
    ]
