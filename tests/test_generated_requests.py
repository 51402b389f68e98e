"""Generated calls ask for what their answers have."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.providers.table import table


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
        assert has_run == (declared in json.dumps(scenario.params["json"]))
        assert not (has_run and scenario.tools)
        seen.add(has_run)

    check()
    assert seen == {True, False}
