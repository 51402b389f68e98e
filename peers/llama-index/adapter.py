"""LlamaIndex: what its models of OpenAI and Anthropic return.

The shim asks `OpenAI`, `OpenAIResponses` and `Anthropic` by `chat` and `stream_chat`. Of a response it reads `delta`,
`message.blocks`, `additional_kwargs`, `citations` and `raw`. Text, reasoning, tool calls and sound are those of the
blocks. Id, model, finish word, counts and the citations of a chat completion are read from `raw`, because the library
has no place of its own for them. The blocks have no items of hosted tools, so there are no segments.

The library adds a stream up itself: `message` of the last response is the whole answer. The messages of
`OpenAIResponses` are pieces, and only that of the event `response.completed` is whole. If this event does not come, the
shim joins the pieces. An earlier answer goes back as its `message`. Tools go as keywords of the call, in the form of
the provider's API.

Models that the library's tables do not have cannot be asked, nor can sound be streamed; custom tools, calls of tools
such as a shell and several choices have no place in its answers. `max_retries` is 0: the retries would outlast
`call.timeout_s`.
"""

import inspect
import json
from datetime import UTC, datetime
from importlib.metadata import version

import anthropic
import openai
from llama_index.core.base.llms.types import (
    AudioBlock,
    CacheControl,
    CachePoint,
    ChatMessage,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai import OpenAI, OpenAIResponses
from openai.resources.chat.completions import Completions
from openai.resources.responses import Responses

from llm_conformance.shims import chat
from llm_conformance.shims.native import Answer

FINISH = {
    **{**chat.FINISH, "completed": "stop", "max_output_tokens": "length", "failed": "error"},
    **{"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"},
    **{"model_context_window_exceeded": "length", "refusal": "content_filter"},
}
ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIResponseValidationError": "ValidationError",
    # `type` of errors in streams: OpenAI's, then Anthropic's
    **{"server_error": "ServiceUnavailableError", "insufficient_quota": "RateLimitError"},
    **{"overloaded_error": "ServiceUnavailableError", "api_error": "ServiceUnavailableError"},
    **{"rate_limit_error": "RateLimitError", "authentication_error": "AuthenticationError"},
    **{"invalid_request_error": "InvalidRequestError", "not_found_error": "ResourceNotFoundError"},
}
TEXT, REASONING = "response.output_text.delta", "response.reasoning.delta"
ARGUMENTS = "response.function_call_arguments.delta"


# Types of tools of the Responses API: those whose calls the library reads, and those that OpenAI runs.
READ = {
    *("function", "custom", "web_search", "web_search_preview", "file_search", "code_interpreter"),
    *("image_generation", "mcp"),
}


class Adapter:
    """Each API by the library's model for it."""

    name = "llama-index"
    version = version("llama-index-core")
    providers = ("anthropic:messages", "openai:chat", "openai:responses")
    capabilities = (
        *("streaming", "reasoning", "annotations", "audio", "tools", "round_trip", "errors"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        response = _model(call).chat(_messages(call), **_tools(call))
        return _answer(call, response, response.message, [response])

    def stream(self, call):
        """Yield a streamed answer."""
        responses, folded = [], _Fold(call)
        try:
            for response in _model(call).stream_chat(_messages(call), **_tools(call)):
                responses.append(response)
                yield from folded.add(response)
        except (openai.APIError, anthropic.APIStatusError) as error:
            if (told := _told_in_a_stream(error)) is None:
                raise
            yield told
            return
        if responses:
            yield from folded.rest()
            made = _answer(call, responses, folded.message(), responses)
            yield {"event_type": "response.completed", "response": made}


def _told_in_a_stream(error):
    """Return the event for an error in a stream; None for others. It has no class and no error status, only a type."""
    if type(error) is not openai.APIError and getattr(error, "status_code", 0) != 200:
        return None
    said = error.body if isinstance(error.body, dict) else {}
    kind = said.get("error", said).get("type")  # OpenAI's client takes the error out of the frame
    return {
        "event_type": "response.error",
        "error": {"error_type": kind if kind in ERRORS else "LLMError", "message": str(error)},
    }


def _model(call):
    # The library raises for a model that it does not know.
    model = _anthropic(call) if call.provider == "anthropic" else _openai(call)
    try:
        model.metadata  # noqa: B018
    except ValueError as error:
        raise NotImplementedError(str(error)) from error
    return model


def _settings(call):
    return {"model": call.model, "api_key": call.api_key, "timeout": call.timeout_s, "max_retries": 0}


def _params(call, create):
    """Return the parameters of the call that the provider's client takes."""
    params = {name: value for name, value in call.params.items() if name not in ("stream", "system", "tools")}
    if unknown := set(params) - set(inspect.signature(create).parameters):
        raise NotImplementedError(f"the library passes no {', '.join(sorted(unknown))} on")
    return params


def _anthropic(call):
    servers = call.params.get("mcp_servers")
    if servers:
        raise NotImplementedError("the library sends MCP servers to a method that does not take them")
    params = _params(call, anthropic.resources.Messages.create)
    own = {"max_tokens": "max_tokens", "temperature": "temperature", "thinking": "thinking_dict"}
    named = {own[name]: params.pop(name) for name in list(params) if name in own}
    return Anthropic(base_url=call.base_url, additional_kwargs=params, **named, **_settings(call))


def _openai(call):
    if call.api == "chat":
        params = _params(call, Completions.create)
        if params.get("n", 1) != 1 or "functions" in params:
            raise NotImplementedError("the library does not read what that leads to")
        if call.stream and "audio" in params.get("modalities", ()):
            raise NotImplementedError("Audio is not supported for chat streaming")
        own = {"modalities": "modalities", "audio": "audio_config"}
        kind = OpenAI
    else:
        params = _params(call, Responses.create)
        own = ("instructions", "include", "store", "truncation", "max_output_tokens", "previous_response_id")
        own = {**dict(zip(own, own, strict=True)), "reasoning": "reasoning_options"}
        kind = OpenAIResponses
        kinds = {tool["type"] for tool in call.params.get("tools", ())}
        if kinds - READ:
            raise NotImplementedError(f"the library does not read calls of {', '.join(sorted(kinds - READ))}")
    named = {own[name]: params[name] for name in params if name in own}
    rest = {name: value for name, value in params.items() if name not in own or name == "reasoning"}
    return kind(api_base=call.base_url, additional_kwargs=rest, **named, **_settings(call))


def _tools(call):
    made = call.tools
    if any(tool["type"] == "custom" for tool in [*made, *call.params.get("tools", ())] if "type" in tool):
        raise NotImplementedError("the library has no custom tools")
    if call.api == "responses":
        made = [{"type": "function", **tool["function"]} for tool in call.tools]
    if call.provider == "anthropic":
        made = [
            {"input_schema": {"type": "object"}, **{NAMES[name]: value for name, value in tool["function"].items()}}
            for tool in call.tools
        ]
    tools = [*call.params.get("tools", ()), *made]
    return {"tools": tools} if tools else {}


NAMES = {"name": "name", "description": "description", "parameters": "input_schema", "strict": "strict"}


def _messages(call):
    system = call.params.get("system")
    first = [_message({"role": "system", "content": system})] if system else []
    return first + [each.turn if isinstance(each, Answer) else _message(each) for each in call.messages]


def _message(said):
    content = said.get("content") or []
    blocks = (
        [TextBlock(text=content)]
        if isinstance(content, str)
        else [block for part in content for block in _blocks(part)]
    )
    for made in said.get("tool_calls") or ():
        if made.get("type") == "custom":
            raise NotImplementedError("the library has no custom tools")
        function = made["function"]
        arguments = json.loads(function["arguments"] or "{}")
        blocks.append(ToolCallBlock(tool_call_id=made["id"], tool_name=function["name"], tool_kwargs=arguments))
    own = {"tool_call_id": said["tool_call_id"]} if "tool_call_id" in said else {}
    return ChatMessage(role=said["role"], blocks=blocks, additional_kwargs=own)


def _blocks(part):
    match part:
        case {"type": "text" | "input_text", "text": text, **rest} if set(rest) <= {"cache_control"}:
            control = rest.get("cache_control")
            point = [CachePoint(cache_control=CacheControl(**control))] if control else []
            return [TextBlock(text=text), *point]
        case {"type": "image_url", "image_url": {"url": url, **rest}}:
            return [ImageBlock(url=url, **rest)]
    raise NotImplementedError(f"the shim has no block for a part of type {part.get('type')}")


class _Fold:
    """The pieces of a stream, as events and as the message that they make."""

    def __init__(self, call):
        self._call, self._last, self._blocks, self._sent = call, None, [], {}

    def add(self, response):
        """Yield the events of a response."""
        self._last = response
        is_whole = self._call.api != "responses" or _is_complete(response)
        thought = response.additional_kwargs.get("thinking_delta") or ""
        thought = thought or response.message.additional_kwargs.get("thinking_delta")
        if not is_whole:
            for block in response.message.blocks:
                self._add(block)
                if isinstance(block, ThinkingBlock):
                    thought = block.content
        if thought:
            yield {"event_type": REASONING, "delta": thought}
        if response.delta:
            yield {"event_type": TEXT, "delta": response.delta}
        blocks = response.message.blocks if is_whole else self._blocks
        for number, block in enumerate(each for each in blocks if isinstance(each, ToolCallBlock)):
            if isinstance(block.tool_kwargs, str) or number not in self._sent:
                yield from self._called(number, block)

    def _add(self, block):
        last = self._blocks[-1] if self._blocks else None
        if isinstance(block, TextBlock) and isinstance(last, TextBlock):
            self._blocks[-1] = TextBlock(text=last.text + block.text)
        else:
            self._blocks.append(block)

    def _called(self, number, block, is_whole=False):
        before = self._sent.get(number)
        given = "" if before is None and not isinstance(block.tool_kwargs, str) and not is_whole else _arguments(block)
        if before is None or (given.startswith(before) and given != before):
            self._sent[number] = given
            whose = {"index": number, "id": block.tool_call_id, "name": block.tool_name}
            yield {"event_type": ARGUMENTS, "delta": given[len(before or "") :], "tool_call": whose}

    def rest(self):
        """Yield the arguments that the library gives as values. They change while they come, so they are last."""
        calls = [each for each in self.message().blocks if isinstance(each, ToolCallBlock)]
        for number, block in enumerate(calls):
            if not isinstance(block.tool_kwargs, str):
                yield from self._called(number, block, is_whole=True)

    def message(self):
        """Return the message that the pieces make."""
        if self._call.api != "responses" or _is_complete(self._last):
            return self._last.message
        return ChatMessage(role="assistant", blocks=self._blocks)


def _is_complete(response):
    return getattr(response.raw, "type", None) == "response.completed"


def _arguments(block):
    given = block.tool_kwargs
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, separators=(",", ":"))


def _segments(message):
    for block in message.blocks:
        match block:
            case TextBlock():
                yield {"type": "text", "content": block.text}
            case ThinkingBlock():
                yield {"type": "reasoning", "content": block.content or ""}


def _answer(call, native, message, responses):
    raws = [_fields(each.raw) for each in responses]
    head = {name: next((raw[name] for raw in raws if raw.get(name)), None) for name in ("id", "model", "created")}
    segments = [*_segments(message)]
    last = responses[-1]
    finish, refusal, annotations, usage = None, None, [], None
    for response, raw in zip(responses, raws, strict=True):
        choice = next((each for each in raw.get("choices") or () if each.index == 0), None)
        said = choice and (getattr(choice, "message", None) or getattr(choice, "delta", None))
        finish = (choice and choice.finish_reason) or raw.get("stop_reason") or finish
        finish = response.message.additional_kwargs.get("stop_reason") or finish
        refusal = (refusal or "") + (getattr(said, "refusal", None) or "") or None
        annotations += getattr(said, "annotations", None) or ()
        usage = raw.get("usage") or usage
    if call.api == "responses":
        whole = _fields(getattr(last.raw, "response", None) or last.raw)
        head = {"id": whole.get("id"), "model": whole.get("model"), "created": whole.get("created_at")}
        details = whole.get("incomplete_details")
        finish, usage = (details and details.reason) or whole.get("status"), whole.get("usage")
        refusal = last.additional_kwargs.get("refusal")
        annotations = last.additional_kwargs.get("annotations") or []
    citations = getattr(last, "citations", None) or ()
    calls = [
        {"id": each.tool_call_id or None, "name": each.tool_name, "arguments": _arguments(each) or "{}"}
        for each in message.blocks
        if isinstance(each, ToolCallBlock)
    ]
    answer = Answer(
        id=head["id"],
        provider=call.provider,
        model=head["model"] or call.model,
        created=datetime.fromtimestamp(head["created"], UTC).isoformat() if head["created"] else None,
        message="".join(each["content"] for each in segments if each["type"] == "text"),
        reasoning="".join(each["content"] for each in segments if each["type"] == "reasoning") or None,
        annotations=[
            *(_annotation(each, message) for each in annotations),
            *({"start": None, "end": None, "data": each} for each in citations),
        ],
        attachments=[
            {**_sound(last), "type": chat.audio_type(call), "data": each.audio.decode()}
            for each in message.blocks
            if isinstance(each, AudioBlock)
        ],
        tool_calls=calls,
        usage=_counts(call, last, usage),
        finish_reason="content_filter" if refusal else FINISH.get(finish),
        raw_finish_reason=finish,
    )
    answer.native, answer.turn = native, message
    return answer


def _annotation(native, message):
    """Return a citation. If there are several texts, it has no place: the library does not say which one it is in."""
    made = chat.annotation(native)
    texts = [each for each in message.blocks if isinstance(each, TextBlock)]
    return made if len(texts) == 1 else {**made, "start": None, "end": None}


def _sound(response):
    """Return what the block does not have of sound: its id, its transcript and how long it can be referred to."""
    return response.raw.choices[0].message.audio.to_dict()


def _fields(raw):
    return raw if isinstance(raw, dict) else dict(raw) if raw is not None else {}


def _counts(call, last, usage):
    if call.provider == "openai" and call.api == "chat":
        return chat.counts(usage)
    if call.provider == "openai":
        usage = last.additional_kwargs.get("usage") or usage
    if usage is None:
        return None
    own = usage if isinstance(usage, dict) else usage.to_dict()
    asked, answered = own.get("input_tokens"), own.get("output_tokens")
    parts = own.get("input_tokens_details") or {}
    cached, written = parts.get("cached_tokens"), parts.get("cache_write_tokens")
    thought = (own.get("output_tokens_details") or {}).get("reasoning_tokens")
    if call.provider == "anthropic":
        cached, written = own.get("cache_read_input_tokens"), own.get("cache_creation_input_tokens")
        asked = None if asked is None else asked + (cached or 0) + (written or 0)
        thought = (own.get("output_tokens_details") or {}).get("thinking_tokens")
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": None if asked is None or answered is None else asked + answered,
        "cached_tokens": cached,
        "cache_write_tokens": written,
        "reasoning_tokens": thought,
        "raw": own,
    }


conformance_adapter = Adapter
