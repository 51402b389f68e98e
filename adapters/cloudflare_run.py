"""Cloudflare Workers AI, native: https://developers.cloudflare.com/workers-ai/get-started/rest-api/.

A response is `{"result": {"response": ...}}`. A stream is a series of `{"response": ...}`. Some models send a chat
completion instead of these. Tool calls are either flat and whole, or in OpenAI's form and in pieces.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.contract import Call, StreamEvent

from . import cloudflare
from ._chat import request as chat_request
from ._chat_decoder import ChatDecoder
from ._dialect import Dialect
from ._errors import error_in_band
from ._provider import ProviderAdapter, bearer


class RunDecoder(ChatDecoder):
    """Decodes both shapes of a response."""

    def __init__(self, call: Call) -> None:
        super().__init__(call, cloudflare.DIALECT)
        self._flat_calls = itertools.count()

    def _feed_completion(self, document: Mapping[str, Any]) -> Iterator[StreamEvent]:
        if document.get("success") is False:
            error = next(iter(document.get("errors") or ()), None)
            raise error_in_band(error, self._answer.call, cloudflare.ERROR_CODES)
        whole = document.get("result", document)
        return super()._feed_completion(whole if "choices" in whole else self._as_completion(whole))

    def _as_completion(self, whole: Mapping[str, Any]) -> dict[str, Any]:
        calls = [self._as_function(call) for call in whole.get("tool_calls") or ()]
        if not {"response", "tool_calls"} & whole.keys():
            raise KeyError("response")
        message = {"content": whole.get("response"), "tool_calls": calls}
        choice = {"index": 0, self._place: message, "finish_reason": whole.get("finish_reason")}
        return {"choices": [choice], "usage": whole.get("usage")}

    def _as_function(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a tool call in OpenAI's form. A flat call has no index and is whole, so it gets a key of its own."""
        if "function" in call:
            return call
        arguments = call["arguments"]
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        key = f"flat {next(self._flat_calls)}"
        return {"index": key, "id": call.get("id"), "function": {"name": call["name"], "arguments": text}}


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call. The model is in the path."""
    return {key: value for key, value in chat_request(call, Dialect()).items() if key != "model"}


adapter = ProviderAdapter("cloudflare:run", RunDecoder, request, bearer)
