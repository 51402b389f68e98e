"""Which recording a request is answered with: by its path, its query, its body."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.locations import CASSETTES
from llm_conformance.replay.matching import Serving
from llm_conformance.scenarios import lint
from llm_conformance.scenarios.scenario import Scenario

BODY: dict[str, Any] = {"contents": []}


@pytest.fixture(scope="module")
def by_id() -> dict[str, Scenario]:
    return {scenario.id: scenario for scenario in lint.load_all([CASSETTES])}


def asked(scenario: Scenario, target: str, body: dict[str, Any]) -> Serving:
    """Return what became of a request."""
    serving = Serving(scenario, "http://replay.test/exchange-1", holds=False)
    serving.choose(target, dict.fromkeys(scenario.api.key_headers, CANARY_KEY), json.dumps(body).encode())
    return serving


@pytest.mark.parametrize(
    ("target", "mode"),
    [
        ("/v1beta/models/gemini-2.5-flash:generateContent", "json"),
        ("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "stream"),
        ("/v1/models/gemini-2.5-flash:streamGenerateContent?key=x&alt=sse", "stream"),
        ("/v1beta/models/gemini-2.5-flash%3AgenerateContent", "json"),
        ("/v1beta/models/gemini-2.5-flash:streamGenerateContent", None),
        ("/v1beta/models/gemini-2.5-pro:generateContent", None),
        ("/v2/models/gemini-2.5-flash:generateContent", None),
    ],
)
def test_a_path_may_name_model_and_mode(by_id: dict[str, Scenario], target: str, mode: str | None) -> None:
    serving = asked(by_id["gemini/text-with-growing-usage"], target, BODY)
    assert serving.mode == mode
    assert (serving.mismatch is None) == (mode is not None)


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/openai/deployments/pegel-4o-mini/chat/completions?api-version=2024-10-21", {}),
        ("/chat/completions", {"model": "pegel-4o-mini"}),
        ("/openai/v1/chat/completions", {"model": "pegel-4o-mini"}),
        ("/openai/deployments/another/chat/completions", None),
    ],
)
def test_a_model_may_stand_in_the_path_or_in_the_body(
    by_id: dict[str, Scenario], target: str, body: dict[str, Any] | None
) -> None:
    scenario = by_id["azure/call-from-a-deployment"]
    tools = {"tools": scenario.interactions["json"].request["tools"]}
    assert asked(scenario, target, tools | (body or {})).mode == (None if body is None else "json")


@pytest.mark.parametrize(
    ("target", "mode"),
    [
        ("/publishers/google/models/gemini-2.5-flash:generateContent", "json"),
        ("/v1/projects/mine/locations/global/publishers/google/models/gemini-2.5-flash:generateContent", "json"),
        ("/v1beta1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "stream"),
        ("/v1/projects/my/own/locations/global/publishers/google/models/gemini-2.5-flash:generateContent", None),
    ],
)
def test_project_and_location_may_be_anyones(by_id: dict[str, Scenario], target: str, mode: str | None) -> None:
    assert asked(by_id["vertex/generate-traffic-type-without-counts"], target, BODY).mode == mode


def test_a_refusal_says_what_was_recorded(by_id: dict[str, Scenario]) -> None:
    serving = asked(
        by_id["gemini/text-with-growing-usage"], "/v1beta/models/gemini-2.5-flash:streamGenerateContent", BODY
    )
    assert serving.mismatch is not None
    assert "recorded was POST {base_url}/v1beta/models/gemini-2.5-flash:generateContent or" in serving.mismatch
    assert "{base_url}/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse" in serving.mismatch


def test_an_account_may_be_anyones_and_a_model_has_slashes(by_id: dict[str, Scenario]) -> None:
    scenario = by_id["cloudflare/run-think-tags-in-response"]
    assert asked(scenario, "/ai/run/@cf/zai-org/glm-5.2", {"messages": []}).mode == "json"
    assert asked(scenario, "/ai/run/%40cf/zai-org/glm-5.2", {"messages": [], "stream": True}).mode == "stream"


def test_what_only_streams_are_asked_for_is_matched_in_streams(by_id: dict[str, Scenario]) -> None:
    scenario = by_id["groq/reasoning-parsed-usage-said-twice"]
    said = {"model": scenario.model, "reasoning_format": "parsed"}
    assert asked(scenario, "/chat/completions", said).mode == "json"
    lacking = asked(scenario, "/chat/completions", said | {"stream": True})
    assert lacking.mismatch == "the adapter sent /stream_options/include_usage = null; recorded was true"
    whole = said | {"stream": True, "stream_options": {"include_usage": True}}
    assert asked(scenario, "/chat/completions", whole).mode == "stream"


def test_fields_of_a_request_may_have_the_names_of_the_protocol(by_id: dict[str, Scenario]) -> None:
    scenario = by_id["gemini/text-with-growing-usage"]
    call = {"function_call": {"name": "tide"}, "thought_signature": "c2ln"}
    body = {"contents": [{"role": "model", "parts": [call]}], "generation_config": {"max_output_tokens": 9}}
    serving = asked(scenario, f"/v1beta/models/{scenario.model}:generateContent", body)
    assert serving.sent == {
        "contents": [{"role": "model", "parts": [{"functionCall": {"name": "tide"}, "thoughtSignature": "c2ln"}]}],
        "generationConfig": {"maxOutputTokens": 9},
    }


@pytest.mark.parametrize(
    ("id", "target", "headers", "is_let_in"),
    [
        ("deepseek/connection-refused", "/chat/completions", {"authorization": f"Bearer {CANARY_KEY}"}, True),
        ("deepseek/connection-refused", "/chat/completions", {"x-api-key": CANARY_KEY}, False),
        ("deepseek/connection-refused", "/chat/completions", {"authorization": "Bearer sk-other"}, False),
        ("deepseek/connection-refused", "/chat/completions", {}, False),
        ("gemini/unknown-part", f"/v1beta/models/gemini-2.5-flash:generateContent?key={CANARY_KEY}", {}, True),
    ],
)
def test_the_key_is_wanted_where_the_provider_wants_it(
    by_id: dict[str, Scenario], id: str, target: str, headers: dict[str, str], is_let_in: bool
) -> None:
    serving = Serving(by_id[id], "http://replay.test/exchange-1", holds=False)
    serving.choose(target, headers, json.dumps({"model": by_id[id].model}).encode())
    assert ("sent no call.api_key" in (serving.mismatch or "")) != is_let_in


def test_a_mode_that_was_not_recorded_is_lacking(by_id: dict[str, Scenario]) -> None:
    scenario = by_id["cohere/error-in-message-end"]
    serving = asked(scenario, "/v2/chat", {"model": scenario.model})
    assert (serving.lacking, serving.mode, serving.mismatch) == ("json", None, None)
