"""Generated calls ask for what their answers have."""

from __future__ import annotations

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
