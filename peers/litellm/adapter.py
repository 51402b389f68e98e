"""The litellm library: `completion`, sync, whole and with `stream=True`, folded by its own `stream_chunk_builder`.

Each provider is asked under its documented prefix, with `api_base` for the URL; it knows more than those listed here.
An earlier answer goes back as the library's message (`messages.append(response.choices[0].message)`). The citations of
Claude are taken from where its documentation has them, `provider_specific_fields["citations"]`, without a place in the
text.

`max_retries` is 0: the library's `timeout` holds for each attempt, and its retries would outlast `call.timeout_s`. By
its settings it asks nobody else here: its lists of prices and of beta headers are those that it brings along, and it
loads no tokenizer from elsewhere, which it guesses token counts with, and waits for beyond the limit if it is offline.
"""

import os
from datetime import UTC, datetime
from importlib.metadata import version

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "True")

import litellm

litellm.disable_hf_tokenizer_download = True

FINISH = {
    **{"stop": "stop", "length": "length", "tool_calls": "tool_calls", "function_call": "tool_calls"},
    **{"content_filter": "content_filter"},
}
AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/opus", "pcm16": "audio/pcm"}
PREFIXES = {
    **{"openai:chat": "openai", "anthropic:messages": "anthropic", "deepseek:chat": "deepseek", "groq:chat": "groq"},
    **{"local:chat": "hosted_vllm"},
}
ERRORS = {"Timeout": "TimeoutError", "APIConnectionError": "ServiceUnavailableError"}


class Answer(dict):
    """A canonical response that keeps the library's message for the next turn."""

    native = None


class Adapter:
    """Completions, whole and streamed."""

    name = "litellm"
    version = version("litellm")
    providers = tuple(PREFIXES)
    capabilities = (
        *("streaming", "reasoning", "annotations", "audio", "tools", "round_trip", "errors"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        return _answer(_ask(call), call)

    def stream(self, call):
        """Yield a streamed answer."""
        # Where the API has no such option, it is the library's own, and usage comes with it only.
        own = {} if call.path == "/chat/completions" else {"stream_options": {"include_usage": True}}
        chunks = []
        for chunk in _ask(call, stream=True, **own):
            chunks.append(chunk)
            for choice in (each for each in chunk.choices if each.index == 0):
                yield from _deltas(choice.delta)
        whole = litellm.stream_chunk_builder(chunks, messages=_messages(call))
        yield {"event_type": "response.completed", "response": _answer(whole, call)}


def _messages(call):
    return [each.native if isinstance(each, Answer) else each for each in call.messages]


def _ask(call, **said):
    prefix = PREFIXES[f"{call.provider}:{call.api}"]
    params = {**call.params, **said}
    if call.tools:
        params["tools"] = [*params.get("tools", ()), *call.tools]
    return litellm.completion(
        model=f"{prefix}/{call.model}",
        messages=_messages(call),
        api_base=call.base_url,
        api_key=call.api_key,
        timeout=call.timeout_s,
        max_retries=0,
        **params,
    )


def _deltas(delta):
    if getattr(delta, "reasoning_content", None):
        yield {"event_type": "response.reasoning.delta", "delta": delta.reasoning_content}
    if delta.content:
        yield {"event_type": "response.output_text.delta", "delta": delta.content}
    pieces = [(piece.index, _call(piece)) for piece in delta.tool_calls or ()]
    if getattr(delta, "function_call", None):
        pieces.append((0, {"id": None, "name": delta.function_call.name, "arguments": delta.function_call.arguments}))
    for index, made in pieces:
        whose = {"index": index, "id": made["id"], "name": made["name"]}
        given = made["arguments"]
        yield {"event_type": "response.function_call_arguments.delta", "delta": given, "tool_call": whose}
    if getattr(delta, "audio", None):
        yield {"event_type": "response.media", "attachment": dict(delta.audio)}


def _call(native):
    custom = getattr(native, "custom", None)
    if custom:
        return {"id": native.id, "type": "custom", "name": custom.name, "arguments": custom.input}
    return {"id": native.id or None, "name": native.function.name, "arguments": native.function.arguments}


def _answer(response, call):
    choice = response.choices[0]
    message = choice.message
    raw = getattr(choice, "provider_specific_fields", None) or {}
    calls = [_call(each) for each in message.tool_calls or ()]
    if getattr(message, "function_call", None):
        calls.append({"name": message.function_call.name, "arguments": message.function_call.arguments})
    refused = getattr(message, "refusal", None)
    sound = []
    if getattr(message, "audio", None):
        form = (call.params.get("audio") or {}).get("format")  # only the request says it
        sound.append({"type": AUDIO.get(form), **dict(message.audio)})
    answer = Answer(
        id=response.id,
        provider=call.provider,
        model=response.model,
        created=datetime.fromtimestamp(response.created, UTC).isoformat() if response.created else None,
        message=message.content or "",
        reasoning=getattr(message, "reasoning_content", None) or None,
        annotations=list(_annotations(message)),
        attachments=sound,
        tool_calls=[{**each, "arguments": each["arguments"] or "{}"} for each in calls],
        usage=_usage(getattr(response, "usage", None)),
        finish_reason="content_filter" if refused else FINISH.get(choice.finish_reason),
        raw_finish_reason=raw.get("native_finish_reason") or choice.finish_reason,
    )
    answer.native = message
    return answer


def _annotations(message):
    fields = message.provider_specific_fields or {}
    for each in (*(getattr(message, "annotations", None) or ()), *(fields.get("annotations") or ())):
        own = dict(each)
        data = {**own, **own.pop(own.get("type"), {})}
        data.pop(own.get("type"), None)
        yield {"start": data.pop("start_index", None), "end": data.pop("end_index", None), "data": data}
    for block in fields.get("citations") or ():
        for each in block if isinstance(block, list) else ():
            yield {"start": None, "end": None, "data": dict(each)}


def _usage(usage):
    if usage is None:
        return None
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "cached_tokens": getattr(prompt, "cached_tokens", None),
        "cache_write_tokens": getattr(prompt, "cache_creation_tokens", None),
        "reasoning_tokens": getattr(completion, "reasoning_tokens", None),
        "audio_prompt_tokens": getattr(prompt, "audio_tokens", None),
        "audio_completion_tokens": getattr(completion, "audio_tokens", None),
        "raw": usage.model_dump(mode="json"),
    }


conformance_adapter = Adapter
