"""any-llm: what its chat completions return.

The shim asks by `AnyLLM.create`, with unified exceptions, and `acompletion`. It reads what the types of a
`ChatCompletion` and its chunks declare: content, `reasoning`, tool calls, annotations, audio, usage, and
`extra_content`. Earlier answers go back as their `ChatCompletionMessage`. The library leaves it to the user to put this
together from a stream, so the shim does it.

Chat completions have no blocks, so there are no segments. Responses, which the library hands through from OpenAI's SDK
as they are, are left out, and so are providers that need another SDK than OpenAI's and Anthropic's.
"""

from __future__ import annotations

import importlib.metadata
import inspect
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from anthropic.resources.messages import AsyncMessages
from any_llm import AnyLLM
from any_llm.types.completion import ChatCompletionMessage

from llm_conformance.shims import chat
from llm_conformance.shims.native import Answer


class AnyLLMAdapter:
    """The library as the suite sees it."""

    name = "any-llm"
    version = importlib.metadata.version("any-llm-sdk")
    providers = ("anthropic:messages", "deepseek:chat", "local:chat", "openai:chat", "zai:chat")
    capabilities = (
        *("streaming", "reasoning", "annotations", "audio", "tools", "round_trip", "errors"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    excluded_inputs = {  # noqa: RUF012 - read, never written
        "think tags": "the server splits them off if it is started with a reasoning parser: "
        "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html#quickstart",
    }
    errors: ClassVar = {
        "ContextLengthExceededError": "InvalidRequestError",
        "GatewayTimeoutError": "TimeoutError",
        "ModelNotFoundError": "ResourceNotFoundError",
        "UpstreamProviderError": "ServiceUnavailableError",
        "ProviderError": "LLMError",  # what it has no class for
    }

    async def complete(self, call: Any) -> Answer:
        """Ask once, by `acompletion`."""
        completion = await _client(call).acompletion(**_arguments(call))
        choice = min(completion.choices, key=lambda each: each.index)
        return _answer(completion, choice.message, choice.finish_reason, completion.usage, call)

    async def stream(self, call: Any) -> AsyncIterator[Mapping[str, Any]]:
        """Ask by `acompletion` with `stream`, and put the deltas of the first choice together."""
        message: dict[str, Any] = {"role": "assistant", "content": None}
        calls: list[dict[str, Any]] = []
        finish = usage = last = None
        async for chunk in await _client(call).acompletion(**_arguments(call), stream=True):
            last, usage = chunk, chunk.usage or usage
            for choice in chunk.choices:
                if choice.index == 0:
                    finish = choice.finish_reason or finish
                    _add(message, choice.delta)
                    _add_calls(calls, choice.delta)
                    for event in _events(choice.delta, calls):
                        yield event
        if last is None:  # the library takes a body without chunks for a stream that has ended
            return
        made = [{name: each[name] for name in ("id", "type", "function")} for each in calls]
        whole = ChatCompletionMessage.model_validate({**message, "tool_calls": made or None})
        yield {"event_type": "response.completed", "response": _answer(last, whole, finish, usage, call)}


conformance_adapter = AnyLLMAdapter


def _client(call: Any) -> AnyLLM:
    return AnyLLM.create(
        {"local": "vllm"}.get(call.provider, call.provider),
        api_key=call.api_key,
        api_base=call.base_url,
        unified_exceptions=True,
        max_retries=0,  # the waits between retries are not bounded by `timeout`
    )


_UNREAD = ("fallbacks", "functions", "function_call", "context_management")
_PARAMETERS = (
    "max_tokens",
    "max_completion_tokens",
    "n",
    "parallel_tool_calls",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "stream_options",
    "temperature",
    "tool_choice",
)


def _arguments(call: Any) -> dict[str, Any]:
    params = dict(call.params)
    if "mcp_servers" in params:
        raise NotImplementedError("MCP servers are a beta of Anthropic's, which the library does not ask for")
    tools = [*params.pop("tools", ()), *call.tools]
    if call.provider == "anthropic" and any("function" not in tool for tool in tools):
        raise NotImplementedError("`tools` are functions in OpenAI's form; tools of Claude's own are left out")
    for name in _UNREAD:
        if name in params:
            raise NotImplementedError(f"the library does not read what `{name}` asks for")
    if call.provider == "anthropic" and "tool_choice" in params:
        params["tool_choice"] = chat.tool_choice(params["tool_choice"])
    if "stop_sequences" in params:
        params["stop"] = params.pop("stop_sequences")
    # Other parameters go into the body, except those that Anthropic's SDK takes by name.
    known = inspect.signature(AsyncMessages.create).parameters if call.provider == "anthropic" else ()
    extra = {name: params.pop(name) for name in [*params] if name not in (*_PARAMETERS, *known)}
    params |= {"extra_body": extra} if extra else {}
    messages = [said.turn if isinstance(said, Answer) else dict(said) for said in call.messages]
    return {"model": call.model, "messages": messages, "tools": tools or None, "timeout": call.timeout_s, **params}


def _add(message: dict[str, Any], delta: Any) -> None:
    if delta.content:
        message["content"] = (message["content"] or "") + delta.content
    if delta.reasoning:
        message["reasoning"] = message.get("reasoning", "") + delta.reasoning.content
    if delta.extra_content:
        message["extra_content"] = {**message.get("extra_content", {}), **delta.extra_content}
    for name in (
        "reasoning_content",
        "annotations",
        "refusal",
    ):  # undeclared, but there, as in the OpenAI types below them
        more = getattr(delta, name, None)
        if more:
            message[name] = message.get(name, type(more)()) + more
    if delta.audio:
        audio = message.setdefault("audio", {"id": "", "data": "", "transcript": "", "expires_at": 0})
        for name, value in delta.audio.model_dump(exclude_none=True).items():
            audio[name] = audio[name] + value if name in ("data", "transcript") else value


def _add_calls(calls: list[dict[str, Any]], delta: Any) -> None:
    for piece in delta.tool_calls or ():
        made = calls[_place(calls, piece)]
        made["id"] = piece.id or made["id"]
        if piece.function:
            made["function"]["name"] += piece.function.name or ""
            made["function"]["arguments"] += piece.function.arguments or ""


def _place(calls: list[dict[str, Any]], piece: Any) -> int:
    """Return the place of a piece's call: the last one with the piece's index. If the ids differ, a new call begins."""
    same = [at for at, made in enumerate(calls) if made["index"] == piece.index]
    if not same or (piece.id and calls[same[-1]]["id"] not in ("", piece.id)):
        function = {"name": "", "arguments": ""}
        calls.append({"index": piece.index, "id": "", "type": "function", "function": function})
        return len(calls) - 1
    return same[-1]


def _events(delta: Any, calls: list[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
    if delta.reasoning and delta.reasoning.content:
        yield {"event_type": "response.reasoning.delta", "delta": delta.reasoning.content}
    if delta.content:
        yield {"event_type": "response.output_text.delta", "delta": delta.content}
    for piece in delta.tool_calls or ():
        function = piece.function
        tool = {"index": _place(calls, piece), "id": piece.id, "name": function.name if function else None}
        pieces = function.arguments if function else None
        yield {"event_type": "response.function_call_arguments.delta", "tool_call": tool, "delta": pieces}
    if delta.audio:
        yield {"event_type": "response.media", "attachment": delta.audio.model_dump(exclude_none=True)}


_FINISH = {
    **{name: name for name in ("stop", "length", "tool_calls", "content_filter")},
    # Words of providers that the library hands on: DeepSeek's, Z.ai's and vLLM's.
    **{"insufficient_system_resource": "error", "aborted": "error", "network_error": "error", "abort": "error"},
    **{"model_context_window_exceeded": "length", "sensitive": "content_filter"},
}


def _answer(completion: Any, message: ChatCompletionMessage, finish: str | None, usage: Any, call: Any) -> Answer:
    answer = Answer(
        id=completion.id,
        provider=call.provider,
        model=completion.model,
        created=datetime.fromtimestamp(completion.created, UTC).isoformat() if completion.created else None,
        message=message.content or "",
        reasoning=(message.reasoning.content or None) if message.reasoning else None,
        annotations=[*_annotations(message)],
        attachments=[{"type": chat.audio_type(call), **message.audio.model_dump()}] if message.audio else [],
        tool_calls=[*_tool_calls(message)],
        finish_reason="content_filter" if message.refusal else _FINISH.get(finish or ""),
        raw_finish_reason=finish,
        usage=chat.counts(usage),
    )
    answer.native, answer.turn = [completion, message], message
    return answer


def _annotations(message: ChatCompletionMessage) -> Iterator[dict[str, Any]]:
    for annotation in message.annotations or ():
        data = {**annotation, **(annotation.get(annotation.get("type")) or {})}
        yield {"start": data.get("start_index"), "end": data.get("end_index"), "data": data}


def _tool_calls(message: ChatCompletionMessage) -> Iterator[dict[str, Any]]:
    for made in message.tool_calls or ():
        said = made.model_dump()[made.type]
        arguments = said.get("arguments", said.get("input")) or "{}"
        yield {"id": made.id or None, "type": made.type, "name": said["name"], "arguments": arguments}
