"""The openai library: `chat.completions.create` and `responses.create`, sync, as its README shows them.

Chunks of a streamed chat completion are folded by the library's own `ChatCompletionStreamState`;
a streamed response is the one that its last event carries. An earlier answer goes back as the library's message object
(`messages.append(completion.choices[0].message)`) or output items (`input += response.output`).

`max_retries` is 0: the library's `timeout` holds for each attempt, and its two retries would outlast `call.timeout_s`.
"""

import json
from datetime import UTC, datetime
from typing import get_args

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.responses import ResponseStreamEvent

from llm_conformance.shims import chat
from llm_conformance.shims.native import Answer, keywords, turns

FINISH = {**chat.FINISH, "completed": "stop", "max_output_tokens": "length", "failed": "error"}
HOSTED = (
    *("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "program"),
    *("shell_call", "tool_search_call"),  # those that are not the client's
)
CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
# Calls of tools that OpenAI defines and the client runs, with the field that says what to do.
OWN_CALLS = {
    **{"computer_call": ("actions", "action"), "local_shell_call": ("action",), "shell_call": ("action",)},
    **{"apply_patch_call": ("operation",), "tool_search_call": ("arguments",)},
}
TEXT, REASONING = "response.output_text.delta", "response.reasoning.delta"
ARGUMENTS = "response.function_call_arguments.delta"
ENDS = ("response.completed", "response.incomplete", "response.failed")
KNOWN = {get_args(each.model_fields["type"].annotation)[0] for each in get_args(get_args(ResponseStreamEvent)[0])}
ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIError": "LLMError",  # an error in a stream, which has no status
    "APIResponseValidationError": "ValidationError",
    # `ResponseError.code` of a response that failed, and `type` of an error in a stream
    **{"server_error": "ServiceUnavailableError", "rate_limit_exceeded": "RateLimitError"},
    **{"insufficient_quota": "RateLimitError", "invalid_request_error": "InvalidRequestError"},
    **{"invalid_prompt": "InvalidRequestError", "vector_store_timeout": "TimeoutError"},
}


class Adapter:
    """Calls go to the method of the call's API."""

    name = "openai"
    version = openai.__version__
    providers = ("openai:chat", "openai:responses")
    capabilities = (
        *("streaming", "reasoning", "segments", "annotations", "audio", "tools", "round_trip", "errors"),
        *("lost_connections", "unreadable_bodies"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as asked:
            if call.api == "chat":
                return _of_completion(_create(asked.chat.completions, call, messages=turns(call)), call)
            return _of_response(_create(asked.responses, call, input=list(_items(call))), call)

    def stream(self, call):
        """Yield a streamed answer."""
        try:
            yield from self._stream(call)
        except openai.APIError as error:
            if type(error) is not openai.APIError:  # errors in a stream have a type and no class of their own
                raise
            said = {"error_type": error.type or "APIError", "message": error.message}
            yield {"event_type": "response.error", "error": said}

    def _stream(self, call):
        with _client(call) as asked:
            if call.api == "chat":
                yield from _chunks(_create(asked.chat.completions, call, messages=turns(call), stream=True), call)
            else:
                yield from _events(_create(asked.responses, call, input=list(_items(call)), stream=True), call)


def _client(call):
    return openai.OpenAI(base_url=call.base_url, api_key=call.api_key, timeout=call.timeout_s, max_retries=0)


def _create(resource, call, **said):
    params = {**call.params, **said}
    if call.tools:
        own = [{"type": "function", **tool["function"]} for tool in call.tools] if call.api != "chat" else call.tools
        params["tools"] = [*params.get("tools", ()), *own]
    return resource.create(model=call.model, **keywords(resource.create, params))


def _items(call):
    calls = {}  # what was called, by id: the type of the item, and the program that made the call
    for message in call.messages:
        if isinstance(message, Answer):
            for item in (each.to_dict() for each in message.turn.output):
                calls[item.get("call_id")] = item["type"], item.get("caller")
            yield from message.turn.output
        elif message["role"] == "tool":
            yield _result(message, *calls.get(message["tool_call_id"], ("function_call", None)))
        else:
            if message.get("content"):
                yield {"role": message["role"], "content": message["content"]}
            for made in message.get("tool_calls") or ():
                kind = "custom_tool_call" if made["type"] == "custom" else "function_call"
                calls[made["id"]] = kind, None
                yield {"type": kind, "call_id": made["id"], **made[made["type"]]}


def _result(message, kind, caller):
    """Return what goes back for a call, in the documented form for its type."""
    output = message["content"]
    match kind:
        case "computer_call":
            raise NotImplementedError("a computer is answered with a screenshot, which the call does not have")
        case "tool_search_call":
            said = {"type": "tool_search_output", "execution": "client", "tools": json.loads(output)}
        case "shell_call":
            ended = {"stdout": output, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
            said = {"type": "shell_call_output", "output": [ended]}
        case "apply_patch_call":
            said = {"type": "apply_patch_call_output", "status": "completed", "output": output}
        case _:
            said = {"type": f"{kind}_output", "output": output}
    from_program = {"caller": caller} if caller and caller.get("type") == "program" else {}
    return {**said, **from_program, "call_id": message["tool_call_id"]}


def _of_completion(completion, call):
    made = chat.answer(completion, call, finish=FINISH)
    made["segments"] = chat.segments(made, completion.choices[0].message.refusal)
    return made


def _chunks(stream, call):
    state = ChatCompletionStreamState()
    for chunk in stream:
        state.handle_chunk(chunk)
        for choice in (each for each in chunk.choices if each.index == 0):
            yield from chat.deltas(choice.delta)
    yield {"event_type": "response.completed", "response": _of_completion(state.current_completion_snapshot, call)}


def _events(stream, call):
    calls = {}
    for event in stream:
        match event.type:
            case "response.output_text.delta":
                yield {"event_type": TEXT, "delta": event.delta}
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield {"event_type": REASONING, "delta": event.delta}
            case "response.output_item.added" | "response.output_item.done" if event.item.type in CALLS:
                item = event.item
                index, given = calls.get(event.output_index, (len(calls), ""))
                piece = None if given else getattr(item, CALLS[item.type])
                calls[event.output_index] = index, given or piece
                whose = {"index": index, "id": item.call_id, "name": item.name}
                yield {"event_type": ARGUMENTS, "delta": piece, "tool_call": whose}
            case "response.output_item.done" if _is_own_call(event.item):
                calls[event.output_index] = len(calls), ""
                whose = {"index": len(calls) - 1, "id": event.item.call_id, "name": event.item.type}
                yield {"event_type": ARGUMENTS, "delta": _given(event.item), "tool_call": whose}
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                index, given = calls.get(event.output_index, (len(calls), ""))
                calls[event.output_index] = index, given + event.delta
                yield {"event_type": ARGUMENTS, "delta": event.delta, "tool_call": {"index": index}}
            case "response.failed" if event.response.error:
                error = event.response.error
                yield {"event_type": "response.error", "error": {"error_type": error.code, "message": error.message}}
            case "error":
                said = {"error_type": event.code or "error", "message": event.message}
                yield {"event_type": "response.error", "error": said}
            case kind if kind in ENDS:
                yield {"event_type": "response.completed", "response": _of_response(event.response, call)}
            case kind if kind not in KNOWN:
                shown = {"type": "other", "content": "", "metadata": event.to_dict()}
                yield {"event_type": TEXT, "delta": "", "segments": [shown]}


def _of_response(response, call):
    said = {"segments": [], "annotations": [], "attachments": [], "tool_calls": []}
    position = 0
    for item in response.output:
        for segment in _segments_of(item):
            for each in segment.pop("annotations", ()):
                said["annotations"].append(chat.annotation(each, position, len(segment["content"])))
            position += len(segment["content"]) if segment["type"] == "text" else 0
            said["segments"].append(segment)
        if item.type in CALLS:
            kind = "custom" if item.type == "custom_tool_call" else "function"
            made = {"id": item.call_id, "type": kind, "name": item.name, "arguments": _given(item)}
            said["tool_calls"].append(made)
        if _is_own_call(item):
            said["tool_calls"].append({"id": item.call_id, "name": item.type, "arguments": _given(item)})
        if item.type == "image_generation_call" and item.result:
            kind = f"image/{getattr(item, 'output_format', None) or 'png'}"
            said["attachments"].append({"id": item.id, "type": kind, "data": item.result, "text_index": position})
    refused = any(segment.get("metadata", {}).get("kind") == "refusal" for segment in said["segments"])
    raw = (response.incomplete_details and response.incomplete_details.reason) or response.status
    made = Answer(
        id=response.id,
        provider=call.provider,
        model=response.model,
        created=datetime.fromtimestamp(response.created_at, UTC).isoformat() if response.created_at else None,
        message=response.output_text,
        reasoning="".join(each["content"] for each in said["segments"] if each["type"] == "reasoning") or None,
        **said,
        usage=_counts(response.usage),
        finish_reason="content_filter" if refused else FINISH.get(raw),
        raw_finish_reason=raw,
    )
    made.native = made.turn = response
    return made


def _is_own_call(item):
    own = item.to_dict()
    runs_elsewhere = (own.get("environment") or {}).get("type") == "container_reference"
    return item.type in OWN_CALLS and not runs_elsewhere and own.get("execution", "client") == "client"


def _given(item):
    """Return the arguments of a call, as text."""
    if item.type in CALLS:
        return getattr(item, CALLS[item.type]) or "{}"
    own = item.to_dict()
    return json.dumps(next((own[name] for name in OWN_CALLS[item.type] if own.get(name)), {}), ensure_ascii=False)


def _counts(usage):
    if usage is None:
        return None
    asked, answered = usage.input_tokens_details, usage.output_tokens_details
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "cached_tokens": getattr(asked, "cached_tokens", None),
        "cache_write_tokens": getattr(asked, "cache_write_tokens", None),
        "reasoning_tokens": getattr(answered, "reasoning_tokens", None),
        "raw": usage.to_dict(),
    }


def _segments_of(item):
    match item.type:
        case "message":
            for part in item.content:
                if part.type == "output_text":
                    yield {"type": "text", "content": part.text, "annotations": part.annotations}
                elif part.type == "refusal":
                    yield {"type": "other", "content": part.refusal, "metadata": {"kind": "refusal"}}
                else:
                    yield {"type": "other", "content": "", "metadata": part.to_dict()}
        case "reasoning":
            parts = [{"type": "reasoning", "content": each.text} for each in (*item.summary, *(item.content or ()))]
            if item.encrypted_content:
                parts = parts or [{"type": "reasoning", "content": ""}]
                parts[-1]["metadata"] = {"encrypted": item.encrypted_content}
            yield from parts
        case kind if kind in CALLS:
            yield {"type": "tool_call", "content": getattr(item, CALLS[kind])}
        case _ if _is_own_call(item):
            yield {"type": "tool_call", "content": _given(item)}
        case kind if kind in HOSTED:
            yield {"type": "tool_call", "content": "", "metadata": {"server_executed": True, **item.to_dict()}}
        case _:
            yield {"type": "other", "content": "", "metadata": item.to_dict()}


conformance_adapter = Adapter
