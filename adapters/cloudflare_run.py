"""Cloudflare Workers AI, native: https://developers.cloudflare.com/workers-ai/get-started/rest-api/.

An answer is `{"result": {"response": ...}}`, a stream a series of `{"response": ...}`; models of the OpenAI shape give
out a chat completion in the same places.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.contract import Call, StreamEvent

from ._chat import ChatDecoder, Dialect, headers
from ._chat import request as chat_request
from ._provider import ProviderAdapter, error_in_band


class RunDecoder(ChatDecoder):
    """Understands both shapes of an answer."""

    def __init__(self, call: Call) -> None:
        super().__init__(call, Dialect(reasoning=("reasoning_content", "reasoning")))

    def _feed_completion(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        if document.get("success") is False:
            raise error_in_band(next(iter(document.get("errors") or ()), None), self._answer.call)
        whole = document.get("result", document)
        return super()._feed_completion(whole if "choices" in whole else _as_completion(whole))


def _as_completion(whole: Mapping[str, Any]) -> dict[str, Any]:
    calls = [
        {"function": {"name": call["name"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)}}
        for call in whole.get("tool_calls") or ()
    ]
    if not calls and "response" not in whole and "usage" not in whole:
        raise KeyError("response")
    message = {"content": whole.get("response"), "tool_calls": calls}
    return {"choices": [{"index": 0, "message": message}], "usage": whole.get("usage")}


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call; the model stands in the path."""
    return {key: value for key, value in chat_request(call).items() if key != "model"}


adapter = ProviderAdapter("cloudflare:run", RunDecoder, request, headers)
