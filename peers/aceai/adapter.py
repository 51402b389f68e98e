"""AceAI: what its `LLMService` returns. It needs Python 3.12.

The shim uses the providers `Anthropic`, `DeepSeek` and `OpenAI`, which speaks responses. It asks by
`LLMService.complete` and `LLMService.stream` with the time limit `call.timeout_s`, and without retries, which would
exceed it. Of an `LLMResponse` it reads the text, segments, tool calls, usage, reasoning and status. An answer goes back
as the message that AceAI's own agents make of it. If it has calls, this is an `LLMToolCallMessage` with its
`reasoning_content`.

AceAI has no word of its own for how an answer ended: `status` is the provider's, or what AceAI puts there. A streamed
response with the status `failed` is an error, as for AceAI's agents. Of the tools that a provider runs, AceAI reads
OpenAI's web search and image generation. Parameters that a request has no field for are not supported; those that say
nothing of the answer are left out.
"""

from __future__ import annotations

import base64
import importlib.metadata
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from aceai.llm import LLMHostedToolSpec, LLMMessage, LLMService
from aceai.llm.anthropic import Anthropic
from aceai.llm.deepseek import DeepSeek
from aceai.llm.errors import AceAIConfigurationError
from aceai.llm.interface import UNSET
from aceai.llm.models import (
    LLMResponseFormat,
    LLMToolCall,
    LLMToolCallMessage,
    LLMToolUseMessage,
    ReasoningConfig,
)
from aceai.llm.openai import OpenAI
from msgspec import ValidationError, convert
from openai import AsyncOpenAI

from llm_conformance.shims.native import Answer

FINISH = {
    **{"stop": "stop", "end_turn": "stop", "stop_sequence": "stop", "completed": "stop"},
    **{"length": "length", "max_tokens": "length", "model_context_window_exceeded": "length"},
    **{"tool_calls": "tool_calls", "tool_use": "tool_calls"},
    **{"content_filter": "content_filter", "refusal": "content_filter"},
    **{"failed": "error", "insufficient_system_resource": "error", "aborted": "error"},
}
NAMES = {
    **{"max_tokens": "max_tokens", "max_output_tokens": "max_tokens", "top_k": "top_k"},
    **{"stop": "stop", "stop_sequences": "stop", "temperature": "temperature", "top_p": "top_p"},
}
MAPPED = ("reasoning", "reasoning_effort", "response_format", "text", "thinking", "tool_choice", "tools")
LEFT_OUT = ("stream", "stream_options", "store", "system", "prompt_cache_key", "service_tier", "user")
HOSTED = ("web_search", "image_generation")


class AceAI:
    """The library as the suite sees it."""

    name = "aceai"
    version = importlib.metadata.version("aceai")
    providers = ("anthropic:messages", "deepseek:chat", "openai:responses")
    capabilities = (
        *("streaming", "reasoning", "segments", "tools", "round_trip", "errors"),
        *("unreadable_bodies", "incomplete_streams"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors: ClassVar = {
        "APITimeoutError": "TimeoutError",
        "APIConnectionError": "ServiceUnavailableError",
        "APIResponseValidationError": "ValidationError",
        "LLMContextWindowExceededError": "InvalidRequestError",
        "AceAIError": "LLMError",  # among others, what a provider reports without a status
    }

    async def complete(self, call: Any) -> Answer:
        """Ask once."""
        with _refusals():
            return _answer(await _service(call).complete(**_request(call)), call)

    async def stream(self, call: Any) -> AsyncIterator[Mapping[str, Any]]:
        """Ask, and translate the service's events."""
        calls: dict[str, int] = {}
        with _refusals():
            async for event in _service(call).stream(**_request(call)):
                match event.event_type:
                    case "response.output_text.delta":
                        yield {"event_type": event.event_type, "delta": event.text_delta}
                    case "response.reasoning.delta":
                        yield {"event_type": event.event_type, "delta": event.segments[0].content}
                    case "response.function_call_arguments.delta":
                        piece, name = event.tool_call_delta, event.segments[0].meta.tool_name
                        about = {"index": calls.setdefault(piece.id, len(calls)), "id": piece.id, "name": name}
                        yield {"event_type": event.event_type, "delta": piece.arguments_delta, "tool_call": about}
                    case "response.error":
                        error = {"error_type": "LLMError", "message": event.error}
                        yield {"event_type": event.event_type, "error": error}
                        return
                    case "response.completed" if event.response.status == "failed":
                        error = {"error_type": "LLMError", "message": event.response.text}
                        yield {"event_type": "response.error", "error": error}
                        return
                    case "response.completed":
                        yield {"event_type": event.event_type, "response": _answer(event.response, call)}


conformance_adapter = AceAI


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise NotImplementedError for what AceAI refuses to ask for."""
    try:
        yield
    except AceAIConfigurationError as error:
        raise NotImplementedError(str(error)) from error


def _service(call: Any) -> LLMService:
    about: dict[str, Any] = {"default_meta": {"model": call.model}}
    if call.provider == "anthropic":
        provider: Any = Anthropic(api_key=call.api_key, api_url=call.base_url + call.path, **about)
    elif call.provider == "deepseek":
        provider = DeepSeek(api_key=call.api_key, base_url=call.base_url, **about)
    else:
        client = AsyncOpenAI(api_key=call.api_key, base_url=call.base_url, timeout=call.timeout_s, max_retries=0)
        provider = OpenAI(client, **about)
    limits = {"stream_start_timeout_seconds": call.timeout_s, "stream_event_timeout_seconds": call.timeout_s}
    return LLMService([provider], timeout_seconds=call.timeout_s, max_retries=0, **limits)


class Described:
    """A tool as AceAI takes it: with a name, and a schema on demand."""

    def __init__(self, **about: Any) -> None:
        self.name = about["name"]
        self.about = about

    def generate_schema(self) -> dict[str, Any]:
        """Return what is sent of it."""
        return {"description": "", "strict": False, **self.about}


def _request(call: Any) -> dict[str, Any]:
    if unknown := set(call.params) - {*NAMES, *MAPPED, *LEFT_OUT}:
        raise NotImplementedError(f"the library has no parameter {', '.join(sorted(unknown))}")
    request: dict[str, Any] = {NAMES[key]: value for key, value in call.params.items() if key in NAMES}
    request |= {key: float(request[key]) for key in ("temperature", "top_p") if key in request}
    if isinstance(request.get("stop"), str):
        request["stop"] = [request["stop"]]
    if "tool_choice" in call.params:
        request["tool_choice"] = _tool_choice(call.params["tool_choice"])
    if shape := call.params.get("response_format") or call.params.get("text", {}).get("format"):
        request["response_format"] = _response_format(shape)
    if reasoning := _reasoning(call):
        request["metadata"] = {"reasoning": reasoning}
    if tools := [*_tools(call)]:
        request["tools"] = tools
    names: dict[str, str] = {}
    return {**request, "messages": [_message(each, names) for each in call.messages]}


def _tool_choice(choice: Any) -> str:
    if isinstance(choice, str):
        return choice
    name = choice.get("name") or choice.get("function", {}).get("name")
    if choice["type"] == "tool" and set(choice) == {"type", "name"}:
        return str(name)
    if choice["type"] in ("auto", "none") and set(choice) == {"type"}:
        return str(choice["type"])
    raise NotImplementedError(f"a tool choice with {', '.join(choice)}")


def _response_format(shape: Any) -> LLMResponseFormat:
    described = shape.get("json_schema") or shape
    if "schema" in described:
        return LLMResponseFormat(type=shape["type"], schema=described["schema"])
    return LLMResponseFormat(type=shape["type"])


def _reasoning(call: Any) -> dict[str, Any] | None:
    """Return the library's configuration of reasoning, which DeepSeek's provider reads as an effort and a switch."""
    effort, thinking = call.params.get("reasoning_effort"), call.params.get("thinking")
    if call.provider == "deepseek" and (effort or thinking):
        if not effort or thinking != {"type": "enabled"}:
            raise NotImplementedError("the library switches thinking on, and only with an effort")
        reasoning: dict[str, Any] | None = {"effort": effort}
    elif thinking:
        raise NotImplementedError("the library does not ask Claude to think")
    else:
        reasoning = call.params.get("reasoning")
    try:
        return convert(reasoning, ReasoningConfig | None)
    except ValidationError as error:
        raise NotImplementedError(str(error)) from error


def _tools(call: Any) -> Iterator[Any]:
    for tool in call.tools:
        if tool["type"] != "function":
            raise NotImplementedError("the library has no custom tools")
        yield Described(**tool["function"])
    for hosted in call.params.get("tools", ()):
        if call.provider != "openai" or hosted.get("type") not in HOSTED:
            raise NotImplementedError(f"the library reads no tools of the type {hosted.get('type')}")
        config = {key: value for key, value in hosted.items() if key != "type"}
        yield LLMHostedToolSpec(provider_name="openai", native_name=hosted["type"], native_config=config)


def _message(message: Any, names: dict[str, str]) -> LLMMessage:
    if isinstance(message, Answer):
        names |= {each["id"]: each["name"] for each in message["tool_calls"]}
        return message.turn
    content = message.get("content") or ""
    parts = [*_parts(content)] if isinstance(content, list) else content
    if message["role"] == "tool":
        id = message["tool_call_id"]
        return LLMToolUseMessage.from_content(parts, name=names.get(id, ""), call_id=id)
    if message.get("tool_calls"):
        made = [_made(each) for each in message["tool_calls"]]
        names |= {each.call_id: each.name for each in made}
        return LLMToolCallMessage.from_content(parts or [], tool_calls=made)
    return LLMMessage.build(message["role"], parts)


def _made(call: Any) -> LLMToolCall:
    if call["type"] != "function":
        raise NotImplementedError("a call of a custom tool")
    return LLMToolCall(call_id=call["id"], **call["function"])


def _parts(content: Any) -> Iterator[Any]:
    for part in content:
        source = part.get("source") or {}
        match part["type"], source.get("type") if isinstance(source, dict) else None:
            case "text", _:
                yield {"type": "text", "data": part["text"]}
            case "document", "file":
                yield {"type": "file", "mime_type": "application/pdf", "metadata": {"file_id": source["file_id"]}}
            case "document", "text":
                yield {"type": "file", "mime_type": source["media_type"], "binary": source["data"].encode()}
            case kind, _:
                raise NotImplementedError(f"a part of type {kind}")


def _answer(response: Any, call: Any) -> Answer:
    calls = [
        {"id": each.call_id or None, "name": each.name, "arguments": each.arguments or "{}"}
        for each in response.tool_calls
    ]
    thought = "".join(each.content for each in response.segments if each.type == "reasoning")
    finish = FINISH.get(response.status or "")
    answer = Answer(
        id=response.id,
        provider=call.provider,
        model=response.model or call.model,
        message=response.text,
        reasoning=response.reasoning_content or thought or None,
        segments=[_segment(each) for each in response.segments],
        attachments=[
            {"type": each.media.mime_type, "data": base64.b64encode(each.media.data).decode()}
            for each in response.segments
            if each.media and each.media.data
        ],
        tool_calls=calls,
        finish_reason="tool_calls" if response.status == "completed" and calls else finish,
        raw_finish_reason=response.status,
        usage=_usage(response),
    )
    if response.tool_calls:
        kept = {"reasoning_content": response.reasoning_content}
        answer.turn = LLMToolCallMessage.from_content(response.text, tool_calls=response.tool_calls, **kept)
    else:
        answer.turn = LLMMessage.build("assistant", response.text)
    answer.native = response
    return answer


def _segment(segment: Any) -> dict[str, Any]:
    kinds = {
        **{"text": "text", "reasoning": "reasoning", "tool_call": "tool_call"},
        **{"hosted_tool": "tool_call", "image": "tool_call"},  # an image is what a tool of OpenAI's made
    }
    hosted = {"server_executed": True} if segment.type in ("hosted_tool", "image") else {}
    return {"type": kinds.get(segment.type, "other"), "content": segment.content, "metadata": hosted}


def _usage(response: Any) -> dict[str, Any] | None:
    usage = response.usage
    if usage is UNSET:
        return None
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "cached_tokens": usage.cached_input_tokens,
        "reasoning_tokens": response.reasoning.tokens if response.reasoning else None,
    }
