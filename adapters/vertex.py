"""Vertex AI: Gemini, and Claude with Anthropic's API. https://cloud.google.com/vertex-ai/generative-ai/docs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from llm_conformance.contract import Call
from llm_conformance.contract.response import FinishReason

from . import anthropic, gemini
from ._framing import array
from ._generate import GenerateDecoder
from ._provider import ProviderAdapter, bearer

# From 6 on, Vertex AI's numbers of the enum differ from the Gemini API's.
NUMBERS: Mapping[str, FinishReason] = {
    "1": "stop",
    "2": "length",
    **dict.fromkeys(("3", "4", "6", "7", "8", "10"), "content_filter"),
    "9": "error",
}

_DECODER = functools.partial(GenerateDecoder, numbers=NUMBERS)


def messages_request(call: Call) -> dict[str, Any]:
    """Return the request body of a call to Claude. The model is in the path, the version in the body."""
    body = anthropic.request(call)
    del body["model"]
    return {"anthropic_version": "vertex-2023-10-16", **body}


adapters = (
    ProviderAdapter("vertex:generate", _DECODER, gemini.request, bearer),
    ProviderAdapter("vertex:array", _DECODER, gemini.request, bearer, array),
    ProviderAdapter("vertex:messages", anthropic.MessagesDecoder, messages_request, bearer),
)
