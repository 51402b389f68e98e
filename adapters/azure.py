"""Azure OpenAI and Azure AI Foundry: https://learn.microsoft.com/azure/ai-foundry/openai/latest."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.contract import Call

from ._chat import chat_adapter
from ._counting import WITH_CACHE_WRITES
from ._dialect import Dialect
from ._responses import responses_adapter


def _headers(call: Call) -> Mapping[str, str]:
    return {"api-key": call.api_key}


adapters = (
    chat_adapter("azure", Dialect(reasoning=("reasoning_content",), counting=WITH_CACHE_WRITES), _headers),
    responses_adapter("azure", _headers),
)
