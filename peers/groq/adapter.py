"""The groq library: `chat.completions.create`, sync, whole and with `stream=True`.

The library has nothing that folds chunks, so a streamed answer is folded here. An earlier answer goes back as the
message object (`messages.append(response.choices[0].message)`), after a stream as its text and tool calls.

The library appends `/openai/v1` to `base_url`. `call.base_url` already stands for the whole URL, so a transport takes
the path away. `max_retries` is 0: the library's `timeout` holds for each attempt, and its two retries would outlast
`call.timeout_s`.
"""

import groq
import httpx

from llm_conformance.shims import chat
from llm_conformance.shims.native import keywords, turns

ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIError": "LLMError",  # an error in a stream, which has no status
    "APIResponseValidationError": "ValidationError",
    # `type` of an error in a stream, in the documented `body` of the exception
    **{"invalid_request_error": "InvalidRequestError", "internal_server_error": "ServiceUnavailableError"},
}
REASONING = ("reasoning",)


class Adapter:
    """Chat completions, whole and streamed."""

    name = "groq"
    version = groq.__version__
    providers = ("groq:chat",)
    capabilities = (
        *("streaming", "reasoning", "annotations", "tools", "round_trip", "errors"),
        *("lost_connections", "unreadable_bodies"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    excluded_inputs = {  # noqa: RUF012 - read, never written
        "think tags": "the request asks for them in the text: https://console.groq.com/docs/reasoning#reasoning-format",
    }
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as client:
            return chat.answer(_create(client, call), call, reasoning=REASONING)

    def stream(self, call):
        """Yield a streamed answer."""
        try:
            yield from self._stream(call)
        except groq.APIError as error:
            if type(error) is not groq.APIError:  # errors in a stream have no class of their own
                raise
            kind = error.body.get("type") if isinstance(error.body, dict) else None
            said = {"error_type": kind if kind in ERRORS else "APIError", "message": error.message}
            yield {"event_type": "response.error", "error": said}

    def _stream(self, call):
        folded = chat.Fold(call, reasoning=REASONING)
        with _client(call) as client:
            for chunk in _create(client, call, stream=True):
                if chunk.x_groq and chunk.x_groq.error:
                    error = {"error_type": "LLMError", "message": str(chunk.x_groq.error)}
                    yield {"event_type": "response.error", "error": error}
                    return
                yield from folded.add(_with_usage(chunk))
        yield from folded.end()


class _Rebased(httpx.HTTPTransport):
    def handle_request(self, request):
        request.url = request.url.copy_with(path=request.url.path.replace("/openai/v1/", "/", 1))
        return super().handle_request(request)


def _client(call):
    http_client = groq.DefaultHttpxClient(transport=_Rebased())
    return groq.Groq(
        base_url=call.base_url, api_key=call.api_key, timeout=call.timeout_s, max_retries=0, http_client=http_client
    )


def _create(client, call, **said):
    create = client.chat.completions.create
    params = {**call.params, **said}
    if call.tools:
        params["tools"] = [*params.get("tools", ()), *call.tools]
    return create(model=call.model, messages=turns(call), **keywords(create, params))


def _with_usage(chunk):
    """Return a chunk with its counts where OpenAI has them. Groq may send them among its own fields."""
    own = chunk.x_groq and chunk.x_groq.usage
    return {**chunk.to_dict(), "usage": own.to_dict()} if own and not chunk.usage else chunk


conformance_adapter = Adapter
