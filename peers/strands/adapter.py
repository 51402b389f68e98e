"""Strands Agents: its model providers and the loop that makes messages of what they stream.

The models are `AnthropicModel`, `GeminiModel`, `OpenAIModel` (with `stream=False` for plain answers) and
`OpenAIResponsesModel`, with clients of the call's own (`client_args`). `stream_messages` is what an `Agent` calls for
one turn of a model. It gives the provider's events in the form of Bedrock's Converse API, and at the end the stop
reason, the message and the usage. That message is what goes back in the next turn. There is no id, no name of the model
that answered, no provider's finish word and no count of reasoning; so these are not declared. What has no form in a
message or a tool of Strands is refused here.

The clients' own retries are off: each may wait for `call.timeout_s`, and together they would exceed it.
"""

from __future__ import annotations

import base64
import json
from importlib.metadata import version
from typing import Any

import anthropic
import openai
from google.genai import types
from strands.event_loop.streaming import stream_messages
from strands.models.anthropic import AnthropicModel
from strands.models.gemini import GeminiModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel

from llm_conformance.shims.native import Answer

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    # Anthropic's own words, which Strands hands on
    "refusal": "content_filter",
    "model_context_window_exceeded": "length",
}


class Adapter:
    """One model object a call."""

    name = "strands"
    version = version("strands-agents")
    providers = ("anthropic:messages", "deepseek:chat", "gemini:generate", "openai:chat", "openai:responses")
    capabilities = (
        *("streaming", "reasoning", "segments", "annotations", "tools", "round_trip", "errors"),
        "incomplete_streams",
        "error_details",
    )
    # The library does not keep the text of arguments. The shim writes compact JSON, so only compact texts are compared.
    excluded_inputs = {  # noqa: RUF012 - read, never written
        f"text of arguments: {way}": "`input` of a ToolUse is an object: "
        "https://strandsagents.com/docs/api/python/strands.types.tools/"
        for way in ("spaced", "indented")
    }
    errors = {  # noqa: RUF012 - read, never written
        "APITimeoutError": "TimeoutError",
        "APIConnectionError": "ServiceUnavailableError",
        "APIResponseValidationError": "ValidationError",
        "ModelThrottledException": "RateLimitError",
        "ContextWindowOverflowException": "InvalidRequestError",
        "ClientError": "InvalidRequestError",
        "ServerError": "ServiceUnavailableError",
        "UnknownApiResponseError": "ValidationError",
        # `type` of errors in streams: OpenAI's, then Anthropic's
        **{"server_error": "ServiceUnavailableError", "insufficient_quota": "RateLimitError"},
        **{"overloaded_error": "ServiceUnavailableError", "api_error": "ServiceUnavailableError"},
        **{"rate_limit_error": "RateLimitError", "authentication_error": "AuthenticationError"},
        **{"invalid_request_error": "InvalidRequestError", "not_found_error": "ResourceNotFoundError"},
    }

    async def complete(self, call: Any) -> Answer:
        """Ask for an answer, and return what the loop ends with."""
        async for event in _events(call):
            if "stop" in event:
                return _answer(call, *event["stop"][:3])
        raise RuntimeError("the loop ended without a stop event")

    async def stream(self, call: Any) -> Any:
        """Ask for an answer, and give its events."""
        try:
            async for event in self._stream(call):
                yield event
        except (openai.APIError, anthropic.APIStatusError, RuntimeError) as error:
            if (told := _told_in_a_stream(error)) is None:
                raise
            yield told

    async def _stream(self, call: Any) -> Any:
        calls: list[dict[str, Any]] = []
        async for event in _events(call):
            chunk = event.get("event", {})
            start = chunk.get("contentBlockStart", {}).get("start", {}).get("toolUse")
            delta = chunk.get("contentBlockDelta", {}).get("delta", {})
            if start:
                calls.append({"index": len(calls), "id": start["toolUseId"], "name": start["name"]})
                yield _call_piece(calls[-1], "")
            elif "toolUse" in delta and calls:
                yield _call_piece(calls[-1], delta["toolUse"].get("input", ""))
            elif "text" in delta:
                yield {"event_type": "response.output_text.delta", "delta": delta["text"]}
            elif "text" in delta.get("reasoningContent", {}):
                yield {"event_type": "response.reasoning.delta", "delta": delta["reasoningContent"]["text"]}
            elif "stop" in event:
                yield {"event_type": "response.completed", "response": _answer(call, *event["stop"][:3])}


def _told_in_a_stream(error: Any) -> dict[str, Any] | None:
    """Return the event for an error in a stream; None for others. Only its type or code says what it is."""
    if type(error) is openai.APIError or getattr(error, "status_code", 0) == 200:
        said = error.body if isinstance(error.body, dict) else {}
        kind = said.get("error", said).get("type")  # OpenAI's client takes the error out of the frame
    elif isinstance(error, RuntimeError) and hasattr(error, "code"):  # Strands' own, of the Responses API
        kind = error.code
    else:
        return None
    known = kind if kind in Adapter.errors else "LLMError"
    return {"event_type": "response.error", "error": {"error_type": known, "message": str(error)}}


def _events(call: Any) -> Any:
    """Return the events of one turn of the model."""
    system = [block for message in call.messages for block in _system(message)]
    return stream_messages(
        _model(call),
        "\n".join(block["text"] for block in system if "text" in block) or None,
        [_message(message) for message in call.messages if message.get("role") != "system"],
        [_tool(tool["function"]) for tool in call.tools],
        system_prompt_content=system or None,
    )


_NO_FORM = {
    *("custom", "local_shell", "shell", "apply_patch", "computer", "computer_use_preview", "tool_search"),
    "programmatic_tool_calling",
}


def _model(call: Any) -> Any:
    params = dict(call.params)
    if refused := [tool["type"] for tool in (*params.get("tools", ()), *call.tools) if tool.get("type") in _NO_FORM]:
        raise NotImplementedError(f"tools whose calls have no form in Strands: {', '.join(refused)}")
    if (
        not {"functions", "modalities"}.isdisjoint(params)
        or params.get("n", 1) > 1
        or params.get("generationConfig", {}).get("candidateCount", 1) > 1
    ):
        raise NotImplementedError("functions, audio, and several choices, which Strands does not read")
    client = {"base_url": call.base_url, "api_key": call.api_key, "timeout": call.timeout_s, "max_retries": 0}
    if call.provider == "anthropic":
        if beta := [name for name in ("container", "context_management", "fallbacks", "mcp_servers") if name in params]:
            raise NotImplementedError(
                f"{', '.join(beta)}: Anthropic's beta client knows it; Strands uses the other one"
            )
        return AnthropicModel(
            client_args=client, model_id=call.model, max_tokens=params.pop("max_tokens"), params=params
        )
    if call.provider == "gemini":
        hosted = [types.Tool(**tool) for tool in params.pop("tools", ())]
        settings = {**params.pop("generationConfig", {}), **params}
        if "toolConfig" in settings:  # Strands adds to this setting under its name in Python
            settings["tool_config"] = types.ToolConfig.model_validate(settings.pop("toolConfig"))
        options = {"base_url": call.base_url, "timeout": int(call.timeout_s * 1000)}
        return GeminiModel(
            client_args={"api_key": call.api_key, "http_options": options},
            model_id=call.model,
            params=settings,
            gemini_tools=hosted,
        )
    if call.api == "responses":
        tools = {"tools": params.pop("tools")} if "tools" in params else {}
        return OpenAIResponsesModel(client_args=client, model_id=call.model, params={**tools, "extra_body": params})
    options = {"stream_options": params.pop("stream_options")} if "stream_options" in params else {}
    return OpenAIModel(
        client_args=client, model_id=call.model, stream=call.stream, params={**options, "extra_body": params}
    )


def _system(message: Any) -> list[dict[str, Any]]:
    if message.get("role") != "system":
        return []
    content = message["content"]
    parts = [{"text": content}] if isinstance(content, str) else content
    point = {"cachePoint": {"type": "default"}}
    return [
        block for part in parts for block in [{"text": part["text"]}, *([point] if "cache_control" in part else [])]
    ]


def _message(message: Any) -> dict[str, Any]:
    """Return a message in the form of Bedrock's Converse API; an earlier answer is the message that Strands made."""
    if isinstance(message, Answer):
        return message.turn
    if message["role"] == "tool":
        result = {"toolUseId": message["tool_call_id"], "status": "success", "content": [{"text": message["content"]}]}
        return {"role": "user", "content": [{"toolResult": result}]}
    content = message.get("content") or []
    blocks = [{"text": content}] if isinstance(content, str) else [_block(block) for block in content]
    for each in message.get("tool_calls", ()):
        if "function" not in each:
            raise NotImplementedError("an earlier call of a custom tool")
        function = each["function"]
        blocks.append(
            {"toolUse": {"toolUseId": each["id"], "name": function["name"], "input": json.loads(function["arguments"])}}
        )
    return {"role": message["role"], "content": blocks}


def _block(block: Any) -> dict[str, Any]:
    source = block["source"] if isinstance(block.get("source"), dict) else {}  # a search result's is a URL
    if block.get("type") == "image" and source.get("type") == "base64":
        format = source["media_type"].removeprefix("image/")
        return {"image": {"format": format, "source": {"bytes": base64.b64decode(source["data"])}}}
    if source.get("type") in ("text", "base64"):
        text = source["type"] == "text"
        data = source["data"].encode() if text else base64.b64decode(source["data"])
        about = {"format": "txt" if text else "pdf", "name": block.get("title", "document")}
        options = {key: block[key] for key in ("citations", "context") if key in block}
        return {"document": {**about, **options, "source": {"bytes": data}}}
    if "text" not in block:
        raise NotImplementedError(f"content of the type {source.get('type') or block.get('type') or next(iter(block))}")
    return {"text": block["text"]}


def _tool(function: Any) -> dict[str, Any]:
    schema = {"json": function.get("parameters") or {"type": "object", "properties": {}}}
    return {"name": function["name"], "description": function.get("description", ""), "inputSchema": schema}


def _call_piece(tool_call: dict[str, Any], delta: str) -> dict[str, Any]:
    return {"event_type": "response.function_call_arguments.delta", "delta": delta, "tool_call": dict(tool_call)}


def _answer(call: Any, stop_reason: str, turn: Any, usage: Any) -> Answer:
    message, segments, annotations, calls = "", [], [], []
    for block in turn["content"]:
        if "text" in block or "citationsContent" in block:
            cited = block.get("citationsContent", {})
            text = block["text"] if "text" in block else "".join(part["text"] for part in cited["content"])
            span = {"start": len(message), "end": len(message) + len(text)}
            annotations += [{**span, "data": dict(each)} for each in cited.get("citations", ())]
            segments.append({"type": "text", "content": text})
            message += text
        elif "reasoningContent" in block:
            segments.append(_reasoning(block["reasoningContent"]))
        elif "toolUse" in block:
            use = block["toolUse"]
            arguments = json.dumps(use["input"], ensure_ascii=False, separators=(",", ":"))
            sealed = {"signature": use["reasoningSignature"]} if "reasoningSignature" in use else {}
            calls.append({"id": use["toolUseId"], "name": use["name"], "arguments": arguments})
            segments.append({"type": "tool_call", "content": arguments, "metadata": sealed})
        else:
            segments.append({"type": "other", "content": "", "metadata": {"wire": block}})
    # Anthropic's input tokens are those beside the cache, and Strands hands them on so
    cached = usage.get("cacheReadInputTokens", 0) + usage.get("cacheWriteInputTokens", 0)
    answer = Answer(
        provider=call.provider,
        model=call.model,
        message=message,
        reasoning="".join(each["content"] for each in segments if each["type"] == "reasoning") or None,
        segments=segments,
        annotations=annotations,
        tool_calls=calls,
        finish_reason=FINISH.get(stop_reason),
        raw_finish_reason=None,  # Strands has a word of its own in its place
        usage={
            "prompt_tokens": usage["inputTokens"] + (cached if call.provider == "anthropic" else 0),
            "completion_tokens": usage["outputTokens"],
            "total_tokens": usage["totalTokens"],
            "cached_tokens": usage.get("cacheReadInputTokens"),
            "cache_write_tokens": usage.get("cacheWriteInputTokens"),
        },
    )
    answer.native, answer.turn = [stop_reason, turn, usage], turn
    return answer


def _reasoning(content: Any) -> dict[str, Any]:
    if "redactedContent" in content:
        sealed = base64.b64encode(content["redactedContent"]).decode()
        return {"type": "reasoning", "content": "", "metadata": {"redacted": sealed}}
    said = content["reasoningText"]
    sealed = {"signature": said["signature"]} if "signature" in said else {}
    return {"type": "reasoning", "content": said["text"], "metadata": sealed}


conformance_adapter = Adapter
