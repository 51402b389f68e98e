"""The together library: `chat.completions.create`, sync, whole and with `stream=True`.

The library has nothing that folds chunks, so a streamed answer is folded here. An earlier answer goes back as the
message object (`messages.append(response.choices[0].message)`), after a stream as its text and tool calls.

`max_retries` is 0: the library's `timeout` holds for each attempt, and its retries would outlast `call.timeout_s`.
"""

import together

from llm_conformance.shims import chat
from llm_conformance.shims.native import fields, keywords, turns

FINISH = {**chat.FINISH, "eos": "stop"}
REASONING = ("reasoning", "reasoning_content")
ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIResponseValidationError": "ValidationError",
    # `type` in the body of an error in a stream
    **{"server_error": "ServiceUnavailableError", "invalid_request_error": "InvalidRequestError"},
}


class Adapter:
    """Chat completions, whole and streamed."""

    name = "together"
    version = together.__version__
    providers = ("together:chat",)
    capabilities = (
        *("streaming", "reasoning", "annotations", "tools", "round_trip", "errors"),
        *("lost_connections", "unreadable_bodies"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    excluded_inputs = {  # noqa: RUF012 - read, never written
        "think tags": "models that write them into the text are served that way: "
        "https://docs.together.ai/docs/inference/chat/reasoning",
    }
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as client:
            response = _create(client, call)
        return _counted(chat.answer(response, call, reasoning=REASONING, finish=FINISH))

    def stream(self, call):
        """Yield a streamed answer."""
        folded = chat.Fold(call, reasoning=REASONING, finish=FINISH)
        try:
            with _client(call) as client:
                for chunk in _create(client, call, stream=True):
                    yield from folded.add(chunk)
        except together.APIError as error:
            if type(error) is not together.APIError:  # errors in a stream have no class of their own
                raise
            own = error.body if isinstance(error.body, dict) else {}
            kind = own.get("type") if own.get("type") in ERRORS else "LLMError"
            yield {"event_type": "response.error", "error": {"error_type": kind, "message": error.message}}
            return
        for event in folded.end():
            _counted(event["response"])
            yield event


def _client(call):
    return together.Together(base_url=call.base_url, api_key=call.api_key, timeout=call.timeout_s, max_retries=0)


def _create(client, call, **said):
    create = client.chat.completions.create
    params = {**call.params, **said}
    if call.tools:
        params["tools"] = [*params.get("tools", ()), *call.tools]
    return create(model=call.model, messages=turns(call), **keywords(create, params))


def _counted(answer):
    """Return the answer with its cached tokens, which are beside the other counts."""
    if answer["usage"]:
        answer["usage"]["cached_tokens"] = fields(answer["usage"]["raw"]).get("cached_tokens")
    return answer


conformance_adapter = Adapter
