"""Z.AI (GLM) chat: https://docs.z.ai/api-reference/llm/chat-completion."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter

adapter = chat_adapter(
    "zai",
    Dialect(reasoning=("reasoning_content",), finish={"sensitive": "content_filter", "network_error": "error"}),
)
