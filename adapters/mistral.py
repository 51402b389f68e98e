"""Mistral chat: https://docs.mistral.ai/api/#tag/chat. Its content may be a list of chunks, thinking among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.contract import Call, Response

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect


def _round_trip(answer: Response, _call: Call) -> Mapping[str, Any]:
    """Return the content with the thinking before the text, as it came."""
    if not answer.reasoning or any(each.metadata.get("source") == "tag" for each in answer.segments):
        return {}
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": answer.reasoning}]}
    said = [{"type": "text", "text": answer.message}] if answer.message else []
    return {"content": [thought, *said]}


adapter = chat_adapter(
    "mistral",
    Dialect(
        finish={"model_length": "length", "error": "error"},
        counting=Counting(prompt_beside=("prompt_tokens_details", "audio_tokens")),
        round_trip=_round_trip,
    ),
)
