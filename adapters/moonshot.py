"""Moonshot AI (Kimi) chat: https://platform.kimi.ai/docs/api/chat."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.contract import Call, Response

from ._chat import Dialect, chat_adapter
from ._counting import Counting


def _replay(answer: Response, _call: Call) -> Mapping[str, str]:
    """Return the trace where it is demanded: beside the calls to which it led."""
    return {"reasoning_content": answer.reasoning} if answer.reasoning and answer.tool_calls else {}


adapter = chat_adapter(
    "moonshot", Dialect(reasoning=("reasoning_content",), counting=Counting(cached=("cached_tokens",)), replay=_replay)
)
