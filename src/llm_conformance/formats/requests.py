"""Read and write requests in every wire format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llm_conformance.formats.bodies import Fields, Messages
from llm_conformance.formats.chat import requests as chat
from llm_conformance.formats.cohere import requests as cohere
from llm_conformance.formats.cohere_v1 import requests as cohere_v1
from llm_conformance.formats.completions import requests as completions
from llm_conformance.formats.converse import requests as converse
from llm_conformance.formats.gemini import requests as gemini
from llm_conformance.formats.interactions import requests as interactions
from llm_conformance.formats.messages import requests as messages
from llm_conformance.formats.ollama import requests as ollama
from llm_conformance.formats.responses import requests as responses
from llm_conformance.formats.turns import Turn, joined, since_compaction
from llm_conformance.formats.workers_ai import requests as workers_ai
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api

Reader = Callable[[Mapping[str, Any]], Iterator[Turn]]
Writer = Callable[[Messages, Messages], Fields]

_REQUESTS: Mapping[str, tuple[Reader, Writer, str]] = {
    "chat": (chat.read, chat.write, "max_tokens"),
    "cohere": (cohere.read, cohere.write, "max_tokens"),
    "cohere_v1": (cohere_v1.read, cohere_v1.write, "max_tokens"),
    "completions": (completions.read, completions.write, "max_tokens"),
    "converse": (converse.read, converse.write, "inferenceConfig/maxTokens"),
    "gemini": (gemini.read, gemini.write, "generationConfig/maxOutputTokens"),
    "interactions": (interactions.read, interactions.write, "generation_config/max_output_tokens"),
    "messages": (messages.read, messages.write, "max_tokens"),
    "ollama": (ollama.read, ollama.write, "options/num_predict"),
    "responses": (responses.read, responses.write, "max_output_tokens"),
    "workers_ai": (workers_ai.read, workers_ai.write, "max_tokens"),
}
"""Maps a wire format to (reader of requests, writer of requests, field that limits the tokens of an answer)."""


def token_limit(wire: str) -> str:
    """Return the field of a request that limits the tokens of an answer; `a/b` is a nested field."""
    return _REQUESTS[wire][2]


def turns(request: Mapping[str, Any], wire: str) -> list[Turn]:
    """Return the turns of a request of the format `wire`."""
    read, *_ = _REQUESTS[wire]
    return joined(since_compaction(read(request)))


def with_references(request: Mapping[str, Any], recorded: Mapping[str, Any], wire: str) -> Mapping[str, Any]:
    """Return a request. If the format has references to items, the recorded items replace them."""
    return responses.with_references(request, recorded) if wire == "responses" else request


def request_of(api: Api, call: Mapping[str, Any], mode: Mode) -> Fields:
    """Return the body of the request that makes a call; `call` is from a scenario file or a draft."""
    _, write, _ = _REQUESTS[api.wire]
    conversation = write(call["messages"], call.get("tools", ()))
    if api.prompt_field != "prompt" and "prompt" in conversation:
        conversation = {api.prompt_field: conversation["prompt"]}
    params = call.get("params", {}) | (call.get("stream_params", {}) if mode == "stream" else {})
    model = {} if api.names_model_in_path else {"model": call["model"]}
    request = {**model, **api.request_fields, **conversation, **params, **api.stream_field(mode == "stream")}
    if "tools" in conversation and "tools" in params:  # tools of the caller, and tools that the provider runs
        request["tools"] = [*conversation["tools"], *params["tools"]]
    return request
