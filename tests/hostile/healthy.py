"""A healthy adapter for the answers of `tests.miniature`; hostile functions alter what it returns."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from llm_conformance.contract import Call, HttpResponse


def answer(**changes: Any) -> dict[str, Any]:
    """Return the right answer with other values for some fields."""
    return {
        "id": "a-1",
        "provider": "deepseek",
        "model": "deepseek-reasoner",
        "message": "Eight.",
        "reasoning": "Spiders are arachnids, so not six.",
        "segments": [
            {"type": "reasoning", "content": "Spiders are arachnids, so not six."},
            {"type": "text", "content": "Eight."},
        ],
        "finish_reason": "stop",
        "raw_finish_reason": "stop",
        "usage": usage(),
    } | changes


def usage(**changes: Any) -> dict[str, Any]:
    """Return the right counts with other values for some of them."""
    counts = {"prompt_tokens": 12, "completion_tokens": 30, "total_tokens": 42, "cached_tokens": 0}
    return {**counts, "reasoning_tokens": 20, **changes}


def parse(http: HttpResponse, call: Call) -> dict[str, Any]:
    """Read the plain answer, so that a broken `json` shows."""
    body = json.loads(http.body)
    message = body["choices"][0]["message"]
    return answer(id=body["id"], message=message["content"], reasoning=message["reasoning_content"])


def parse_stream(chunks: Iterable[bytes], call: Call) -> Iterator[dict[str, Any]]:
    """Read the stream."""
    buffered = b""
    for chunk in chunks:
        buffered += chunk
        *lines, buffered = buffered.split(b"\n")
        for line in lines:
            yield from _events(line)
    yield completed(answer())


def delta(text: str) -> dict[str, Any]:
    """Return an event that adds to the message."""
    return {"event_type": "response.output_text.delta", "delta": text}


def reasoning_delta(text: str) -> dict[str, Any]:
    """Return an event that adds to the reasoning."""
    return {"event_type": "response.reasoning.delta", "delta": text}


def completed(response: Any) -> dict[str, Any]:
    """Return the last event."""
    return {"event_type": "response.completed", "response": response}


def whole() -> list[dict[str, Any]]:
    """Return the events of the right answer."""
    return [reasoning_delta("Spiders are arachnids, so not six."), delta("Eight."), completed(answer())]


def complete(call: Call) -> dict[str, Any]:
    """Ask for the plain answer, and read it."""
    return parse(HttpResponse(200, {}, asked(call).read()), call)


def stream(call: Call) -> Iterator[dict[str, Any]]:
    """Ask for the stream, and read it."""
    yield from parse_stream(asked(call), call)


def asked(call: Call, **changes: Any) -> http.client.HTTPResponse:
    """Send the recorded request, with other values for some fields, and return what comes back."""
    url = urlsplit(call.base_url)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=call.timeout_s)
    body = json.dumps({**call.request, **changes})
    headers = {"authorization": f"Bearer {call.api_key}", "content-type": "application/json"}
    connection.request("POST", url.path + call.path, body, headers)
    return connection.getresponse()


def _events(line: bytes) -> Iterator[dict[str, Any]]:
    if not line.startswith(b"data: {"):
        return
    found = json.loads(line.removeprefix(b"data: "))["choices"][0]["delta"]
    if found.get("reasoning_content"):
        yield reasoning_delta(found["reasoning_content"])
    if found.get("content"):
        yield delta(found["content"])
