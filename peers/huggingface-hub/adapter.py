"""The huggingface_hub library: `InferenceClient.chat_completion`, sync, whole and with `stream=True`.

The library has nothing that folds chunks, so a streamed answer is folded here. The library's types are dicts, so an
earlier answer goes back as the message object, without the fields that the answer did not have. Fields that the
library's types do not have are attributes, as its `BaseInferenceType` says. Besides the Hugging Face router the library
is documented to ask servers of one's own: its `base_url` says which. The status of an error is that of its `response`.

The library makes no retries here. `timeout` goes to its HTTP client, and holds for each operation. Its own setting
switches its telemetry off. Otherwise it asks huggingface.co for a list of agents before its first request, wherever
`base_url` leads.
"""

import dataclasses
import os

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

import huggingface_hub

from llm_conformance.contract import error_for_status
from llm_conformance.shims import chat
from llm_conformance.shims.native import keywords, turns

FINISH = {**chat.FINISH, "eos_token": "stop", "stop_sequence": "stop", "abort": "error"}
ERRORS = {
    **{f"HfHubHTTPError {status}": error_for_status(status).__name__ for status in range(400, 600)},
    "InferenceTimeoutError": "TimeoutError",
    # errors in a stream, which have no status: by the `error_type` of the chunk
    "OverloadedError": "ServiceUnavailableError",
    "ValidationError": "InvalidRequestError",
    "TextGenerationError": "LLMError",
}


class Adapter:
    """Chat completions, whole and streamed."""

    name = "huggingface-hub"
    version = huggingface_hub.__version__
    providers = ("huggingface:chat", "local:chat")
    capabilities = (
        *("streaming", "reasoning", "annotations", "tools", "round_trip", "errors"),
        "lost_connections",
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    excluded_inputs = {  # noqa: RUF012 - read, never written
        "think tags": "the server splits them off if it is started with a reasoning parser: "
        "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html#quickstart",
    }
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as client:
            whole = _create(client, call)
        answer = chat.answer(_fields(whole), call, finish=FINISH)
        answer.native, answer.turn = whole, _sent(whole.choices[0].message)
        return answer

    def stream(self, call):
        """Yield a streamed answer."""
        folded = chat.Fold(call, finish=FINISH)
        with _client(call) as client:
            for chunk in _create(client, call, stream=True):
                yield from folded.add(_fields(chunk))
        yield from folded.end()


def _client(call):
    return huggingface_hub.InferenceClient(base_url=call.base_url, api_key=call.api_key, timeout=call.timeout_s)


def _create(client, call, **said):
    params = {**call.params, **said}
    if call.tools:
        params["tools"] = [*params.get("tools", ()), *call.tools]
    create = client.chat_completion
    return create(model=call.model, messages=turns(call), **keywords(create, params))


def _fields(native):
    """Return the fields of the library's object. Fields that its type does not have are attributes."""
    if dataclasses.is_dataclass(native):
        return {name: _fields(value) for name, value in vars(native).items()}
    return [*map(_fields, native)] if isinstance(native, list) else native


def _sent(message):
    return {name: value for name, value in message.items() if value is not None}


conformance_adapter = Adapter
