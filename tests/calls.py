"""Calls for the reference adapters, and response bodies for them to read."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import Any

from adapters import ReferenceAdapters
from llm_conformance.contract import Call, LLMError, Response, StreamEvent

KEY = "sk-canary-1234567890"
ADAPTERS = ReferenceAdapters()
CHAT_URL, MESSAGES_URL = "http://chat.test/v1/chat/completions", "http://messages.test/v1/messages"


def chat(provider: str = "openai", **changes: Any) -> Call:
    """Return a call of an OpenAI-shaped API."""
    call = Call(
        provider=provider,
        api="chat",
        model="some-model",
        messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Grüß Gott"}),
        base_url="http://chat.test/v1",
        path="/chat/completions",
        api_key=KEY,
        stream=False,
        timeout_s=1.5,
        correlation_id="c-1",
    )
    return dataclasses.replace(call, **changes)


def messages(**changes: Any) -> Call:
    """Return a call of Anthropic's API."""
    own = {"provider": "anthropic", "api": "messages", "base_url": "http://messages.test", "path": "/v1/messages"}
    return chat(**(own | changes))


def responses(**changes: Any) -> Call:
    """Return a call of OpenAI's Responses API."""
    return chat(**({"api": "responses", "base_url": "http://responses.test/v1", "path": "/responses"} | changes))


def ask(call: Call) -> object:
    """Make the call over HTTP: streamed if the call says so."""
    return list(ADAPTERS.stream(call)) if call.stream else ADAPTERS.complete(call)


def sse(*documents: object) -> bytes:
    """Return server-sent events, one for each document. A str is used as it is."""
    texts = (each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in documents)
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """Return a chunk of a chat completion."""
    return {"id": "a-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def read_stream(call: Call, chunks: Iterable[bytes]) -> tuple[list[StreamEvent], LLMError | None]:
    """Return the stream events, and the error that ended the stream or None."""
    events: list[StreamEvent] = []
    try:
        events.extend(ADAPTERS.parse_stream(chunks, call))
    except LLMError as error:
        return events, error
    return events, None


def completed(call: Call, chunks: Iterable[bytes]) -> Response:
    """Return the response with which a stream completes."""
    events, error = read_stream(call, chunks)
    assert error is None
    assert events[-1].response is not None
    return events[-1].response
