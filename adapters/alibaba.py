"""Alibaba Cloud Model Studio (Qwen): https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.contract import Call, Response

from ._chat import chat_adapter
from ._dialect import Dialect


def _round_trip(response: Response, call: Call) -> Mapping[str, str]:
    """Return the reasoning if the request asks the model to continue from it."""
    wanted = response.reasoning and call.params.get("preserve_thinking")
    return {"reasoning_content": response.reasoning or ""} if wanted else {}


adapter = chat_adapter(
    "alibaba",
    Dialect(
        reasoning=("reasoning_content",),
        round_trip=_round_trip,
        error_codes={"data_inspection_failed": 400},
    ),
)
