"""Haystack: what its chat generators return.

The shim asks `OpenAIChatGenerator`, `OpenAIResponsesChatGenerator` and, of anthropic-haystack,
`AnthropicChatGenerator` by `run_async`, with a streaming callback that gets `StreamingChunk`s. The reply is a
`ChatMessage`. The shim reads its text, reasoning and tool calls, and from its `meta` the model, id, finish reason,
usage and Anthropic's citations, which have no place in the text. Earlier answers go back as these replies.

Anthropic's generator takes another base URL by the environment only. `ignore_tools_thinking_messages`, which would drop
the text beside tool calls, is off. The clients' own retries are off: together they would exceed `call.timeout_s`. The
shim refuses content that Haystack has no type for, such as documents that are no PDF. It also refuses OpenAI's tools
that the client runs, because they have no `ToolCall`, and parameters that `AnthropicChatGenerator` ignores with a
warning. Only replies of the Responses API have an id and the provider's own finish word.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import inspect
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, ClassVar

import anthropic
import openai
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage, TextContent, ToolCall
from haystack.tools import Tool
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator
from openai.resources.chat.completions import Completions
from openai.resources.responses import Responses

from llm_conformance.shims.native import Answer

FINISH = {
    **{"stop": "stop", "length": "length", "tool_calls": "tool_calls", "function_call": "tool_calls"},
    **{"content_filter": "content_filter"},
}


class Haystack:
    """The library as the suite sees it."""

    name = "haystack"
    version = importlib.metadata.version("haystack-ai")
    providers = ("anthropic:messages", "openai:chat", "openai:responses")
    capabilities = (
        *("streaming", "reasoning", "annotations", "tools", "round_trip", "errors"),
        *("usage_details", "error_details"),
    )
    # The library does not keep the text of arguments. The shim writes compact JSON, so only compact texts are compared.
    excluded_inputs: ClassVar = {
        f"text of arguments: {way}": "`ToolCall.arguments` is a dict: https://docs.haystack.deepset.ai/docs/chatmessage"
        for way in ("spaced", "indented")
    }
    errors: ClassVar = {
        "APITimeoutError": "TimeoutError",
        "APIConnectionError": "ServiceUnavailableError",
        "APIResponseValidationError": "ValidationError",
        # `type` of errors in streams: OpenAI's, then Anthropic's
        **{"server_error": "ServiceUnavailableError", "insufficient_quota": "RateLimitError"},
        **{"overloaded_error": "ServiceUnavailableError", "api_error": "ServiceUnavailableError"},
        **{"rate_limit_error": "RateLimitError", "authentication_error": "AuthenticationError"},
        **{"invalid_request_error": "InvalidRequestError", "not_found_error": "ResourceNotFoundError"},
    }

    async def complete(self, call: Any) -> Answer:
        """Ask once."""
        return _answer(await _run(call), call)

    async def stream(self, call: Any) -> AsyncIterator[Mapping[str, Any]]:
        """Ask with a callback, and pass on what it is given."""
        chunks: asyncio.Queue[Any] = asyncio.Queue()

        async def given(chunk: Any) -> None:
            chunks.put_nowait(chunk)

        running = asyncio.create_task(_run(call, given))
        running.add_done_callback(lambda _: chunks.put_nowait(None))
        while (chunk := await chunks.get()) is not None:
            for event in _events(chunk, call):
                yield event
        try:
            yield {"event_type": "response.completed", "response": _answer(await running, call)}
        except (openai.APIError, anthropic.APIStatusError) as error:
            if (told := _told_in_a_stream(error)) is None:
                raise
            yield told


conformance_adapter = Haystack


def _told_in_a_stream(error: openai.APIError | anthropic.APIStatusError) -> Mapping[str, Any] | None:
    """Return the event for an error in a stream; None for others. It has no class and no error status, only a type."""
    if type(error) is not openai.APIError and getattr(error, "status_code", 0) != 200:
        return None
    said = error.body if isinstance(error.body, dict) else {}
    kind = said.get("error", said).get("type")  # OpenAI's client takes the error out of the frame
    known = kind if kind in Haystack.errors else "LLMError"
    return {"event_type": "response.error", "error": {"error_type": known, "message": str(error)}}


_RUN_BY_THE_CLIENT = {
    *("custom", "local_shell", "shell", "apply_patch", "computer", "computer_use_preview", "tool_search"),
    "programmatic_tool_calling",
}


async def _run(call: Any, callback: Any = None) -> ChatMessage:
    params = dict(call.params)
    if callback and params.get("n", 1) > 1:
        raise NotImplementedError("a stream of several choices, which Haystack refuses")
    hosted = params.pop("tools", ())
    if refused := [tool["type"] for tool in (*hosted, *call.tools) if tool.get("type") in _RUN_BY_THE_CLIENT]:
        raise NotImplementedError(f"tools without a ToolCall: {', '.join(refused)}")
    if call.provider != "anthropic" and "functions" in params:
        raise NotImplementedError("functions, whose calls Haystack does not read")
    tools: Any = [Tool(function=_never, **_described(each["function"])) for each in call.tools]
    settings = {"model": call.model, "api_key": Secret.from_token(call.api_key), "timeout": call.timeout_s}
    settings["max_retries"] = 0
    strict = [bool(each.get("function", {}).get("strict")) for each in call.tools]
    asks: dict[str, Any] = {}
    if call.provider == "anthropic":
        if ignored := [name for name in params if name not in AnthropicChatGenerator.ALLOWED_PARAMS]:
            raise NotImplementedError(f"parameters that Haystack ignores: {', '.join(ignored)}")
        os.environ["ANTHROPIC_BASE_URL"] = call.base_url
        generator: Any = AnthropicChatGenerator(
            **settings, ignore_tools_thinking_messages=False, anthropic_server_tools=[*hosted] or None
        )
    else:
        responses = call.api == "responses"
        kind = OpenAIResponsesChatGenerator if responses else OpenAIChatGenerator
        known = inspect.signature((Responses if responses else Completions).create).parameters
        extra = {name: params.pop(name) for name in list(params) if name not in known}
        if extra:
            params["extra_body"] = extra
        generator = kind(**settings, api_base_url=call.base_url)
        asks["tools_strict"] = bool(strict) and all(strict)
        if hosted and responses:  # the provider's own definitions and Haystack's tools exclude each other
            tools = [*hosted, *({"type": "function", **each["function"]} for each in call.tools)]
        elif hosted:
            tools, params["tools"] = None, [*hosted, *call.tools]
    try:
        messages = [*_messages(call)]
        done = await generator.run_async(
            messages, streaming_callback=callback, generation_kwargs=params, tools=tools or None, **asks
        )
    finally:
        await generator.close_async()
    return done["replies"][0]


def _never(**arguments: Any) -> None:
    raise NotImplementedError


def _described(function: Any) -> dict[str, Any]:
    said = {"description": function.get("description", ""), "parameters": function["parameters"]}
    return {"name": function["name"], **said}


def _messages(call: Any) -> Iterator[ChatMessage]:
    made: dict[str, ToolCall] = {}
    for message in call.messages:
        if isinstance(message, Answer):
            made |= {_id(each): each for each in message.turn.tool_calls}
            yield message.turn
            continue
        content = message.get("content")
        match message["role"]:
            case "tool":
                id = message["tool_call_id"]
                if isinstance(content, list):
                    content = [_text(part) for part in content]
                origin = made.get(id) or ToolCall(tool_name="", arguments={}, id=id, extra={"call_id": id})
                yield ChatMessage.from_tool(content, origin=origin)
            case "assistant" if isinstance(content, list) and call.provider == "openai":
                yield ChatMessage.from_assistant("".join(_text(part).text for part in content))
            case "assistant" if isinstance(content, list):  # with hosted calls, as Haystack itself keeps them
                yield ChatMessage.from_assistant("", meta={"raw_content_for_server_tools": content})
            case "assistant":
                calls = [_made(each) for each in message.get("tool_calls", ())]
                made |= {_id(each): each for each in calls}
                yield ChatMessage.from_assistant(content, tool_calls=calls)
            case "system" if isinstance(content, list):
                about = {key: part[key] for part in content for key in ("cache_control",) if key in part}
                yield ChatMessage.from_system("".join(part["text"] for part in content), meta=about)
            case "system":
                yield ChatMessage.from_system(content)
            case _ if content is None or content == []:
                raise NotImplementedError("a message without content")
            case _ if isinstance(content, list) and any(part.get("type") != "text" for part in content):
                raise NotImplementedError("a document that is no PDF")
            case _ if isinstance(content, list):
                yield ChatMessage.from_user(content_parts=[part["text"] for part in content])
            case _:
                yield ChatMessage.from_user(content)


def _text(part: Any) -> TextContent:
    if part.get("type") != "text":
        raise NotImplementedError(f"a part {part.get('type')!r} of a message that is not the user's")
    return TextContent(part["text"])


def _made(call: Any) -> ToolCall:
    if call["type"] != "function":
        raise NotImplementedError("a call of a custom tool")
    function, id = call["function"], call["id"]
    return ToolCall(
        tool_name=function["name"], arguments=json.loads(function["arguments"]), id=id, extra={"call_id": id}
    )


def _id(made: ToolCall) -> str:
    """Return the id by which a result names its call. In responses, `id` is that of the output item."""
    return (made.extra or {}).get("call_id") or made.id or ""


def _events(chunk: Any, call: Any) -> Iterator[dict[str, Any]]:
    if chunk.content:
        yield {"event_type": "response.output_text.delta", "delta": chunk.content}
    if chunk.reasoning and chunk.reasoning.reasoning_text:
        yield {"event_type": "response.reasoning.delta", "delta": chunk.reasoning.reasoning_text}
    for piece in chunk.tool_calls or ():
        id = (piece.extra or {}).get("call_id") if call.api == "responses" else piece.id
        about = {"index": piece.index, "id": id or None, "name": piece.tool_name or None}
        yield {"event_type": "response.function_call_arguments.delta", "delta": piece.arguments, "tool_call": about}


def _answer(reply: ChatMessage, call: Any) -> Answer:
    meta = reply.meta
    finish = meta.get("finish_reason")
    details = meta.get("incomplete_details") or {}
    raw = {"chat": finish, "responses": details.get("reason") or meta.get("status")}.get(call.api)
    answer = Answer(
        id=meta.get("id"),
        provider=call.provider,
        model=meta.get("model") or call.model,
        message=reply.text or "",
        reasoning=(reply.reasoning.reasoning_text if reply.reasoning else None) or None,
        annotations=[{"start": None, "end": None, "data": each} for each in meta.get("citations") or ()],
        tool_calls=[
            {
                "id": _id(made) or None,
                "name": made.tool_name,
                "arguments": json.dumps(made.arguments, ensure_ascii=False, separators=(",", ":")),
            }
            for made in reply.tool_calls
        ],
        finish_reason=FINISH.get(finish or ""),
        raw_finish_reason=raw,
        usage=_usage(meta.get("usage")),
    )
    answer.native = answer.turn = reply
    return answer


def _usage(counted: Any) -> dict[str, Any] | None:
    """Return the counts under the suite's names; they come under the provider's, or what Haystack makes of them."""
    if not counted:
        return None
    asked = counted.get("prompt_tokens_details") or counted.get("input_tokens_details") or {}
    answered = counted.get("completion_tokens_details") or counted.get("output_tokens_details") or {}
    sent = counted.get("prompt_tokens", counted.get("input_tokens"))
    said = counted.get("completion_tokens", counted.get("output_tokens"))
    total = counted.get("total_tokens")
    if "total_tokens" not in counted and None not in (sent, said):  # Anthropic has none
        total = sent + said
    return {
        "prompt_tokens": sent,
        "completion_tokens": said,
        "total_tokens": total,
        "cached_tokens": asked.get("cached_tokens", counted.get("cache_read_input_tokens")),
        "cache_write_tokens": asked.get("cache_write_tokens", counted.get("cache_creation_input_tokens")),
        "reasoning_tokens": answered.get("reasoning_tokens", answered.get("thinking_tokens")),
        "audio_prompt_tokens": asked.get("audio_tokens"),
        "audio_completion_tokens": answered.get("audio_tokens"),
        "raw": counted,
    }
