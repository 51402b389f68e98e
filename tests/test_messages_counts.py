"""Anthropic's messages: what stands beside the token counts agrees with them, and with the model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from llm_conformance.formats.recognisers import recognise
from llm_conformance.generate.ids import has_form
from llm_conformance.wire.answers import documents
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from tests.draws import interactions, theme_named

pytestmark = pytest.mark.usefixtures("same_draw")

ANTHROPIC = table()["anthropic", "messages"]
INVOKE = table()["bedrock", "invoke"]
APIS = [api for api in table().values() if api.wire == "messages"]
USAGE = theme_named("usage")
STATUSES = theme_named("statuses")


def events(api: Api, kind: str) -> Iterator[list[Any]]:
    """Yield the events of one type of each drawn stream."""
    for interaction in interactions("usage", api, "stream"):
        yield [each for each in documents(interaction) if isinstance(each, dict) and each.get("type") == kind]


def altered(interaction: Interaction, **usage: Any) -> Interaction:
    body = json.loads(interaction.body)
    body["usage"] |= usage
    return replace(interaction, body=json.dumps(body).encode())


@pytest.mark.parametrize("api", [ANTHROPIC, INVOKE], ids=str)
def test_the_parts_of_what_was_written_to_the_cache_add_up(api: Api) -> None:
    usages = [json.loads(each.body)["usage"] for each in interactions("usage", api, "json")]
    usages += [event["message"]["usage"] for found in events(api, "message_start") for event in found]
    written = [usage for usage in usages if "cache_creation" in usage]
    assert any(usage["cache_creation_input_tokens"] for usage in written)
    assert all(sum(usage["cache_creation"].values()) == usage["cache_creation_input_tokens"] for usage in written)
    assert any(usage["cache_creation"]["ephemeral_1h_input_tokens"] for usage in written)
    assert not any("cache_creation" in event["usage"] for found in events(api, "message_delta") for event in found)


def test_parts_that_do_not_add_up_are_recognised() -> None:
    (own, *_) = interactions("usage", ANTHROPIC, "json")
    parts = {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 1}
    wrong = altered(own, cache_creation_input_tokens=9, cache_creation=parts)
    assert [str(way) for way in recognise(ANTHROPIC, wrong) if way.source is None] == ["cache creation: not the sum"]
    of_a_search = altered(own, cache_creation_input_tokens=9, cache_creation=dict.fromkeys(parts, 0))
    assert "cache creation: zeros" in map(str, recognise(ANTHROPIC, of_a_search))


@pytest.mark.parametrize("api", APIS, ids=str)
def test_a_stream_begins_with_few_output_tokens(api: Api) -> None:
    begun = {event["message"]["usage"]["output_tokens"] for found in events(api, "message_start") for event in found}
    assert begun <= set(range(9))
    few = "a few" in api.varies.get("output of message_start", {"a few": ""})
    assert (len(begun) > 2) == few
    assert few or begun == {0}


def test_both_ends_of_a_stream_have_the_same_kind_of_stop_details() -> None:
    kinds = set()
    for interaction in interactions("usage", ANTHROPIC, "stream"):
        found = {each["type"]: each for each in documents(interaction) if each != "[DONE]"}
        begun, ended = found["message_start"]["message"], found["message_delta"]["delta"]
        assert ("stop_details" in begun) == ("stop_details" in ended)
        kinds.add("stop_details" in begun)
        if ended["stop_reason"] == "refusal" and "stop_details" in ended:
            assert ended["stop_details"]["type"] == "refusal"
    assert kinds == {True, False}


def test_the_metrics_of_bedrock_agree_with_the_counts() -> None:
    seen = set()
    for interaction in interactions("usage", INVOKE, "stream"):
        found = {each["type"]: each for each in documents(interaction)}
        metrics = found["message_stop"]["amazon-bedrock-invocationMetrics"]
        usage = found["message_start"]["message"]["usage"] | found["message_delta"]["usage"]
        assert metrics["inputTokenCount"] == usage["input_tokens"]
        assert metrics["outputTokenCount"] == usage["output_tokens"]
        assert metrics.get("cacheReadInputTokenCount", 0) == usage["cache_read_input_tokens"]
        assert metrics.get("cacheWriteInputTokenCount", 0) == usage["cache_creation_input_tokens"]
        seen.add("cacheReadInputTokenCount" in metrics)
    assert True in seen
    assert not any(
        "amazon-bedrock-invocationMetrics" in event for found in events(ANTHROPIC, "message_stop") for event in found
    )


def test_the_counts_fit_the_model() -> None:
    for mode in USAGE.modes:
        for interaction in interactions("usage", ANTHROPIC, mode):
            text = interaction.body.decode()
            place = "not_available" if interaction.request["model"] == "claude-haiku-4-5" else "global"
            assert set(re.findall(r'"inference_geo": "(\w+)"', text)) == {place}
            assert "cache_creation_input_tokens" in text
            if place == "not_available":
                assert "output_tokens_details" not in text


@pytest.mark.parametrize(
    ("provider", "name", "field"), [("anthropic", "messages", "request_id"), ("snowflake", "chat", "request_id")]
)
def test_errors_have_ids_of_requests(provider: str, name: str, field: str) -> None:
    api = table()[provider, name]
    found = []
    for scenario in STATUSES.all_listed(api, "json"):
        interaction = scenario.interactions["json"]
        if field.encode() in interaction.body:
            found.append(json.loads(interaction.body)[field])
    assert found
    assert all(has_form(api, "request", id) for id in found)
