"""GitHub Copilot. Its API is undocumented; https://github.com/microsoft/vscode-copilot-chat is the official client.

Its choices have no index and are parts of one response.
"""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.contract import Call

from ._chat import chat_adapter
from ._counting import Counting
from ._dialect import Dialect
from ._provider import bearer
from ._responses import responses_adapter


def _headers(call: Call) -> Mapping[str, str]:
    """Return the headers with the key and the client's name. The API refuses requests without that name."""
    return {**bearer(call), "copilot-integration-id": "vscode-chat"}


adapters = (
    chat_adapter(
        "copilot",
        Dialect(
            reasoning=("reasoning_text",),
            sealed="reasoning_opaque",
            counting=Counting(reasoned=("reasoning_tokens",)),
            finish={"error": "error"},
        ),
        _headers,
    ),
    responses_adapter("copilot", _headers),
)
