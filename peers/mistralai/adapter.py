"""The mistralai library: `chat.complete`, `chat.stream` and the same of `agents`, sync, as its README shows them.

The library has nothing that folds the events of a stream, so a streamed answer is folded here: neighbouring texts are
joined, and pieces of a call by their `index`; a call with an id of its own is another one. Tokens of audio, which
Mistral counts beside those of the prompt, are added to them. An earlier answer goes back as the library's message
(`messages.append(response.choices[0].message)`), after a stream as an `AssistantMessage` of what was added up.

The library makes no retries, as `retry_config` is None. `timeout_ms` holds for each operation.
"""

import inspect
import json
from datetime import UTC, datetime
from importlib.metadata import version

from mistralai.client import Mistral
from mistralai.client.models import AssistantMessage, FunctionCall, TextChunk, ThinkChunk

from llm_conformance.shims.native import Answer, fields, turns

FINISH = {
    **{"stop": "stop", "length": "length", "model_length": "length", "tool_calls": "tool_calls"},
    "error": "error",
}
NO_ID = "null"  # what the library has for the id of a later piece
ERRORS = {
    "ResponseValidationError": "ValidationError",
    "SDKError": "ValidationError",  # a body that is no JSON, under the status 200
    "NoResponseError": "ServiceUnavailableError",
}


class Adapter:
    """Chat completions of models and of agents, whole and streamed."""

    name = "mistralai"
    version = version("mistralai")
    providers = ("mistral:chat",)
    capabilities = (
        *("streaming", "reasoning", "segments", "annotations", "tools", "round_trip", "errors"),
        "unreadable_bodies",
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as client:
            response = _ask(client, call, "complete")
        choice = response.choices[0]
        return _answer(call, response, response, response.usage, choice.message, choice.finish_reason)

    def stream(self, call):
        """Yield a streamed answer."""
        chunks, content, calls, usage, word = [], [], [], None, None
        with _client(call) as client, _ask(client, call, "stream") as events:
            for event in events:
                chunks.append(event.data)
                usage = event.data.usage or usage
                for choice in (each for each in event.data.choices if each.index == 0):
                    word = choice.finish_reason or word
                    for part in _parts(choice.delta):
                        yield from _deltas(part)
                        _add(content, part)
                    for piece in choice.delta.tool_calls or ():
                        yield _called(calls, piece)
        if chunks:
            message = AssistantMessage(content=content or None, tool_calls=calls or None)
            made = _answer(call, chunks[0], chunks, usage, message, word)
            yield {"event_type": "response.completed", "response": made}


def _client(call):
    limit = int(call.timeout_s * 1000)
    return Mistral(api_key=call.api_key, server_url=call.base_url, retry_config=None, timeout_ms=limit)


def _ask(client, call, method):
    params = {name: value for name, value in call.params.items() if name != "stream"}
    if call.tools:
        params["tools"] = [*params.get("tools", ()), *call.tools]
    if "agent_id" in params:
        send = getattr(client.agents, method)
    else:
        send, params["model"] = getattr(client.chat, method), call.model
    unknown = set(params) - set(inspect.signature(send).parameters)
    if unknown:
        raise NotImplementedError(f"the method has no parameter {', '.join(sorted(unknown))}")
    return send(messages=turns(call), **params)


def _parts(message):
    content = message.content or []
    return [TextChunk(text=content)] if isinstance(content, str) else content


def _deltas(part):
    match part.type:
        case "text":
            yield {"event_type": "response.output_text.delta", "delta": part.text}
        case "thinking":
            yield {"event_type": "response.reasoning.delta", "delta": _thought(part)}
        case kind if kind != "reference":
            yield {"event_type": "response.output_text.delta", "delta": "", "segments": [_segment(part)]}


def _add(content, part):
    """Add a piece of the content to what there is: texts and thoughts go on, others stand for themselves."""
    last = content[-1] if content else None
    if isinstance(part, TextChunk) and isinstance(last, TextChunk):
        content[-1] = TextChunk(text=last.text + part.text)
    elif isinstance(part, ThinkChunk) and isinstance(last, ThinkChunk):
        joined = {"thinking": [*last.thinking, *part.thinking], "signature": part.signature or last.signature}
        content[-1] = last.model_copy(update=joined)
    else:
        content.append(part)


def _called(calls, piece):
    given = _text(piece.function.arguments)
    made = next((each for each in reversed(calls) if _continues(piece, each)), None)
    if made is None:
        calls.append(made := piece)
    else:
        made.function = FunctionCall(name=made.function.name, arguments=_text(made.function.arguments) + given)
    whose = {"index": calls.index(made), "id": made.id, "name": made.function.name}
    return {"event_type": "response.function_call_arguments.delta", "delta": given, "tool_call": whose}


def _continues(piece, made):
    return piece.index == made.index and piece.id in (made.id, NO_ID)


def _text(arguments):
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _thought(part):
    return "".join(each.text for each in part.thinking if each.type == "text")


def _segment(part):
    match part.type:
        case "text":
            return {"type": "text", "content": part.text}
        case "thinking":
            seal = {"signature": part.signature} if part.signature else {}
            return {"type": "reasoning", "content": _thought(part), "metadata": seal}
        case "reference":
            return {"type": "citation", "content": "", "metadata": fields(part)}
    return {"type": "other", "content": "", "metadata": fields(part)}


def _annotations(parts):
    for part in parts:
        for each in part.thinking if part.type == "thinking" else [part]:
            if "reference" in each.type:
                yield {"start": None, "end": None, "data": fields(each)}


def _answer(call, head, native, usage, message, word):
    parts = _parts(message)
    calls = [
        {"id": each.id, "name": each.function.name, "arguments": _text(each.function.arguments) or "{}"}
        for each in message.tool_calls or ()
    ]
    segments = [_segment(part) for part in parts if part.type != "text" or part.text]
    segments += [{"type": "tool_call", "content": each["arguments"]} for each in calls]
    answer = Answer(
        id=head.id,
        provider=call.provider,
        model=head.model,
        created=datetime.fromtimestamp(head.created, UTC).isoformat() if head.created else None,
        message="".join(each["content"] for each in segments if each["type"] == "text"),
        reasoning="".join(each["content"] for each in segments if each["type"] == "reasoning") or None,
        segments=segments,
        annotations=[*_annotations(parts)],
        tool_calls=calls,
        usage=_counts(usage),
        finish_reason=FINISH.get(word),
        raw_finish_reason=word,
    )
    answer.native, answer.turn = native, message
    return answer


def _counts(usage):
    if usage is None:
        return None
    own = fields(usage)
    details = own.get("prompt_tokens_details") or {}
    asked, audio = own.get("prompt_tokens"), details.get("audio_tokens")
    return {
        "prompt_tokens": asked if asked is None else asked + (audio or 0),
        **{name: own.get(name) for name in ("completion_tokens", "total_tokens")},
        "cached_tokens": details.get("cached_tokens"),
        "audio_prompt_tokens": audio,
        "raw": own,
    }


conformance_adapter = Adapter
