"""OpenAI-compatible servers that users run themselves: llama.cpp, Ollama, vLLM. They have two names for the reasoning.

* https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
* https://docs.ollama.com/api/openai-compatibility
* https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
"""

from __future__ import annotations

from ._chat import chat_adapter
from ._completions import OPENAI, completions_adapter
from ._counting import WITH_CACHE_WRITES
from ._dialect import Dialect
from ._responses import responses_adapter

adapters = (
    chat_adapter(
        "local",
        Dialect(
            reasoning=("reasoning_content", "reasoning"),
            finish={"abort": "error", "error": "error"},
            counting=WITH_CACHE_WRITES,
        ),
    ),
    responses_adapter("local"),
    completions_adapter("local:completions", OPENAI),
)
