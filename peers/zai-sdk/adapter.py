"""The zai-sdk library: `ZaiClient.chat.completions.create`, sync, whole and with `stream=True`.

The library has nothing that folds chunks, so a streamed answer is folded here. An earlier answer goes back as in the
library's examples, `messages.append(response.choices[0].message)`, after a stream as a mapping with its text, reasoning
and tool calls.

`max_retries` is 0: the library's `timeout` holds for each attempt, and three retries would outlast `call.timeout_s`.
"""

import zai

from llm_conformance.shims import chat
from llm_conformance.shims.native import keywords, turns

FINISH = {
    **chat.FINISH,
    **{"sensitive": "content_filter", "network_error": "error", "model_context_window_exceeded": "length"},
}
REASONING = ("reasoning_content",)
# Errors with an HTTP status are known by that; these are the others.
ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIResponseValidationError": "ValidationError",
    "APIResponseError": "LLMError",  # an error object in a stream; the library gives it no class of its own
}


class Adapter:
    """Chat completions, whole and streamed."""

    name = "zai-sdk"
    version = zai.__version__
    providers = ("zai:chat",)
    capabilities = (
        *("streaming", "reasoning", "tools", "round_trip", "errors"),
        *("lost_connections", "unreadable_bodies"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as client:
            return chat.answer(_create(client, call), call, reasoning=REASONING, finish=FINISH)

    def stream(self, call):
        """Yield a streamed answer."""
        folded = chat.Fold(call, reasoning=REASONING, finish=FINISH)
        with _client(call) as client:
            for chunk in _create(client, call, stream=True):
                yield from folded.add(chunk)
        yield from folded.end()


def _client(call):
    return zai.ZaiClient(base_url=call.base_url, api_key=call.api_key, timeout=call.timeout_s, max_retries=0)


def _create(client, call, **said):
    create = client.chat.completions.create
    params = {**call.params, **said}
    if call.tools:
        params["tools"] = [*params.get("tools", ()), *call.tools]
    return create(model=call.model, messages=turns(call), **keywords(create, params))


conformance_adapter = Adapter
