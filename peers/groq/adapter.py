"""The groq library: `chat.completions.create`, sync, whole and with `stream=True`.

The library has nothing that folds chunks, so a streamed answer is folded here by the names of its own types. An earlier
answer goes back as the message object (`messages.append(response.choices[0].message)`), after a stream as its text and
tool calls.

The library puts `/openai/v1` behind `base_url`, which `call.base_url` already stands for: a transport takes it away.
`max_retries` is 0: the library's `timeout` holds for each attempt, and its two retries would outlast `call.timeout_s`.
"""

import inspect
from datetime import UTC, datetime

import groq
import httpx

FINISH = {
    **{"stop": "stop", "length": "length", "tool_calls": "tool_calls", "function_call": "tool_calls"},
    **{"content_filter": "content_filter"},
}
ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIError": "LLMError",  # an error in a stream, which has no status
    "APIResponseValidationError": "ValidationError",
    "JSONDecodeError": "ValidationError",
}


class Answer(dict):
    """A canonical response that keeps the message for the next turn."""

    native = None


class Adapter:
    """Chat completions, whole and streamed."""

    name = "groq"
    version = groq.__version__
    providers = ("groq:chat",)
    capabilities = (
        *("streaming", "reasoning", "annotations", "tools", "round_trip", "errors"),
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


class _Rebased(httpx.HTTPTransport):
    def handle_request(self, request):
        request.url = request.url.copy_with(path=request.url.path.replace("/openai/v1/", "/", 1))
        return super().handle_request(request)


def _client(call):
    http_client = groq.DefaultHttpxClient(transport=_Rebased())
    return groq.Groq(
        base_url=call.base_url, api_key=call.api_key, timeout=call.timeout_s, max_retries=0, http_client=http_client
    )


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
        reasoning=message.reasoning or None,
        annotations=[_annotation(each) for each in message.annotations or ()],
        tool_calls=calls,
        usage=_usage(completion.usage),
        raw_finish_reason=choice.finish_reason,
    )


def _answer(first, call, native, **said):
    answer = Answer(id=first.id, provider=call.provider, model=first.model, **said)
    answer["created"] = datetime.fromtimestamp(first.created, UTC).isoformat() if first.created else None
    answer["finish_reason"] = FINISH.get(said["raw_finish_reason"])
    answer.native = native
    return answer


def _annotation(native):
    own = native.to_dict()
    cited = own.pop(own["type"], {})
    return {"start": cited.pop("start_index", None), "end": cited.pop("end_index", None), "data": {**own, **cited}}


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
    text, reasoning, annotations, calls = "", "", [], {}
    for chunk in stream:
        first = first or chunk
        usage = chunk.usage or (chunk.x_groq and chunk.x_groq.usage) or usage
        if chunk.x_groq and chunk.x_groq.error:
            error = {"error_type": "LLMError", "message": str(chunk.x_groq.error)}
            yield {"event_type": "response.error", "error": error}
            return
        for choice in (each for each in chunk.choices if each.index == 0):
            delta, finish = choice.delta, choice.finish_reason or finish
            if delta.reasoning:
                reasoning += delta.reasoning
                yield {"event_type": "response.reasoning.delta", "delta": delta.reasoning}
            if delta.content:
                text += delta.content
                yield {"event_type": "response.output_text.delta", "delta": delta.content}
            for piece in delta.tool_calls or ():
                made = calls.setdefault(piece.index, {"id": None, "name": "", "arguments": ""})
                made["id"] = made["id"] or piece.id
                made["name"] += piece.function.name or ""
                made["arguments"] += piece.function.arguments or ""
                whose = {"index": piece.index, "id": made["id"], "name": made["name"]}
                given = piece.function.arguments
                yield {"event_type": "response.function_call_arguments.delta", "delta": given, "tool_call": whose}
            annotations += map(_annotation, delta.annotations or ())
    if first is None:  # the library takes a body without chunks for a stream that has ended
        return
    made = [{**each, "arguments": each["arguments"] or "{}"} for each in calls.values()]
    said = {"role": "assistant", "content": text}
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
        annotations=annotations,
        tool_calls=made,
        usage=_usage(usage),
        raw_finish_reason=finish,
    )
    yield {"event_type": "response.completed", "response": answer}


conformance_adapter = Adapter
