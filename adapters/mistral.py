"""Mistral chat. The content may be a list of chunks with thinking: https://docs.mistral.ai/api/#tag/chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.contract import Call, Response, Segment

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect


def _round_trip(response: Response, _call: Call) -> Mapping[str, Any]:
    """Return the content unchanged: thinking chunks with their signatures, and texts."""
    if not response.reasoning or any(each.metadata.get("source") == "tag" for each in response.segments):
        return {}
    return {"content": [_chunk(each) for each in response.segments if each.type in ("reasoning", "text")]}


def _chunk(segment: Segment) -> Mapping[str, Any]:
    text = {"type": "text", "text": segment.content}
    if segment.type == "text":
        return text
    signed = {"signature": segment.metadata["signature"]} if "signature" in segment.metadata else {}
    return {"type": "thinking", "thinking": [text], **signed}


adapter = chat_adapter(
    "mistral",
    Dialect(
        finish={"model_length": "length", "error": "error"},
        counting=Counting(prompt_beside=("prompt_tokens_details", "audio_tokens")),
        round_trip=_round_trip,
    ),
)
