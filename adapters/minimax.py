"""MiniMax chat: https://platform.minimax.io/docs/api-reference/text-openai-api."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llm_conformance.contract import Call, Response

from ._chat import chat_adapter
from ._dialect import Dialect


def _round_trip(response: Response, _call: Call) -> Mapping[str, Any]:
    """Return the reasoning in the place where it came: in think tags in the content, or in `reasoning_details`."""
    if not response.reasoning:
        return {}
    if any(segment.metadata.get("source") == "tag" for segment in response.segments):
        return {"content": f"<think>\n{response.reasoning}\n</think>\n\n{response.message}"}
    return {"reasoning_details": [{"type": "reasoning.text", "text": response.reasoning}]}


def _own_error(completion: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the error in a response with status 200. It is in `base_resp`, with a number other than 0."""
    status = completion.get("base_resp") or {}
    code = status.get("status_code")
    return {"code": code, "message": status.get("status_msg")} if code else None


# https://platform.minimax.io/docs/api-reference/errorcode
ERROR_CODES = {
    "1001": 504,  # no response in time
    "1002": 429,  # too many requests
    "1004": 401,  # wrong key
    "1008": 402,  # no credit left
    "1026": 400,  # the input is not allowed
    "1027": 400,  # the output is not allowed
    "1039": 429,  # too many tokens
    "2013": 400,  # invalid parameters
    "2049": 401,  # invalid key
    "2056": 429,  # limit of the plan
}

adapter = chat_adapter(
    "minimax",
    Dialect(
        reasoning=("reasoning_content",),
        round_trip=_round_trip,
        own_error=_own_error,
        error_codes=ERROR_CODES,
    ),
)
