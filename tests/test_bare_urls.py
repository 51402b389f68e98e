"""Bare recordings: the URL of a request says which API it was sent to, through a gateway and in one's own network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llm_conformance.scenarios.bare import NotJudged
from llm_conformance.wire.providers import other_services, recorded_urls
from tests.bare_cassettes import CITED, only, scenario, write

PROJECT = "projects/p/locations/eu"
CLOUDFLARE = "https://gateway.ai.cloudflare.com/v1/account/gateway"
GEMINI = "https://generativelanguage.googleapis.com"


@pytest.mark.parametrize(
    ("uri", "api"),
    [
        ("https://eu.api.openai.com/v1/chat/completions", "openai:chat"),
        ("https://us.api.openai.com/v1/responses", "openai:responses"),
        ("https://api.openai.com:443/v1/chat/completions", "openai:chat"),
        ("https://api.openai.com/v1//chat/completions", "openai:chat"),
        ("https://r.openai.azure.com//openai/deployments/d/chat/completions?api-version=1", "azure:chat"),
        ("https://r.openai.azure.com/openai/v1/chat/completions?api-version=preview", "azure:chat"),
        ("https://r.openai.azure.com/openai/deployments/d/responses?api-version=1", "azure:responses"),
        ("https://eastus.api.cognitive.microsoft.com/openai/deployments/d/chat/completions", "azure:chat"),
        ("https://r.services.ai.azure.com/api/projects/p/openai/v1/responses", "azure:responses"),
        ("https://api.deepseek.com/beta/chat/completions", "deepseek:chat"),
        ("https://us-east-1.api.x.ai/v1/responses", "xai:responses"),
        ("https://api.mistral.ai/v1/agents/completions", "mistral:chat"),
        ("https://codestral.mistral.ai/v1/chat/completions", "mistral:chat"),
        ("https://open.bigmodel.cn/api/paas/v4/chat/completions", "zai:chat"),
        ("https://router.huggingface.co/nscale/v1/chat/completions", "huggingface:chat"),
        ("https://router.huggingface.co/hf-inference/models/a/b/v1/chat/completions", "huggingface:chat"),
        ("https://abc.us-east-1.aws.endpoints.huggingface.cloud/v1/chat/completions", "huggingface:chat"),
        (
            f"https://aiplatform.eu.rep.googleapis.com/v1/{PROJECT}/publishers/google/models/m:generateContent",
            "vertex:generate",
        ),
        (
            f"https://eu-aiplatform.googleapis.com/v1/{PROJECT}/publishers/google/models/m:streamGenerateContent",
            "vertex:array",
        ),
        (f"{GEMINI}/v1alpha/models/m:streamGenerateContent?alt=sse", "gemini:generate"),
        (f"{GEMINI}/v1alpha/models/m:streamGenerateContent", "gemini:array"),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1/responses", "bedrock:responses"),
        ("https://bedrock-runtime.eu-1.amazonaws.com/model/us.amazon.nova-lite-v1%3A0/invoke", "bedrock:nova"),
        ("https://bedrock-runtime.eu-1.amazonaws.com/model/us.anthropic.claude-sonnet-5/invoke", "bedrock:invoke"),
        ("https://bedrock-runtime.eu-1.amazonaws.com/model/a-profile-of-ones-own/invoke", "bedrock:invoke"),
    ],
)
def test_a_documented_url_names_its_api(uri: str, api: str) -> None:
    assert api_at(uri) == api


@pytest.mark.parametrize(
    ("path", "api"),
    [
        ("openai/chat/completions", "openai:chat"),
        ("openai/responses", "openai:responses"),
        ("anthropic/v1/messages", "anthropic:messages"),
        ("azure-openai/resource/deployment/chat/completions?api-version=1", "azure:chat"),
        ("aws-bedrock/bedrock-runtime/us-east-1/model/m/converse", "bedrock:converse"),
        ("aws-bedrock/bedrock-mantle/us-east-1/v1/chat/completions", "bedrock:chat"),
        ("google-ai-studio/v1beta/models/m:generateContent", "gemini:generate"),
        ("grok/v1/chat/completions", "xai:chat"),
        ("grok/chat/completions", "xai:chat"),
        ("openrouter/chat/completions", "openrouter:chat"),
        ("workers-ai/v1/chat/completions", "cloudflare:chat"),
        ("workers-ai/@cf/acme/chat", "cloudflare:run"),
        ("compat/chat/completions", None),
        ("stranger/chat/completions", None),
    ],
)
def test_cloudflares_gateway_passes_on_what_a_provider_answers(path: str, api: str | None) -> None:
    assert api_at(f"{CLOUDFLARE}/{path}") == api


@pytest.mark.parametrize(
    ("uri", "api"),
    [
        ("http://localhost:9999/v1/chat/completions", "local:chat"),
        ("http://192.168.1.7:4000/chat/completions", "local:chat"),
        ("http://host.docker.internal:8080/v1/chat/completions", "local:chat"),
        ("http://[::1]:8080/v1/responses", "local:responses"),
        ("http://ollama:11434/api/chat", "ollama:chat"),
        ("http://localhost:9999/v1/completions", "local:completions"),
        ("http://ollama:11434/api/generate", "ollama:generate"),
        ("http://localhost:9999/v1/messages", None),
        ("https://api.acme.test/v1/chat/completions", None),
        ("http://8.8.8.8/v1/chat/completions", None),
        ("http://[bad/v1/chat/completions", None),
    ],
)
def test_a_path_names_the_api_of_a_server_in_ones_own_network(uri: str, api: str | None) -> None:
    assert api_at(uri) == api


def test_a_finish_word_of_such_a_server_is_not_judged_if_nobody_knows_it(tmp_path: Path) -> None:
    answer = json.loads(json.dumps(CITED))
    answer["choices"][0]["finish_reason"] = "eos"
    request = {"uri": "http://localhost:9999/v1/chat/completions"}
    expected = scenario(write(tmp_path, answer, request=request)).expected["json"]
    assert "finish_reason" not in expected.stated
    assert expected.raw_finish_reasons == ("eos",)
    answer["choices"][0]["finish_reason"] = "stop"
    assert "finish_reason" in scenario(write(tmp_path, answer, request=request)).expected["json"].stated


def test_a_request_goes_to_the_url_of_the_provider_table(tmp_path: Path) -> None:
    uri = f"{CLOUDFLARE}/openai/chat/completions"
    found = scenario(write(tmp_path, CITED, request={"uri": uri}))
    assert found.interactions["json"].uri == "https://api.openai.com/v1/chat/completions"
    assert not found.cannot_be_asked


def test_an_unknown_host_is_out_of_scope(tmp_path: Path) -> None:
    found = only(write(tmp_path, CITED, request={"uri": "https://api.acme.test/v1/chat/completions"}))
    assert isinstance(found, NotJudged)
    assert found.unknown_at == "api.acme.test/v1/chat/completions"
    assert found.why == "the provider table has no API at api.acme.test/v1/chat/completions"


@pytest.mark.parametrize(
    ("uri", "service"),
    [
        ("https://api.openai.com/v1/embeddings", "embeddings"),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents",
            "embeddings",
        ),
        ("https://aiplatform.googleapis.com/v1/publishers/google/models/text-embedding-004:predict", "embeddings"),
        ("https://bedrock-runtime.eu-1.amazonaws.com/model/amazon.titan-embed-text-v1/invoke", "embeddings"),
        ("https://bedrock-runtime.eu-1.amazonaws.com/model/cohere.rerank-v3-5%3A0/invoke", "reranking"),
        ("https://api.openai.com/v1/responses/input_tokens", "counts of tokens"),
        ("https://api.anthropic.com/v1/files/file_1", "files"),
        ("https://api.openai.com/v1/threads/t/runs", "assistants and threads"),
        ("https://bedrock-agent-runtime.eu-1.amazonaws.com/retrieveAndGenerate", "agents and knowledge bases"),
        ("https://telemetry.acme.test:4319/v1/anything", "traces and telemetry"),
        ("http://localhost:11434/api/show", "lists of models"),
        ("https://oauth2.googleapis.com/token", "signing in"),
        ("https://api.openai.com/v1/chat/completions", None),
        ("https://generativelanguage.googleapis.com/v1/models/gemini-embedding-chat:generateContent", None),
        ("https://bedrock-runtime.eu-1.amazonaws.com/model/m/invoke", None),
        ("http://[bad/v1/files", None),
    ],
)
def test_services_that_answer_no_conversation_are_named(uri: str, service: str | None) -> None:
    assert other_services.service_at(uri, {}) == service


def test_the_request_decides_where_a_model_takes_prompts_and_messages() -> None:
    uri = "https://bedrock-runtime.eu-1.amazonaws.com/model/anthropic.claude-v2%3A1/invoke"
    of_a_prompt = recorded_urls.recognise(uri, {"prompt": "Human: a", "max_tokens_to_sample": 1})
    of_messages = recorded_urls.recognise(uri, {"messages": [], "max_tokens": 1})
    assert of_a_prompt is not None
    assert of_messages is not None
    assert (str(of_a_prompt.api), str(of_messages.api)) == ("bedrock:complete", "bedrock:invoke")


def test_what_agents_send_each_other_is_no_call_of_a_model(tmp_path: Path) -> None:
    request = {"uri": "http://localhost:9999/", "body": json.dumps({"jsonrpc": "2.0", "method": "message/send"})}
    found = only(write(tmp_path, CITED, request=request))
    assert isinstance(found, NotJudged)
    assert found.why == "calls between agents: no call of a model"


def test_a_stored_answer_is_read_and_cannot_be_asked(tmp_path: Path) -> None:
    answer = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1700000000,
        "status": "completed",
        "model": "gpt-5",
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "a", "annotations": []}],
            }
        ],
        "usage": None,
    }
    found = scenario(
        write(tmp_path, answer, request={"uri": "https://api.openai.com/v1/responses/resp_1", "body": None})
    )
    assert str(found.api) == "openai:responses"
    assert found.cannot_be_asked == "the request fetches the answer of an earlier call"


def api_at(uri: str) -> str | None:
    """Return `provider:api` of a recorded URL, None if it is not known."""
    known = recorded_urls.recognise(uri)
    return None if known is None else str(known.api)
