"""Facts about OpenAI's chat completions, and about those of Azure and Copilot, that right adapters were blamed for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_conformance.contract import HttpResponse, Response
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes import statuses
from llm_conformance.wire.providers import table
from tests.bare_cassettes import scenario, write
from tests.calls import ADAPTERS, chat, chunk, completed, sse

OPENAI = "https://api.openai.com/v1/chat/completions"
AZURE = "https://alpenblick.openai.azure.com/openai/v1/chat/completions"


def answer(content: str = "Hi.", **fields: Any) -> dict[str, Any]:
    """Return a chat completion; `fields` are beside its choice."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-5.6-sol", "choices": [choice], **fields}


def parsed(body: Any, provider: str = "openai") -> Response:
    """Return what the reference adapter makes of a body."""
    http = HttpResponse(200, {"content-type": "application/json"}, json.dumps(body).encode())
    return ADAPTERS.parse(http, chat(provider))


@pytest.mark.parametrize(("provider", "uri"), [("openai", OPENAI), ("azure", AZURE)])
def test_tokens_written_to_the_cache_are_counted(tmp_path: Path, provider: str, uri: str) -> None:
    usage: dict[str, Any] = {"prompt_tokens": 1220, "completion_tokens": 100, "total_tokens": 1320}
    usage["prompt_tokens_details"] = {"cached_tokens": 0, "cache_write_tokens": 1217, "audio_tokens": 0}
    body = answer(usage=usage)
    expected = scenario(write(tmp_path, body, request={"uri": uri})).expected["json"].usage
    assert expected is not None
    assert (expected.prompt_tokens, expected.cached_tokens, expected.cache_write_tokens) == (1220, 0, 1217)
    assert parsed(body, provider).usage == expected


def test_streamed_audio_ends_without_a_finish_word(tmp_path: Path) -> None:
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "audio": {"id": "audio_1", "transcript": "Hi."}},
        {"audio": {"data": "AAAA"}},
    ]
    chunks = [chunk(**delta) for delta in deltas]
    chunks.append({"id": "a-1", "choices": [{"index": 0, "delta": {"audio": {"expires_at": 1762251160}}}]})
    body = sse(*chunks, "[DONE]")
    headers = {"headers": {"content-type": ["text/event-stream"]}}
    expected = scenario(write(tmp_path, body.decode(), response=headers)).expected["stream"]
    assert set(expected.finish_reasons) == {None, "stop"}
    assert expected.error is None
    assert completed(chat(stream=True), [body]).finish_reason in expected.finish_reasons


def test_only_the_first_piece_of_streamed_audio_has_its_id(scenarios: list[Scenario]) -> None:
    # So a captured stream has it: https://github.com/langchain-ai/langchain/pull/29833
    streams = [each for each in scenarios if str(each.api) == "openai:chat" and "stream" in each.modes]
    ids = [each.interactions["stream"].body.count(b'"audio":{"id"') for each in streams]
    assert set(ids) == {0, 1}


def test_tokens_of_log_probabilities_are_no_text(tmp_path: Path) -> None:
    body = answer("🦀")
    parts = [("\\xf0\\x9f\\xa6", [240, 159, 166]), ("\\x80", [128])]
    tokens = [{"token": token, "logprob": -0.1, "bytes": data, "top_logprobs": []} for token, data in parts]
    body["choices"][0]["logprobs"] = {"content": tokens, "refusal": None}
    assert scenario(write(tmp_path, body)).expected["json"].message == parsed(body).message == "🦀"


def test_no_generated_error_repeats_a_whole_key() -> None:
    """OpenAI masks a key of this length; what repeats it whole is a probe, openai/error-401-repeats-the-key."""
    api = table.table()[("openai", "chat")]

    @settings(max_examples=200, database=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        refused = data.draw(st.composite(statuses.refused)(api, "json"))
        assert CANARY_KEY.encode() not in refused.interactions["json"].body

    check()
