"""The zai-sdk library: `ZaiClient.chat.completions.create`, sync, whole and with `stream=True`.

The library has nothing that folds chunks, so a streamed answer is folded here by the names of its own types. An earlier
answer goes back as in the library's examples, `messages.append(response.choices[0].message)`, after a stream as a
mapping with its text, reasoning and tool calls.

`max_retries` is 0: the library's `timeout` holds for each attempt, and three retries would outlast `call.timeout_s`.
"""

import inspect
from datetime import UTC, datetime

import zai

FINISH = {
    **{"stop": "stop", "length": "length", "tool_calls": "tool_calls", "sensitive": "content_filter"},
    **{"network_error": "error", "model_context_window_exceeded": "length"},
}
# Errors with an HTTP status are known by that; these are the others, some of them httpx's.
ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIResponseValidationError": "ValidationError",
    "APIResponseError": "LLMError",  # an error object in a stream; the library gives it no class of its own
    "JSONDecodeError": "ValidationError",
    "DecodingError": "ValidationError",
    "TimeoutException": "TimeoutError",
    "TransportError": "ServiceUnavailableError",
}


class Answer(dict):
    """A canonical response that keeps the message for the next turn."""

    native = None


class Adapter:
    """Chat completions, whole and streamed."""

    name = "zai-sdk"
    version = zai.__version__
    providers = ("zai:chat",)
    capabilities = (
        *("streaming", "reasoning", "tools", "round_trip", "errors"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as client:
            return _of_completion(_create(client, call), call)

    def stream(self, call):
        """Yield a streamed answer."""
        with _client(call) as client:
            yield from _events(_create(client, call, stream=True), call)


def _client(call):
    return zai.ZaiClient(base_url=call.base_url, api_key=call.api_key, timeout=call.timeout_s, max_retries=0)


def _create(client, call, **said):
    create = client.chat.completions.create
    params = {**call.params, **said}
    if call.tools:
        params["tools"] = [*params.get("tools", ()), *call.tools]
    known = inspect.signature(create).parameters
    extra = {name: params.pop(name) for name in list(params) if name not in known}
    messages = [each.native if isinstance(each, Answer) else each for each in call.messages]
    return create(model=call.model, messages=messages, **params, **({"extra_body": extra} if extra else {}))


def _of_completion(completion, call):
    choice = completion.choices[0]
    message = choice.message
    calls = [
        {"id": each.id, "name": each.function.name, "arguments": each.function.arguments or "{}"}
        for each in message.tool_calls or ()
    ]
    return _answer(
        completion,
        call,
        message,
        message=message.content or "",
        reasoning=message.reasoning_content or None,
        tool_calls=calls,
        usage=_usage(completion.usage),
        raw_finish_reason=choice.finish_reason,
    )


def _answer(first, call, native, **said):
    known = first.to_dict() if first else {}  # a stream may have no chunk at all
    answer = Answer(id=known.get("id"), provider=call.provider, model=known.get("model") or call.model, **said)
    created = known.get("created")
    answer["created"] = datetime.fromtimestamp(created, UTC).isoformat() if created else None
    answer["finish_reason"] = FINISH.get(said["raw_finish_reason"])
    answer.native = native
    return answer


def _usage(usage):
    if usage is None:
        return None
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "cached_tokens": prompt.cached_tokens if prompt else None,
        "reasoning_tokens": completion.reasoning_tokens if completion else None,
        "raw": usage.to_dict(),
    }


def _events(stream, call):
    first, finish, usage = None, None, None
    text, reasoning, calls = "", "", {}
    for chunk in stream:
        first = first or chunk
        usage = chunk.usage or usage
        for choice in chunk.choices:
            delta, finish = choice.delta, choice.finish_reason or finish
            if delta.reasoning_content:
                reasoning += delta.reasoning_content
                yield {"event_type": "response.reasoning.delta", "delta": delta.reasoning_content}
            if delta.content:
                text += delta.content
                yield {"event_type": "response.output_text.delta", "delta": delta.content}
            for piece in delta.tool_calls or ():
                made = calls.setdefault(piece.index, {"id": None, "name": "", "arguments": ""})
                made["id"] = made["id"] or piece.id
                given = piece.function.arguments if piece.function else None
                made["name"] += (piece.function and piece.function.name) or ""
                made["arguments"] += given or ""
                whose = {"index": piece.index, "id": made["id"], "name": made["name"]}
                yield {"event_type": "response.function_call_arguments.delta", "delta": given, "tool_call": whose}
    made = [{**each, "arguments": each["arguments"] or "{}"} for each in calls.values()]
    said = {"role": "assistant", "content": text}
    if reasoning:
        said["reasoning_content"] = reasoning
    if made:
        said["tool_calls"] = [
            {"id": each["id"], "type": "function", "function": {"name": each["name"], "arguments": each["arguments"]}}
            for each in made
        ]
    answer = _answer(
        first,
        call,
        said,
        message=text,
        reasoning=reasoning or None,
        tool_calls=made,
        usage=_usage(usage),
        raw_finish_reason=finish,
    )
    yield {"event_type": "response.completed", "response": answer}


conformance_adapter = Adapter
