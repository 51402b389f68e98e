"""llama.cpp's server with its three APIs: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md."""

from __future__ import annotations

from ._chat import chat_adapter
from ._dialect import Dialect
from ._responses import responses_adapter
from .anthropic import messages_adapter

adapters = (
    chat_adapter("llamacpp", Dialect(reasoning=("reasoning_content",))),
    messages_adapter("llamacpp"),
    responses_adapter("llamacpp"),
)
