"""The anthropic library: `messages.create` and the helper `messages.stream` with `get_final_message`, sync.

An earlier answer goes back as its documentation says, `{"role": "assistant", "content": message.content}`. The library
gives arguments of tools as objects, and the shim writes these as JSON text. A citation is about the text block that has
it.

Requests with a field of a beta go through `client.beta.messages`, as the library demands. Only the stream helper of the
beta knows the deltas of a compaction and the model behind a fallback.

`max_retries` is 0: the library's `timeout` holds for each attempt, and its two retries would outlast `call.timeout_s`.
"""

import inspect
import json

import anthropic

from llm_conformance.shims.native import Answer

FINISH = {
    **{"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "refusal": "content_filter"},
    **{"max_tokens": "length", "model_context_window_exceeded": "length"},
}
SAID_ELSEWHERE = (
    *("content_block_delta", "content_block_stop", "message_delta", "message_stop"),
    *("signature", "citation", "compaction"),
)
BETA = ("context_management", "mcp_servers", "fallbacks")
HOSTED = ("server_tool_use", "mcp_tool_use")
ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIStatusError": "LLMError",  # an error in a stream, whose status is 200
    "APIResponseValidationError": "ValidationError",
    # `APIStatusError.type` of an error in a stream
    **{"overloaded_error": "ServiceUnavailableError", "api_error": "ServiceUnavailableError"},
    **{"rate_limit_error": "RateLimitError", "authentication_error": "AuthenticationError"},
    **{"invalid_request_error": "InvalidRequestError", "not_found_error": "ResourceNotFoundError"},
    **{"timeout_error": "TimeoutError", "permission_error": "AuthenticationError"},
    **{"billing_error": "InvalidRequestError", "request_too_large": "InvalidRequestError"},
}


class Adapter:
    """Messages, whole and streamed."""

    name = "anthropic"
    version = anthropic.__version__
    providers = ("anthropic:messages",)
    capabilities = (
        *("streaming", "reasoning", "segments", "annotations", "tools", "round_trip", "errors"),
        *("lost_connections", "unreadable_bodies", "incomplete_streams"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as client:
            create = _messages_of(client, call).create
            return _answer(create(**_asked(call, create)), call)

    def stream(self, call):
        """Yield a streamed answer."""
        try:
            yield from self._stream(call)
        except anthropic.APIStatusError as error:
            if error.status_code >= 400:
                raise
            # An error in a stream has the status of the answer, 200.
            said = {"error_type": error.type if error.type in ERRORS else "APIStatusError", "message": error.message}
            yield {"event_type": "response.error", "error": said}

    def _stream(self, call):
        with _client(call) as client:
            helper = _messages_of(client, call).stream
            with helper(**_asked(call, helper)) as stream:
                yield from _events(stream)
                yield {"event_type": "response.completed", "response": _answer(stream.get_final_message(), call)}


def _client(call):
    return anthropic.Anthropic(base_url=call.base_url, api_key=call.api_key, timeout=call.timeout_s, max_retries=0)


def _messages_of(client, call):
    return client.beta.messages if any(field in call.params for field in BETA) else client.messages


def _asked(call, method):
    params = {"max_tokens": 4096, **call.params}
    system = [each["content"] for each in call.messages if not isinstance(each, Answer) and each["role"] == "system"]
    if system:
        params["system"] = system[0] if len(system) == 1 else "\n\n".join(system)
    if call.tools:
        functions = (tool["function"] for tool in call.tools)
        own = [
            {"name": each["name"], "description": each.get("description", ""), "input_schema": each["parameters"]}
            for each in functions
        ]
        params["tools"] = [*params.get("tools", ()), *own]
    known = inspect.signature(method).parameters
    extra = {name: params.pop(name) for name in list(params) if name not in known}
    if extra:
        params["extra_body"] = extra
    return {"model": call.model, "messages": list(_messages(call)), **params}


def _messages(call):
    results = []
    for message in call.messages:
        if isinstance(message, Answer):
            yield {"role": "assistant", "content": message.turn.content}
        elif message["role"] == "tool":
            if not results:
                yield {"role": "user", "content": results}
            said = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
            results.append(said)
            continue
        elif message["role"] != "system":
            yield message
        results = []


def _events(stream):
    calls = []
    for event in stream:
        match event.type:
            case "text":
                yield {"event_type": "response.output_text.delta", "delta": event.text}
            case "thinking":
                yield {"event_type": "response.reasoning.delta", "delta": event.thinking}
            case "message_start" | "content_block_start":
                # Calls of code that runs on Anthropic's side are whole here; the input of others follows.
                for block in event.message.content if event.type == "message_start" else [event.content_block]:
                    if block.type == "tool_use":
                        calls.append({"index": len(calls), "id": block.id, "name": block.name})
                        made = {"delta": json.dumps(block.input, ensure_ascii=False)} if block.input else {}
                        said = {**made, "tool_call": calls[-1]}
                        yield {"event_type": "response.function_call_arguments.delta", **said}
            case "input_json":
                if block.type == "tool_use":
                    piece = event.partial_json
                    yield {
                        "event_type": "response.function_call_arguments.delta",
                        "delta": piece,
                        "tool_call": calls[-1],
                    }
            case kind if kind not in SAID_ELSEWHERE:
                shown = {"type": "other", "content": "", "metadata": event.to_dict()}
                yield {"event_type": "response.output_text.delta", "delta": "", "segments": [shown]}


def _answer(message, call):
    text, segments, annotations, calls = "", [], [], []
    for block in message.content:
        segments.append(_segment(block))
        if block.type == "text":
            span = {"start": len(text), "end": len(text) + len(block.text)}
            annotations += [{**span, "data": each.to_dict()} for each in block.citations or ()]
            text += block.text
        elif block.type == "tool_use":
            calls.append({"id": block.id, "name": block.name, "arguments": segments[-1]["content"]})
    answer = Answer(
        id=message.id,
        provider=call.provider,
        model=message.model,
        message=text,
        reasoning="".join(each["content"] for each in segments if each["type"] == "reasoning") or None,
        segments=segments,
        annotations=annotations,
        tool_calls=calls,
        usage=_usage(message.usage),
        finish_reason=FINISH.get(message.stop_reason),
        raw_finish_reason=message.stop_reason,
    )
    answer.native = answer.turn = message
    return answer


def _segment(block):
    match block.type:
        case "text":
            return {"type": "text", "content": block.text}
        case "thinking":
            return {"type": "reasoning", "content": block.thinking, "metadata": {"signature": block.signature}}
        case "redacted_thinking":
            return {"type": "reasoning", "content": "", "metadata": {"redacted": block.data}}
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            about = {"server_executed": True} if block.type in HOSTED else {}
            made = json.dumps(block.input, ensure_ascii=False)
            return {"type": "tool_call", "content": made, "metadata": {**about, "id": block.id, "name": block.name}}
        case _:
            return {"type": "other", "content": "", "metadata": block.to_dict()}


def _usage(usage):
    """Sum up as documented: input tokens are those that were neither read from the cache nor put there."""
    if usage is None:
        return None
    read, written, rest = usage.cache_read_input_tokens, usage.cache_creation_input_tokens, usage.input_tokens
    asked = None if rest is None else rest + (read or 0) + (written or 0)
    answered = usage.output_tokens
    details = usage.output_tokens_details
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": None if asked is None or answered is None else asked + answered,
        "cached_tokens": read,
        "cache_write_tokens": written,
        "reasoning_tokens": details.thinking_tokens if details else None,
        "raw": usage.to_dict(),
    }


conformance_adapter = Adapter
