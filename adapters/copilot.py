"""GitHub Copilot: nobody documents its API; https://github.com/microsoft/vscode-copilot-chat is its own client."""

from __future__ import annotations

from ._chat import Dialect, chat_adapter
from ._counting import Counting
from ._responses import responses_adapter

adapters = (
    chat_adapter(
        "copilot",
        Dialect(
            reasoning=("reasoning_text",),
            sealed="reasoning_opaque",
            counting=Counting(reasoned=("reasoning_tokens",)),
        ),
    ),
    responses_adapter("copilot"),
)
