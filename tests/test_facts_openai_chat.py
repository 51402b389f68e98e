"""Facts about OpenAI's chat completions, and about those of Azure and Copilot, that right adapters were blamed for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.contract import HttpResponse, Response
from tests.bare_cassettes import scenario, write
from tests.calls import ADAPTERS, chat

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
