"""Generated calls ask for what their answers have, and their requests are in the form of the API."""

from __future__ import annotations

import functools
import json

import pytest
from hypothesis import given, settings

from llm_conformance.formats.differences import difference
from llm_conformance.formats.requests import request_of, turns
from llm_conformance.formats.tools import tools_of
from llm_conformance.formats.turns import Turn
from llm_conformance.generate.answers import TOOL_NAMES
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.conversation import MESSAGES
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from tests import draws

pytestmark = pytest.mark.usefixtures("same_draw")

APIS = list(table().values())


@functools.cache
def drawn(api: Api) -> list[tuple[Scenario, Mode]]:
    """Return scenarios of each theme and mode, with each of their modes."""
    themes = [theme for theme in THEMES if theme.suits(api)]
    found = (draws.drawn(theme.name, api, mode, 3) for theme in themes for mode in theme.modes)
    return [(scenario, each) for scenarios in found for scenario in scenarios for each in scenario.modes]


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", APIS, ids=str)
def test_requests_are_in_the_form_of_the_api(api: Api) -> None:
    """They are read back here as RPL-4 reads what an adapter sends."""
    for scenario, mode in drawn(api):
        interaction = scenario.interactions[mode]
        request = interaction.request
        asked = [turn for turn in turns(request, api.wire) if turn.role != "system"]
        question, *history = (turn for turn in asked if turn.role != "user" or turn.kind == "text")  # no cited files
        words = f"{MESSAGES[0]['content']} {api.blank_blocks.get(scenario.model, '')}".rstrip()
        assert question == Turn("user", "text", words)
        earlier = [call for each in scenario.earlier.values() for call in each.expected[mode].tool_calls]
        assert [turn.kind for turn in history if turn.role == "assistant" and turn.kind != "text"] == ["call"] * len(
            earlier
        )
        assert [turn.content[0] for turn in history if turn.kind == "call"] == [call.name for call in earlier]
        results = [turn for turn in history if turn.role == "tool"]
        assert [turn.kind for turn in results] == ["result"] * len(earlier)
        if api.wire == "ollama":  # a result has no id there
            named = [message["tool_name"] for message in request["messages"] if message["role"] == "tool"]
            assert named == [call.name for call in earlier]
        else:
            assert [turn.id for turn in results] == [call.id for call in earlier]
        functions = [tool.name for tool in tools_of(request) if not tool.hosted]
        assert functions == [tool["function"]["name"] for tool in scenario.tools]
        place = api.place(interaction.uri)
        assert ((place and place.model) or request["model"]) == scenario.model
        is_said = api.path == api.stream_path or str(api) == "vertex:messages"
        assert api.asks_for_stream(request) == (is_said and mode == "stream")
        params = {name: value for name, value in scenario.params[mode].items() if name != "tools"}
        assert {**request, **api.request_fields, **params} == request
        assert all(tool in request["tools"] for tool in scenario.params[mode].get("tools", ()))
        assert set(api.needed_params) <= set(scenario.params[mode])


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", APIS, ids=str)
def test_requests_ask_what_the_calls_ask(api: Api) -> None:
    for scenario, mode in drawn(api):
        request = scenario.interactions[mode].request
        if not scenario.earlier:
            call = {
                "model": scenario.model,
                "messages": scenario.messages,
                "tools": scenario.tools,
                "params": scenario.params[mode],
            }
            written = request_of(api, call, mode)
            assert difference(request, written, api) is difference(written, request, api) is None
        for pointer in api.switches:
            assert pointer in scenario.expected[mode].switches
        assert scenario.outage is None or scenario.outage.request == scenario.interactions[scenario.modes[-1]].request


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", APIS, ids=str)
def test_a_tool_that_is_called_was_offered(api: Api) -> None:
    """Also in answers that break off or are malformed."""
    for scenario, mode in drawn(api):
        body = scenario.interactions[mode].body
        if any(f'"name": "{name}"'.encode() in body for name in TOOL_NAMES):
            assert scenario.tools


def test_counts_in_every_chunk_have_been_asked_for() -> None:
    """A server of vLLM sends them only with `continuous_usage_stats`, and refuses the field in a plain request."""
    api = table()["local", "chat"]
    seen = set()

    @settings(max_examples=300, derandomize=True, deadline=None, database=None)
    @given(THEMES[0].scenarios(api, "stream"))
    def check(scenario: Scenario) -> None:
        *_, stream = scenario.interactions.values()
        counted = stream.body.count(b'"usage": {')
        is_asked = "stream_options" in scenario.params["stream"]
        assert is_asked or counted <= 1
        seen.add(is_asked and counted > 1)
        if "json" in scenario.params:
            assert "stream_options" not in scenario.params["json"]

    check()
    assert seen == {True, False}


def test_pieces_of_several_calls_share_no_delta() -> None:
    """Mistral's stream has several calls in one delta only if all of them are whole."""
    api = table()["mistral", "chat"]
    most = 0

    @settings(max_examples=300, derandomize=True, deadline=None, database=None)
    @given(THEMES[0].scenarios(api, "stream"))
    def check(scenario: Scenario) -> None:
        nonlocal most
        chunks = [
            json.loads(line[6:]) for line in scenario.interactions["stream"].body.split(b"\n") if line[6:7] == b"{"
        ]
        deltas = [choice["delta"].get("tool_calls") or [] for chunk in chunks for choice in chunk["choices"]]
        together = max((len(pieces) for pieces in deltas), default=0)
        most = max(most, together)
        assert together < 2 or sum(bool(pieces) for pieces in deltas) == 1

    check()
    assert most == 2


def test_a_call_of_an_mcp_server_has_been_made_possible_by_the_request() -> None:
    seen = set()

    @settings(max_examples=150, derandomize=True, deadline=None, database=None)
    @given(THEMES[0].scenarios(table()["anthropic", "messages"], "json"))
    def check(scenario: Scenario) -> None:
        has_call = b'"mcp_tool_use"' in scenario.interactions["json"].body
        assert has_call == ("mcp_servers" in scenario.params["json"])
        seen.add(has_call)

    check()
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("api", "ran", "declared"),
    [
        (("anthropic", "messages"), b'"name": "web_search"', "web_search_20250305"),
        (("anthropic", "messages"), b'"name": "bash_code_execution"', "code_execution_20250825"),
        (("openai", "responses"), b'"file_search_call"', "file_search"),
        (("bedrock", "converse"), b'"nova_grounding"', "nova_grounding"),
    ],
)
def test_a_tool_that_the_provider_runs_is_in_the_request(api: tuple[str, str], ran: bytes, declared: str) -> None:
    seen = set()

    @settings(max_examples=150, derandomize=True, deadline=None, database=None)
    @given(THEMES[0].scenarios(table()[api], "json"))
    def check(scenario: Scenario) -> None:
        has_run = ran in scenario.interactions["json"].body
        assert not has_run or declared in json.dumps(scenario.params["json"])
        assert not (has_run and scenario.tools)
        seen.add(has_run)

    check()
    assert seen == {True, False}


def test_thinking_was_asked_for() -> None:
    seen = set()

    @settings(max_examples=100, derandomize=True, deadline=None, database=None)
    @given(THEMES[0].scenarios(table()["anthropic", "messages"], "json"))
    def check(scenario: Scenario) -> None:
        body = scenario.interactions["json"].body
        thinks = b'"type": "thinking"' in body or b'"type": "redacted_thinking"' in body
        assert thinks == ("thinking" in scenario.params["json"])
        seen.add(thinks)

    check()
    assert seen == {True, False}


def test_a_model_that_thinks_only_if_it_is_asked_to_is_asked_to() -> None:
    seen = set()
    for scenario, mode in drawn(table()["mistral", "chat"]):
        thinks = b'"thinking"' in scenario.interactions[mode].body
        assert thinks <= (scenario.params[mode].get("reasoning_effort") == "high")
        assert scenario.model != "mistral-large-2512" or not thinks
        seen.add(thinks)
    assert seen == {True, False}


def test_a_model_that_has_been_removed_is_not_asked() -> None:
    """Mistral's models of June 2025 wrote think tags; nobody has been able to ask them since November 2025."""
    mistral = table()["mistral", "chat"]
    assert mistral.stated_profile("magistral-medium-2506") == "leading"
    scenarios = [scenario for scenario, _ in drawn(mistral)]
    assert scenarios
    assert not any("2506" in scenario.model or scenario.think_profile != "off" for scenario in scenarios)
