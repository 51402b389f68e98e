"""The cerebras-cloud-sdk library: `chat.completions.create`, sync, whole and with `stream=True`.

The library has nothing that folds chunks, so a streamed answer is folded here. An earlier answer goes back as the
message object (`messages.append(response.choices[0].message)`), after a stream as its text and tool calls.

`max_retries` is 0: the library's `timeout` holds for each attempt, and its retries would outlast `call.timeout_s`. It
is told not to warm its connection, which is a request of its own.
"""

from importlib.metadata import version

from cerebras.cloud import sdk

from llm_conformance.shims import chat
from llm_conformance.shims.native import keywords, turns

REASONING = ("reasoning", "reasoning_content", "thinking_content")
ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIResponseValidationError": "ValidationError",
}


class Adapter:
    """Chat completions, whole and streamed."""

    name = "cerebras"
    version = version("cerebras-cloud-sdk")
    providers = ("cerebras:chat",)
    capabilities = (
        *("streaming", "reasoning", "annotations", "tools", "round_trip", "errors"),
        *("lost_connections", "unreadable_bodies"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    excluded_inputs = {  # noqa: RUF012 - read, never written
        "think tags": "the request asks for them in the text: "
        "https://inference-docs.cerebras.ai/capabilities/reasoning#reasoning-format",
    }
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as client:
            return chat.answer(_create(client, call), call, reasoning=REASONING)

    def stream(self, call):
        """Yield a streamed answer."""
        folded = chat.Fold(call, reasoning=REASONING)
        with _client(call) as client:
            for chunk in _create(client, call, stream=True):
                yield from folded.add(chunk)
        yield from folded.end()


def _client(call):
    return sdk.Cerebras(
        base_url=call.base_url,
        api_key=call.api_key,
        timeout=call.timeout_s,
        max_retries=0,
        warm_tcp_connection=False,
    )


def _create(client, call, **said):
    create = client.chat.completions.create
    params = {**call.params, **said}
    if call.tools:
        params["tools"] = [*params.get("tools", ()), *call.tools]
    return create(model=call.model, messages=turns(call), **keywords(create, params))


conformance_adapter = Adapter
