"""OpenAI-shaped chat completions: the request, and the adapter of a provider that has them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from llm_conformance.contract import Call, Response

from ._chat_decoder import ChatDecoder
from ._dialect import Dialect
from ._provider import ProviderAdapter, bearer


def chat_adapter(
    provider: str, dialect: Dialect, headers: Callable[[Call], Mapping[str, str]] = bearer
) -> ProviderAdapter:
    """Return the adapter of a provider with an OpenAI-shaped chat API. `headers` returns the headers with the key."""
    return ProviderAdapter(
        f"{provider}:chat",
        functools.partial(ChatDecoder, dialect=dialect),
        functools.partial(request, dialect=dialect),
        headers,
    )


def request(call: Call, dialect: Dialect) -> dict[str, Any]:
    """Return the request body of a call. Its messages may include responses of this adapter."""
    messages = [
        _assistant(each, call, dialect) if isinstance(each, Response) else stated(each) for each in call.messages
    ]
    body: dict[str, Any] = {"model": call.model, "messages": messages, **call.params}
    if call.tools:
        body["tools"] = list(call.tools)
    if call.stream:
        body["stream"] = True
    return body


def stated(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message of the caller in OpenAI's form. In this form, a tool message has no name."""
    is_result = message["role"] == "tool"
    return {key: value for key, value in message.items() if key != "name"} if is_result else message


def _assistant(response: Response, call: Call, dialect: Dialect) -> dict[str, Any]:
    calls = tool_calls(response)
    message: dict[str, Any] = {"role": "assistant", "content": response.message}
    return {**message, **({"tool_calls": calls} if calls else {}), **dialect.round_trip(response, call)}


def tool_calls(response: Response) -> list[Mapping[str, Any]]:
    """Return an earlier response's tool calls in OpenAI's form."""
    argument_fields = {"function": "arguments", "custom": "input"}
    return [
        {"id": each.id, "type": each.type, each.type: {"name": each.name, argument_fields[each.type]: each.arguments}}
        for each in response.tool_calls
    ]
