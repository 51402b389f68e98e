"""Errors inside a stream that once looked like an answer, or as if the stream had broken off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.contract import HttpResponse, RateLimitError, ServiceUnavailableError
from tests.bare_cassettes import EVENTS, scenario, write
from tests.calls import ADAPTERS, chat

VENICE = "https://api.venice.ai/api/v1/chat/completions"
LLAMACPP = "http://127.0.0.1:8080/v1"
MESSAGES = [{"role": "user", "content": "Hi"}]
CHUNK = {"id": "1", "model": "m", "created": 1, "choices": [{"index": 0, "delta": {"content": "He"}}]}
FULL = {"code": 500, "message": "The context is full.", "type": "server_error"}


def _frame(data: Any, event: str = "") -> str:
    return (f"event: {event}\n" if event else "") + f"data: {json.dumps(data)}\n\n"


def _is_error(directory: Path, uri: str, frames: str) -> bool:
    request = {"uri": uri, "body": json.dumps({"model": "m", "messages": MESSAGES, "stream": True})}
    return scenario(write(directory, frames, request=request, response=EVENTS)).expected["stream"].error is not None


def test_the_two_fields_of_venice_are_an_error_even_before_done(tmp_path: Path) -> None:
    frames = _frame(CHUNK) + _frame({"error_type": "validation_error", "error_message": "Too long."})
    assert _is_error(tmp_path, VENICE, frames + "data: [DONE]\n\n")


def test_a_chunk_whose_error_message_is_null_is_no_error(tmp_path: Path) -> None:
    last = {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "error_message": None}
    assert not _is_error(tmp_path, VENICE, _frame(CHUNK) + _frame(last) + "data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("provider", "api", "body", "error"),
    [
        ("llamacpp", "responses", _frame({"error": FULL}), ServiceUnavailableError),
        ("llamacpp", "messages", _frame({**FULL, "code": 429}, "error"), RateLimitError),
        ("azure", "responses", _frame({"type": "error", "error": {"type": "too_many_requests"}}), RateLimitError),
    ],
    ids=["no type", "another type", "the name of a status"],
)
def test_the_reference_adapter_reads_the_error(provider: str, api: str, body: str, error: type[Exception]) -> None:
    http = HttpResponse(status=200, headers={"content-type": "text/event-stream"}, body=body.encode())
    call = chat(provider, api=api, stream=True, http=http)
    with pytest.raises(error):
        list(ADAPTERS.parse_stream([body.encode()], call))
