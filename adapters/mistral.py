"""Mistral chat, whose content may be a list of chunks, with thinking: https://docs.mistral.ai/api/#tag/chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.contract import Call, Response

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect


def _round_trip(response: Response, _call: Call) -> Mapping[str, Any]:
    """Return the content as it came, with the thinking before the text."""
    if not response.reasoning or any(each.metadata.get("source") == "tag" for each in response.segments):
        return {}
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": response.reasoning}]}
    text = [{"type": "text", "text": response.message}] if response.message else []
    return {"content": [thinking, *text]}


adapter = chat_adapter(
    "mistral",
    Dialect(
        finish={"model_length": "length", "error": "error"},
        counting=Counting(prompt_beside=("prompt_tokens_details", "audio_tokens")),
        round_trip=_round_trip,
    ),
)
