"""DeepSeek, both of its APIs: https://api-docs.deepseek.com/api/create-chat-completion."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.contract import Call, Response

from ._chat import Dialect, chat_adapter
from ._counting import Counting
from ._responses import responses_adapter


def _replay(answer: Response, _call: Call) -> Mapping[str, str]:
    """Return the trace where it is demanded: in tool loops; elsewhere the provider makes nothing of it."""
    return {"reasoning_content": answer.reasoning} if answer.reasoning and answer.tool_calls else {}


_chat = chat_adapter(
    "deepseek",
    Dialect(
        reasoning=("reasoning_content",),
        counting=Counting(cached=("prompt_cache_hit_tokens",)),
        finish={"insufficient_system_resource": "error"},
        replay=_replay,
    ),
)

adapters = (_chat, responses_adapter("deepseek"))
