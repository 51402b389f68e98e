"""Generated answers with tools that the provider runs: in the order, and with the ids and arguments, of real ones."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from tests.draws import interactions

pytestmark = pytest.mark.usefixtures("same_draw")

ANTHROPIC = table()["anthropic", "messages"]
OPENAI = table()["openai", "responses"]
EXAMPLES = 120


def bodies(api: Api, theme: str) -> Iterator[Mapping[str, Any]]:
    for interaction in interactions(theme, api, "json", EXAMPLES):
        yield json.loads(interaction.body)


def contents(theme: str) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield the finish word and the content of Claude's answers."""
    for body in bodies(ANTHROPIC, theme):
        yield body["stop_reason"], body["content"]


@pytest.mark.parametrize("theme", ["answers", "citations"])
def test_claude_cites_a_web_page_only_behind_a_search_that_has_found_it(theme: str) -> None:
    cited = 0
    for _, content in contents(theme):
        for number, block in enumerate(content):
            kinds = {each["type"] for each in block.get("citations") or ()}
            if "web_search_result_location" in kinds:
                before = [each for each in content[:number] if each["type"] == "web_search_tool_result"]
                assert any(isinstance(each["content"], list) for each in before)
                cited += 1
    assert cited


def test_calls_of_hosted_tools_have_the_ids_and_the_arguments_of_their_tool() -> None:
    arguments = {"web_search": "query", "web_fetch": "url", "bash_code_execution": "command", "tide_level": "place"}
    seen = set()
    for _, content in contents("answers"):
        for block in content:
            if block["type"] in ("server_tool_use", "mcp_tool_use"):
                prefix = "mcptoolu_01" if block["type"] == "mcp_tool_use" else "srvtoolu_01"
                assert block["id"].startswith(prefix)
                assert list(block["input"]) == [arguments[block["name"]]]
                seen.add(block["name"])
    assert seen == {*arguments}


def test_claude_does_not_think_behind_text_nor_at_the_end() -> None:
    ends = set()
    for word, content in contents("answers"):
        for block, following in itertools.pairwise(content):
            has_spoken = block["type"] == "text" and block["text"].strip()
            assert not (has_spoken and "thinking" in following["type"])
        if content and ("thinking" in content[-1]["type"] or content[-1]["type"].endswith("_result")):
            assert word in ("max_tokens", "model_context_window_exceeded")
            ends.add(content[-1]["type"].rpartition("_")[2])
    assert ends == {"thinking", "result"}


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize("api", [OPENAI, table()["azure", "responses"], table()["xai", "responses"]], ids=str)
@pytest.mark.parametrize("theme", ["answers", "citations"])
def test_links_are_cited_only_behind_a_search(api: Api, theme: str) -> None:
    cited = 0
    for body in bodies(api, theme):
        kinds = [item["type"] for item in body["output"]]
        for number, item in enumerate(body["output"]):
            parts = item.get("content") or ()
            if any(part.get("annotations") for part in parts):
                assert "web_search_call" in kinds[:number]
                cited += 1
    assert cited > 5


def test_nova_cites_the_web_only_behind_its_search() -> None:
    cited = 0
    for body in bodies(table()["bedrock", "converse"], "citations"):
        content = body["output"]["message"]["content"]
        for number, block in enumerate(content):
            places = (each["location"] for each in block.get("citationsContent", {}).get("citations", ()))
            if any("web" in place for place in places):
                assert any(each.get("toolResult", {}).get("status") == "success" for each in content[:number])
                cited += 1
    assert cited > 5


def test_a_response_that_is_complete_ends_with_words_or_a_call() -> None:
    ended = set()
    for body in bodies(OPENAI, "answers"):
        last = body["output"][-1]["type"] if body["output"] else None
        if body["status"] == "completed":
            assert last in ("message", "function_call", None)
        ended.add((body["status"], last))
    assert {("incomplete", "reasoning"), ("incomplete", "web_search_call")} <= ended


def test_a_response_repeats_the_tools_of_its_request() -> None:
    seen = set()
    for theme in ("answers", "second-turns"):
        for interaction in interactions(theme, OPENAI, "json", EXAMPLES):
            asked = [tool["type"] for tool in interaction.request.get("tools") or ()]
            assert [tool["type"] for tool in json.loads(interaction.body)["tools"]] == asked
            seen |= {*asked}
    assert {"function", "web_search", "file_search"} <= seen


def test_words_beside_reasoning_are_a_token_at_least() -> None:
    counted = 0
    for body in bodies(OPENAI, "answers"):
        usage = body["usage"]
        shows = any(item["type"] in ("message", "function_call") for item in body["output"])
        if shows and usage["output_tokens_details"]["reasoning_tokens"]:
            assert usage["output_tokens_details"]["reasoning_tokens"] < usage["output_tokens"]
            counted += 1
    assert counted > 5
