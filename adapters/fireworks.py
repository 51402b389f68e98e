"""Fireworks AI chat: https://docs.fireworks.ai/api-reference/post-chatcompletions."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.contract import Call, Response

from ._chat import Dialect, chat_adapter


def _replay(answer: Response, _call: Call) -> Mapping[str, str]:
    """Return the trace where it is demanded: in tool loops."""
    return {"reasoning_content": answer.reasoning} if answer.reasoning and answer.tool_calls else {}


adapter = chat_adapter("fireworks", Dialect(reasoning=("reasoning_content",), replay=_replay))
