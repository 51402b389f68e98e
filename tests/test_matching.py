"""Which recording answers a request depends on its path, query, headers and body."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.formats.differences import difference
from llm_conformance.replay import matching
from llm_conformance.replay.open_exchange import OpenExchange
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.table import table


@pytest.fixture(scope="module")
def by_id(scenarios: list[Scenario]) -> dict[str, Scenario]:
    return {scenario.id: scenario for scenario in scenarios}


def recorded(scenario: Scenario, *without: str) -> dict[str, Any]:
    """Return the body of a recorded request without some fields."""
    request = next(iter(scenario.interactions.values())).request
    return {key: value for key, value in request.items() if key not in ("stream", "stream_options", *without)}


def after_request(scenario: Scenario, target: str, body: dict[str, Any]) -> OpenExchange:
    """Return an exchange after a request."""
    exchange = OpenExchange(scenario, "http://replay.test/exchange-1")
    exchange.recording_for(target, dict.fromkeys(scenario.api.key_headers, CANARY_KEY), json.dumps(body).encode())
    return exchange


@pytest.mark.parametrize(
    ("target", "mode"),
    [
        ("/v1beta/models/gemini-2.5-flash-lite:generateContent", "json"),
        ("/v1beta/models/gemini-2.5-flash-lite:streamGenerateContent?alt=sse", "stream"),
        ("/v1/models/gemini-2.5-flash-lite:streamGenerateContent?key=x&alt=sse", "stream"),
        ("/v1beta/models/gemini-2.5-flash-lite%3AgenerateContent", "json"),
        ("/v1beta/models/gemini-2.5-flash-lite:streamGenerateContent", None),
        ("/v1beta/models/gemini-2.5-pro:generateContent", None),
        ("/v2/models/gemini-2.5-flash-lite:generateContent", None),
    ],
)
def test_a_path_may_name_model_and_mode(by_id: dict[str, Scenario], target: str, mode: str | None) -> None:
    scenario = by_id["gemini/text-with-growing-usage"]
    exchange = after_request(scenario, target, recorded(scenario))
    assert exchange.mode == mode
    assert (exchange.difference is None) == (mode is not None)


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/openai/deployments/pegel-4o-mini/chat/completions?api-version=2024-10-21", {}),
        ("/chat/completions", {"model": "pegel-4o-mini"}),
        ("/openai/v1/chat/completions", {"model": "pegel-4o-mini"}),
        ("/openai/deployments/another/chat/completions", None),
    ],
)
def test_the_model_may_be_in_the_path_or_in_the_body(
    by_id: dict[str, Scenario], target: str, body: dict[str, Any] | None
) -> None:
    scenario = by_id["azure/call-from-a-deployment"]
    request = recorded(scenario, "model") | (body or {})
    assert after_request(scenario, target, request).mode == (None if body is None else "json")


@pytest.mark.parametrize(
    ("target", "mode"),
    [
        ("/publishers/google/models/gemini-2.5-flash:generateContent", "json"),
        ("/v1/projects/mine/locations/global/publishers/google/models/gemini-2.5-flash:generateContent", "json"),
        ("/v1beta1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "stream"),
        ("/v1/projects/my/own/locations/global/publishers/google/models/gemini-2.5-flash:generateContent", None),
    ],
)
def test_any_project_and_location_is_accepted(by_id: dict[str, Scenario], target: str, mode: str | None) -> None:
    scenario = by_id["vertex/generate-traffic-type-without-counts"]
    assert after_request(scenario, target, recorded(scenario)).mode == mode


def test_a_refusal_says_what_was_recorded(by_id: dict[str, Scenario]) -> None:
    scenario = by_id["gemini/text-with-growing-usage"]
    target = "/v1beta/models/gemini-2.5-flash-lite:streamGenerateContent"
    exchange = after_request(scenario, target, recorded(scenario))
    assert exchange.difference is not None
    assert "recorded was POST {base_url}/v1beta/models/gemini-2.5-flash-lite:generateContent or" in str(
        exchange.difference
    )
    assert "{base_url}/v1beta/models/gemini-2.5-flash-lite:streamGenerateContent?alt=sse" in str(exchange.difference)


def test_a_model_with_slashes_may_be_quoted(by_id: dict[str, Scenario]) -> None:
    scenario = by_id["cloudflare/run-think-tags-in-response"]
    body = recorded(scenario)
    assert after_request(scenario, "/ai/run/@cf/qwen/qwq-32b", body).mode == "json"
    assert after_request(scenario, "/ai/run/%40cf/qwen/qwq-32b", body | {"stream": True}).mode == "stream"


def test_stream_options_are_compared_in_streams_only(by_id: dict[str, Scenario]) -> None:
    scenario = by_id["groq/reasoning-parsed-usage-said-twice"]
    body = recorded(scenario)
    assert after_request(scenario, "/chat/completions", body).mode == "json"
    without_usage = after_request(scenario, "/chat/completions", body | {"stream": True})
    assert str(without_usage.difference).startswith("the adapter sent no switch for token counts of the stream")
    with_usage = body | {"stream": True, "stream_options": {"include_usage": True}}
    assert after_request(scenario, "/chat/completions", with_usage).mode == "stream"


def test_fields_of_a_request_may_be_in_snake_case(by_id: dict[str, Scenario]) -> None:
    scenario = by_id["gemini/text-with-growing-usage"]
    contents = recorded(scenario)["contents"]
    body = {"contents": contents, "generation_config": {"max_output_tokens": 9}}
    exchange = after_request(scenario, f"/v1beta/models/{scenario.model}:generateContent", body)
    assert exchange.request == {"contents": contents, "generationConfig": {"maxOutputTokens": 9}}


@pytest.mark.parametrize(
    ("id", "target", "headers", "has_key"),
    [
        ("deepseek/connection-refused", "/chat/completions", {"authorization": f"Bearer {CANARY_KEY}"}, True),
        ("deepseek/connection-refused", "/chat/completions", {"x-api-key": CANARY_KEY}, False),
        ("deepseek/connection-refused", "/chat/completions", {"authorization": "Bearer sk-other"}, False),
        ("deepseek/connection-refused", "/chat/completions", {}, False),
        ("gemini/unknown-part", f"/v1beta/models/gemini-2.5-flash-lite:generateContent?key={CANARY_KEY}", {}, True),
    ],
)
def test_the_key_must_be_where_the_provider_reads_it(
    by_id: dict[str, Scenario], id: str, target: str, headers: dict[str, str], has_key: bool
) -> None:
    exchange = OpenExchange(by_id[id], "http://replay.test/exchange-1")
    exchange.recording_for(target, headers, json.dumps({"model": by_id[id].model}).encode())
    assert ("sent no call.api_key" in str(exchange.difference)) != has_key


def test_a_mode_without_recording_is_no_mismatch(by_id: dict[str, Scenario]) -> None:
    scenario = by_id["cohere/error-in-message-end"]
    exchange = after_request(scenario, "/v2/chat", recorded(scenario))
    assert (exchange.missing_mode, exchange.mode, exchange.difference) == ("json", None, None)


@pytest.mark.parametrize(
    ("id", "target"),
    [
        # A prefix that the library hard-codes, beside the one in the base URL.
        ("openai/citation-marks-whole-link", "/v1/chat/completions"),
        ("openai/citation-marks-whole-link", "/api/v1/chat/completions"),
        ("openai/citation-marks-whole-link", "/openai/deployments/{model}/chat/completions"),
        ("groq/error-event-in-mid-stream", "/openai/v1/chat/completions"),
        ("groq/error-event-in-mid-stream", "/v1/chat/completions"),
        ("zai/{any}", "/api/paas/v4/chat/completions"),
        ("zai/{any}", "/v4/chat/completions"),
        ("gemini/text-with-growing-usage", "/v1beta/v1beta/models/{model}:generateContent"),
        ("cloudflare/run-think-tags-in-response", "/client/v4/accounts/mine/ai/run/{model}"),
        ("deepseek/stream-cut-in-the-text", "/v1/chat/completions"),
        # The API's own prefix, which the library counts as a part of the base URL.
        ("anthropic/overloaded-mid-stream", "/messages"),
        ("gemini/text-with-growing-usage", "/models/{model}:generateContent"),
        ("ollama/error-in-a-line-of-the-stream", "/chat"),
        ("cohere/error-in-message-end", "/chat"),
    ],
)
def test_a_prefix_may_be_there_twice_or_not_at_all(by_id: dict[str, Scenario], id: str, target: str) -> None:
    id = next(each for each in sorted(by_id) if each.startswith(id.replace("{any}", "")))
    scenario = by_id[id]
    assert matching.modes_at(target.replace("{model}", scenario.model), scenario)


@pytest.mark.parametrize(
    ("id", "target"),
    [
        ("cohere/error-in-message-end", "/v1/chat"),  # another API
        ("openai/citation-marks-whole-link", "/v2/chat/completions"),
        ("openai/citation-marks-whole-link", "/responses"),
        ("openai/citation-marks-whole-link", "/v1/completions"),
        ("openai/citation-marks-whole-link", "/openai/deployments/another/chat/completions"),
        ("anthropic/overloaded-mid-stream", "/v2/messages"),
        ("anthropic/overloaded-mid-stream", "/v1/messages/count_tokens"),
        ("gemini/text-with-growing-usage", "/v2/models/gemini-2.5-flash-lite:generateContent"),
    ],
)
def test_another_api_is_refused_whatever_its_prefix(by_id: dict[str, Scenario], id: str, target: str) -> None:
    assert not matching.modes_at(target, by_id[id])


def test_what_was_recorded_is_shown_with_documented_paths_only(by_id: dict[str, Scenario]) -> None:
    assert matching.recorded_requests(by_id["openai/citation-marks-whole-link"]) == "POST {base_url}/chat/completions"


@pytest.mark.parametrize(
    ("provider", "api", "field", "summary"),
    [
        (
            "anthropic",
            "messages",
            "messages",
            {"role": "assistant", "content": [{"type": "compaction", "content": "Oslo"}]},
        ),
        ("openai", "responses", "input", {"type": "compaction", "encrypted_content": "gAAA"}),
    ],
)
def test_what_a_compaction_stands_for_may_be_left_out(provider: str, api: str, field: str, summary: Any) -> None:
    before, after = {"role": "user", "content": "Where is it?"}, {"role": "user", "content": "And how cold?"}
    row = table()[provider, api]
    whole, short = {field: [before, summary, after]}, {field: [summary, after]}
    assert difference(short, whole, row) is None
    assert difference(whole, short, row) is None
    assert difference({field: [before, after]}, whole, row) is not None
    assert difference({field: [before, summary]}, whole, row) is not None
