"""The cohere library: `ClientV2.chat` and `ClientV2.chat_stream`, sync.

The library has nothing that folds the events of a stream, so a streamed answer is folded here, with the library's own
types, to the fields that a plain answer has. An earlier answer goes back as documented: with calls as its `tool_plan`
and `tool_calls`, without calls as its text. Answers name no model: it is the one that was asked.

Offsets of citations count in the block that `content_index` names; here they count in the text of all blocks. Citations
of a plan or of thinking, and those that reach behind the text, are given without a place. Token counts are floats in
the library, and whole numbers here; the total is the sum of the input and the output.

`max_retries` is 0: the library's `timeout` holds for each attempt, and its two retries would outlast `call.timeout_s`.
"""

import inspect
from types import SimpleNamespace

import cohere

from llm_conformance.shims.native import Answer

FINISH = {
    **{"COMPLETE": "stop", "STOP_SEQUENCE": "stop", "MAX_TOKENS": "length", "TOOL_CALL": "tool_calls"},
    **{"ERROR": "error", "TIMEOUT": "error"},
}
# Errors with an HTTP status are known by that; these are the others.
ERRORS = {
    "ParsingError": "ValidationError",
    "ApiError": "ValidationError",  # a body that is no JSON, under the status 200
    "SSEError": "ValidationError",  # in place of a stream, something of another content type
}
NOT_THE_TEXT = ("PLAN", "THINKING_CONTENT")
SAID_ELSEWHERE = ("content-end", "tool-call-end", "citation-end")


class Adapter:
    """Chat of the second version, whole and streamed."""

    name = "cohere"
    version = cohere.__version__
    providers = ("cohere:chat",)
    capabilities = (
        *("streaming", "reasoning", "segments", "annotations", "tools", "round_trip", "errors"),
        "unreadable_bodies",
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        client = _client(call)
        response = client.chat(**_asked(call, client.chat))
        return _answer(call, response, response.id, response.message, response.finish_reason, response.usage)

    def stream(self, call):
        """Yield a streamed answer."""
        client = _client(call)
        yield from _events(client.chat_stream(**_asked(call, client.chat_stream)), call)


def _client(call):
    return cohere.ClientV2(call.api_key, base_url=call.base_url, timeout=call.timeout_s, max_retries=0)


def _asked(call, method):
    params = {**call.params}
    if call.tools:
        params["tools"] = [*params.get("tools", ()), *call.tools]
    known = inspect.signature(method).parameters
    extra = {name: params.pop(name) for name in list(params) if name not in known}
    if extra:
        params["request_options"] = {"additional_body_parameters": extra}
    messages = [each.turn if isinstance(each, Answer) else each for each in call.messages]
    return {"model": call.model, "messages": messages, **params}


def _events(stream, call):
    events, id, finish, usage = [], None, None, None
    plan, blocks, calls, citations = "", {}, {}, []
    for event in stream:
        events.append(event)
        match event.type:
            case "message-start":
                id = event.id
            case "content-start":
                blocks[event.index] = block = event.delta.message.content
                yield from _pieces(block)
                if block.type not in ("text", "thinking"):
                    shown = {"event_type": "response.output_text.delta", "delta": ""}
                    yield {**shown, "segments": [_segment(block)]}
            case "content-delta":
                piece = event.delta.message.content
                yield from _pieces(piece)
                block = blocks[event.index]
                joined = {name: (getattr(block, name) or "") + (getattr(piece, name) or "") for name in _kinds(piece)}
                blocks[event.index] = block.model_copy(update=joined)
            case "tool-plan-delta":
                plan += event.delta.message.tool_plan
                yield {"event_type": "response.reasoning.delta", "delta": event.delta.message.tool_plan}
            case "tool-call-start" | "tool-call-delta":
                piece = event.delta.message.tool_calls
                if event.type == "tool-call-start":
                    about = {"id": piece.id, "name": piece.function.name}
                    calls[event.index] = {**about, "index": len(calls), "arguments": ""}
                made = calls[event.index]
                given = piece.function.arguments
                made["arguments"] += given or ""
                whose = {name: made[name] for name in ("index", "id", "name")}
                yield {"event_type": "response.function_call_arguments.delta", "delta": given, "tool_call": whose}
            case "citation-start":
                citations.append(event.delta.message.citations)
            case "message-end":
                finish, usage = event.delta.finish_reason, event.delta.usage
                if event.delta.error:
                    error = {"error_type": "LLMError", "message": event.delta.error}
                    yield {"event_type": "response.error", "error": error}
                    return
            case kind if kind not in SAID_ELSEWHERE:
                shown = {"type": "other", "content": "", "metadata": _plain(event)}
                yield {"event_type": "response.output_text.delta", "delta": "", "segments": [shown]}
    made = [
        cohere.ToolCallV2(id=each["id"], function={"name": each["name"], "arguments": each["arguments"]})
        for each in calls.values()
    ]
    message = SimpleNamespace(
        tool_plan=plan or None, content=list(blocks.values()), tool_calls=made, citations=citations
    )
    yield {"event_type": "response.completed", "response": _answer(call, events, id, message, finish, usage)}


def _kinds(piece):
    return [name for name in ("thinking", "text") if getattr(piece, name, None)]


def _pieces(piece):
    for name in _kinds(piece):
        kind = "reasoning" if name == "thinking" else "output_text"
        yield {"event_type": f"response.{kind}.delta", "delta": getattr(piece, name)}


def _answer(call, native, id, message, finish, usage):
    plan = message.tool_plan or ""
    segments = [{"type": "reasoning", "content": plan, "metadata": {"kind": "plan"}}] if plan else []
    segments += [_segment(block) for block in message.content or ()]
    text, starts = "", []
    for segment in segments[bool(plan) :]:
        starts.append(len(text))
        text += segment["content"] if segment["type"] == "text" else ""
    calls = [
        {"id": each.id, "name": each.function.name, "arguments": each.function.arguments or "{}"}
        for each in message.tool_calls or ()
    ]
    segments += [
        {"type": "tool_call", "content": each["arguments"], "metadata": {"id": each["id"], "name": each["name"]}}
        for each in calls
    ]
    answer = Answer(
        id=id,
        provider=call.provider,
        model=call.model,
        message=text,
        reasoning="".join(each["content"] for each in segments if each["type"] == "reasoning") or None,
        segments=segments,
        annotations=[_annotation(each, starts, len(text)) for each in message.citations or ()],
        tool_calls=calls,
        usage=_usage(usage),
        finish_reason=FINISH.get(finish),
        raw_finish_reason=finish,
    )
    said = {"tool_plan": message.tool_plan, "tool_calls": message.tool_calls} if calls else {"content": text}
    answer.native = native
    answer.turn = {"role": "assistant", **said}
    return answer


def _segment(block):
    if isinstance(block, dict):  # the library's form for a block of an unknown type
        return {"type": "other", "content": "", "metadata": block}
    match block.type:
        case "text":
            return {"type": "text", "content": block.text}
        case "thinking":
            return {"type": "reasoning", "content": block.thinking}
        case _:
            return {"type": "other", "content": "", "metadata": _plain(block)}


def _annotation(citation, starts, length):
    own = _plain(citation)
    if citation.type in NOT_THE_TEXT:
        return {"start": None, "end": None, "data": own}
    start, end = own.pop("start", None), own.pop("end", None)
    base = starts[citation.content_index] if citation.content_index is not None else 0
    if start is None or end is None or base + end > length:
        return {"start": None, "end": None, "data": own}
    return {"start": base + start, "end": base + end, "data": own}


def _usage(usage):
    if usage is None or usage.tokens is None:
        return None
    counts = (usage.tokens.input_tokens, usage.tokens.output_tokens, usage.cached_tokens)
    asked, answered, cached = (None if each is None else int(each) for each in counts)
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": None if asked is None or answered is None else asked + answered,
        "cached_tokens": cached,
        "reasoning_tokens": getattr(usage.tokens, "reasoning_tokens", None),
        "raw": _plain(usage),
    }


def _plain(native):
    return native.model_dump(mode="json", exclude_none=True)


conformance_adapter = Adapter
