"""LangChain: what its chat models return.

The shim asks `ChatAnthropic`, `ChatDeepSeek` and `ChatOpenAI` by `bind_tools`, `ainvoke` and `astream`, and adds up the
chunks of a stream. Of a message it reads `text`, `content_blocks`, `tool_calls`, `invalid_tool_calls`, `usage_metadata`
and `response_metadata`. Citations and calls of OpenAI's own tools stay in `content` as they came, and are read there.
The result of a custom tool is a `ToolMessage` with a block `custom_tool_call_output`; results of OpenAI's other tools
have no form. Earlier answers go back as the `AIMessage` that they were; the other messages are dicts, which the models
take. Counts of OpenAI's faster tiers have names with the tier in front.

The library has no finish reason of its own, only the provider's word. Servers that only look like OpenAI's are left
out: `ChatOpenAI` is documented to be for OpenAI alone.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, ClassVar

import anthropic
import openai
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, ToolMessage
from langchain_deepseek import ChatDeepSeek
from langchain_openai import ChatOpenAI

from llm_conformance.shims.native import Answer


class LangChain:
    """The library as the suite sees it."""

    name = "langchain"
    version = importlib.metadata.version("langchain-openai")
    providers = ("anthropic:messages", "deepseek:chat", "openai:chat", "openai:responses")
    capabilities = (
        *("streaming", "reasoning", "segments", "annotations", "audio", "tools", "round_trip", "errors"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    # The library does not keep the text of arguments. The shim writes compact JSON, so only compact texts are compared.
    excluded_inputs: ClassVar = {
        f"text of arguments: {way}": "`args` of a tool call is a dict: https://reference.langchain.com/v0.3/python/core/messages/langchain_core.messages.tool.ToolCall.html"
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
        """Ask once, by `ainvoke`."""
        return _answer(await _model(call).ainvoke(_messages(call)), call)

    async def stream(self, call: Any) -> AsyncIterator[Mapping[str, Any]]:
        """Ask by `astream`, and add the chunks up."""
        whole: Any = None
        try:
            async for chunk in _model(call).astream(_messages(call)):
                whole = chunk if whole is None else whole + chunk
                for event in _events(chunk):
                    yield event
        except (openai.APIError, anthropic.APIStatusError) as error:
            if (told := _told_in_a_stream(error)) is None:
                raise
            yield told
            return
        yield {"event_type": "response.completed", "response": _answer(whole, call)}


conformance_adapter = LangChain


def _told_in_a_stream(error: openai.APIError | anthropic.APIStatusError) -> Mapping[str, Any] | None:
    """Return the event for an error in a stream; None for others. It has no class and no error status, only a type."""
    if type(error) is not openai.APIError and getattr(error, "status_code", 0) != 200:
        return None
    said = error.body if isinstance(error.body, dict) else {}
    kind = said.get("error", said).get("type")  # OpenAI's client takes the error out of the frame
    known = kind if kind in LangChain.errors else "LLMError"
    return {"event_type": "response.error", "error": {"error_type": known, "message": str(error)}}


_FIELDS = {
    "anthropic": ("max_tokens", "stop_sequences", "temperature", "thinking"),
    "deepseek": ("max_tokens", "temperature", "reasoning_effort"),
    "openai": (
        "include",
        "max_completion_tokens",
        "max_tokens",
        "n",
        "reasoning",
        "reasoning_effort",
        "seed",
        "stop",
        "store",
        "temperature",
    ),
}


# Fields that only Anthropic's beta client knows, which the library uses if a beta is named.
_BETAS = {"context_management": "compact-2026-01-12", "fallbacks": "server-side-fallback-2026-06-01"}


def _model(call: Any) -> Any:
    params = dict(call.params)
    tools = [*params.pop("tools", ()), *call.tools]
    usage = params.pop("stream_options", {}).get("include_usage", False)
    fields = {name: params.pop(name) for name in _FIELDS[call.provider] if name in params}
    # The waits between retries are not bounded by `timeout`, so that a Retry-After would outlast the call.
    settings = {"model": call.model, "api_key": call.api_key, "timeout": call.timeout_s, "max_retries": 0, **fields}
    if call.provider == "anthropic":
        own = {name: params.pop(name) for name in ("context_management", "mcp_servers") if name in params}
        own |= {"betas": [beta for name, beta in _BETAS.items() if name in {*own, *params}] or None}
        model: Any = ChatAnthropic(base_url=call.base_url, model_kwargs=params, **own, **settings)
    elif call.provider == "deepseek":
        model = ChatDeepSeek(api_base=call.base_url, stream_usage=usage, extra_body=params or None, **settings)
    else:
        responses = call.api == "responses"
        # The library itself reads this parameter: a stream then ends with the whole completion.
        read = {} if responses else {name: params.pop(name) for name in ("response_format",) if name in params}
        if read and not all(tool.get("function", {}).get("strict") for tool in tools):
            raise NotImplementedError("OpenAI's parser, which LangChain uses here, takes only tools that are strict")
        model = ChatOpenAI(
            base_url=call.base_url,
            use_responses_api=responses,
            stream_usage=usage or None,
            model_kwargs=read,
            extra_body=params or None,
            **settings,
        )
    try:
        return model.bind_tools(tools) if tools else model
    except ValueError as error:
        raise NotImplementedError(f"a tool that the library does not take: {error}") from error


def _messages(call: Any) -> list[Any]:
    kinds = {}  # the types of the calls of OpenAI's own tools, by id
    messages = []
    for said in call.messages:
        if isinstance(said, Answer):
            kinds |= {item["call_id"]: item["type"] for item in _own_items(said.turn)}
            messages.append(said.turn)
        elif any(each.get("type") == "custom" for each in said.get("tool_calls") or ()):
            raise NotImplementedError("an earlier call of a custom tool, which has no form in a message of a role")
        elif kind := kinds.get(said.get("tool_call_id")):
            if kind != "custom_tool_call":
                raise NotImplementedError(f"the result of {kind}")
            output = {"type": "custom_tool_call_output", "output": said["content"]}
            messages.append(ToolMessage([output], tool_call_id=said["tool_call_id"]))
        else:
            messages.append(dict(said))
    return messages


# Calls of tools that OpenAI defines and the client runs, with the field that says what to do.
_OWN_CALLS = {
    **{"computer_call": ("actions", "action"), "local_shell_call": ("action",), "shell_call": ("action",)},
    **{"apply_patch_call": ("operation",), "tool_search_call": ("arguments",), "custom_tool_call": ("input",)},
}


def _own_items(message: AIMessage) -> Iterator[dict[str, Any]]:
    items = message.content if isinstance(message.content, list) else []
    for item in (each for each in items if isinstance(each, dict) and each.get("type") in _OWN_CALLS):
        elsewhere = (item.get("environment") or {}).get("type") == "container_reference"
        if item.get("execution") != "server" and not elsewhere:
            yield item


def _given(item: Mapping[str, Any]) -> str:
    given = next((item[name] for name in _OWN_CALLS[item["type"]] if item.get(name)), {})
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _events(chunk: Any) -> Iterator[Mapping[str, Any]]:
    for block in chunk.content_blocks:
        if block["type"] == "text" and block.get("text"):
            yield {"event_type": "response.output_text.delta", "delta": block["text"]}
        elif block["type"] == "reasoning" and block.get("reasoning"):
            yield {"event_type": "response.reasoning.delta", "delta": block["reasoning"]}
    own = {item["call_id"]: item for item in _own_items(chunk)}
    for id, item in own.items():  # they come whole
        tool = {"index": item.get("index", 0), "id": id, "name": item.get("name") or item["type"]}
        yield {"event_type": "response.function_call_arguments.delta", "tool_call": tool, "delta": _given(item)}
    if made := chunk.additional_kwargs.get("function_call"):
        tool = {"index": 0, "name": made.get("name")}
        yield {"event_type": "response.function_call_arguments.delta", "tool_call": tool, "delta": made["arguments"]}
    for piece in chunk.tool_call_chunks:
        if piece["id"] in own:
            continue
        tool = {"index": piece["index"] or 0, "id": piece["id"], "name": piece["name"]}
        yield {"event_type": "response.function_call_arguments.delta", "tool_call": tool, "delta": piece["args"]}


_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/opus", "pcm16": "audio/pcm"}
_FINISH = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "failed": "error",
    "aborted": "error",
    "insufficient_system_resource": "error",
}


def _answer(message: AIMessage, call: Any) -> Answer:
    said = message.response_metadata
    raw = said.get("finish_reason") or said.get("stop_reason") or said.get("status")
    raw = (said.get("incomplete_details") or {}).get("reason") or raw
    calls = [*_tool_calls(message)]
    # Responses have a hosted call and its result in one item, of which the library makes two blocks.
    has_output = any(isinstance(item, dict) and item.get("type") == "tool_search_output" for item in message.content)
    joined = ("server_tool_result",) if call.api == "responses" and not has_output else ()
    segments = [_segment(block) for block in message.content_blocks if block["type"] not in joined]
    if message.additional_kwargs.get("function_call"):
        segments.append({"type": "tool_call", "content": ""})
    refused = message.additional_kwargs.get("refusal")
    if refused:
        segments.append({"type": "other", "content": refused, "metadata": {"kind": "refusal"}})
    finish = _FINISH.get(raw or "")
    if refused or any(_is_refusal(block) for block in message.content_blocks):
        finish = "content_filter"
    answer = Answer(
        id=said.get("id") or message.id,
        provider=call.provider,
        model=said.get("model_name") or call.model,
        message=str(message.text),
        reasoning="".join(part["content"] for part in segments if part["type"] == "reasoning") or None,
        segments=segments,
        annotations=[*_annotations(message)],
        attachments=[*_attachments(message, call)],
        tool_calls=calls,
        finish_reason="tool_calls" if finish == "stop" and calls and call.api == "responses" else finish,
        raw_finish_reason=raw,
        usage=_usage(message.usage_metadata),
    )
    answer.native = answer.turn = message
    return answer


def _tool_calls(message: AIMessage) -> Iterator[dict[str, Any]]:
    own = {item["call_id"]: item for item in _own_items(message)}
    for id, item in own.items():
        kind = {"type": "custom"} if item["type"] == "custom_tool_call" else {}
        yield {"id": id, "name": item.get("name") or item["type"], "arguments": _given(item), **kind}
    if made := message.additional_kwargs.get("function_call"):
        yield {"id": None, "name": made["name"], "arguments": made["arguments"]}
    for made in (*message.tool_calls, *message.invalid_tool_calls):
        if made["id"] in own:
            continue
        args = made["args"]
        if not isinstance(args, str):  # parsed by the library; of their text nothing is left
            args = json.dumps(args or {}, ensure_ascii=False, separators=(",", ":"))
        yield {"id": made["id"] or None, "type": "function", "name": made["name"], "arguments": args or "{}"}


def _usage(counted: Any) -> dict[str, Any] | None:
    if counted is None:
        return None
    asked, answered = counted.get("input_token_details") or {}, counted.get("output_token_details") or {}
    return {
        "prompt_tokens": counted["input_tokens"],
        "completion_tokens": counted["output_tokens"],
        "total_tokens": counted["total_tokens"],
        "cached_tokens": _detail(asked, "cache_read"),
        "cache_write_tokens": _written(asked),
        "reasoning_tokens": _detail(answered, "reasoning"),
        "audio_prompt_tokens": asked.get("audio"),
        "audio_completion_tokens": answered.get("audio"),
        "raw": dict(counted),
    }


def _detail(details: Mapping[str, Any], name: str) -> int | None:
    """Return a count; OpenAI's faster tiers are in its name, as in `priority_cache_read`."""
    return next((details[key] for key in (name, f"priority_{name}", f"flex_{name}") if key in details), None)


def _written(asked: Mapping[str, Any]) -> int | None:
    """Return the tokens written to the cache; those of a known lifetime are counted apart."""
    lifetimes = (asked.get(f"ephemeral_{each}_input_tokens") for each in ("5m", "1h"))
    known: int | None = asked.get("cache_creation")
    return known if known is None else known + sum(each or 0 for each in lifetimes)


def _segment(block: Any) -> dict[str, Any]:
    match block["type"]:
        case "text":
            return {"type": "text", "content": block["text"]}
        case "reasoning":
            extras = block.get("extras") or {}
            sealed = block.get("encrypted_content") or extras.get("encrypted_content")
            seals = {"signature": extras.get("signature"), "encrypted": sealed}
            metadata = {name: value for name, value in seals.items() if value}
            return {"type": "reasoning", "content": block.get("reasoning") or "", "metadata": metadata}
        case "tool_call" | "invalid_tool_call":
            return {"type": "tool_call", "content": ""}
        case "server_tool_call" | "image":  # an image is what OpenAI's own tool made
            return {"type": "tool_call", "content": "", "metadata": {"server_executed": True}}
        case "non_standard" if block["value"].get("type") in _OWN_CALLS:
            return {"type": "tool_call", "content": ""}
        case "non_standard" if block["value"].get("type") == "redacted_thinking":
            return {"type": "reasoning", "content": "", "metadata": {"redacted": block["value"]["data"]}}
    return {"type": "other", "content": json.dumps(block, ensure_ascii=False)}


def _is_refusal(block: Any) -> bool:
    return block["type"] == "non_standard" and block["value"].get("type") == "refusal"


def _annotations(message: AIMessage) -> Iterator[dict[str, Any]]:
    # `content_blocks` would rename the fields of citations; in `content` they are the provider's.
    offset = 0
    for block in message.content if isinstance(message.content, list) else ():
        if isinstance(block, dict) and block.get("type") == "text":
            length = len(block.get("text", ""))  # a block that began with a citation may have none
            for citation in block.get("citations") or ():  # Anthropic's are about the block that they are on
                yield {"start": offset, "end": offset + length, "data": citation}
            for citation in block.get("annotations") or ():
                start, end = citation.get("start_index"), citation.get("end_index")
                span = (None, None) if start is None else (start + offset, end + offset)
                renamed = {"file_index": "index"}  # the library's name, so that chunks can be added up
                data = {renamed.get(name, name): value for name, value in citation.items()}
                yield {"start": span[0], "end": span[1], "data": data}
            offset += length


def _attachments(message: AIMessage, call: Any) -> Iterator[dict[str, Any]]:
    audio = message.additional_kwargs.get("audio")
    if audio:
        form = _AUDIO.get((call.params.get("audio") or {}).get("format"))  # only the request says it
        yield {"type": form, **{name: audio.get(name) for name in ("id", "data", "transcript", "expires_at")}}
