"""Pydantic AI: what its direct requests return.

The shim asks by `direct.model_request` and `direct.model_request_stream`, with one model class an API and the provider
class of its vendor. The conversation is `ModelRequest`s with their parts; further inputs are `ToolDefinition`s, native
tools and model settings. Of a `ModelResponse` the shim reads the parts, citations and usage, and `provider_details`,
where the library keeps the provider's own words.

Earlier answers go back as the `ModelResponse` that they were. Parameters that the library has no setting for go out by
`extra_body`, which it documents. Content that it has no type for, such as documents made of blocks, cannot be asked,
and neither can several choices and the like, which it does not read.

The clients' own retries are off: together they would exceed `call.timeout_s`.
"""

from __future__ import annotations

import base64
import importlib.metadata
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC
from typing import Any, ClassVar

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    DocumentUrl,
    FilePart,
    ImageUrl,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.cerebras import CerebrasModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.models.zai import ZaiModel
from pydantic_ai.native_tools import CodeExecutionTool, FileSearchTool, WebFetchTool, WebSearchTool
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.cerebras import CerebrasProvider
from pydantic_ai.providers.deepseek import DeepSeekProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.vllm import VLLMProvider
from pydantic_ai.providers.zai import ZaiProvider
from pydantic_ai.tools import ToolDefinition

from llm_conformance.shims.native import Answer

_UNREAD = ("functions", "function_call", "audio", "modalities", "fallbacks")


class PydanticAI:
    """The library as the suite sees it."""

    name = "pydantic-ai"
    version = importlib.metadata.version("pydantic-ai-slim")
    providers = (
        "anthropic:messages",
        "cerebras:chat",
        "deepseek:chat",
        "local:chat",
        "openai:chat",
        "openai:responses",
        "zai:chat",
    )
    capabilities = (
        *("streaming", "reasoning", "segments", "annotations", "tools", "round_trip", "errors"),
        *("lost_connections", "incomplete_streams"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    # Errors with an HTTP status are known by that; these are the ones without.
    errors: ClassVar = {
        "ModelTimeoutError": "TimeoutError",
        "ModelRequestTimeout": "TimeoutError",
        "ModelConnectionError": "ServiceUnavailableError",
        "UnexpectedModelBehavior": "ValidationError",
        # Categories of errors in streams, whose HTTP status is unknown
        **{"ModelRateLimitError": "RateLimitError", "ModelQuotaExceededError": "RateLimitError"},
        **{"ModelUnavailableError": "ServiceUnavailableError", "ModelServerError": "ServiceUnavailableError"},
        **{"ModelAuthenticationError": "AuthenticationError", "ModelNotFoundError": "ResourceNotFoundError"},
        "ModelRequestRejectedError": "InvalidRequestError",
        "ModelAPIError": "LLMError",  # of no category, such as a body that is no JSON
    }

    async def complete(self, call: Any) -> Answer:
        """Ask once, by `model_request`."""
        return _answer(await model_request(**_request(call)), call)

    async def stream(self, call: Any) -> AsyncIterator[Mapping[str, Any]]:
        """Ask by `model_request_stream`, and translate its events."""
        async with model_request_stream(**_request(call)) as stream:
            calls: dict[int, int] = {}
            async for event in stream:
                for translated in _translated(event, calls):
                    yield translated
            response = stream.get()
            if response.state == "incomplete":  # the library's word for a stream that ended early
                error = {"error_type": "ServiceUnavailableError", "message": "the response is incomplete"}
                yield {"event_type": "response.error", "error": error}
            else:
                yield {"event_type": "response.completed", "response": _answer(response, call)}


conformance_adapter = PydanticAI


def _model(call: Any) -> Model:
    if call.provider == "anthropic":
        claude = AsyncAnthropic(base_url=call.base_url, api_key=call.api_key, max_retries=0)
        return AnthropicModel(call.model, provider=AnthropicProvider(anthropic_client=claude))
    client = AsyncOpenAI(base_url=call.base_url, api_key=call.api_key, max_retries=0)
    match f"{call.provider}:{call.api}":
        case "openai:responses":
            return OpenAIResponsesModel(call.model, provider=OpenAIProvider(openai_client=client))
        case "cerebras:chat":
            return CerebrasModel(call.model, provider=CerebrasProvider(openai_client=client))
        case "deepseek:chat":
            return OpenAIChatModel(call.model, provider=DeepSeekProvider(openai_client=client))
        case "zai:chat":
            return ZaiModel(call.model, provider=ZaiProvider(openai_client=client))
        case "local:chat":
            return OpenAIChatModel(call.model, provider=VLLMProvider(openai_client=client))
        case _:
            return OpenAIChatModel(call.model, provider=OpenAIProvider(openai_client=client))


def _request(call: Any) -> dict[str, Any]:
    settings, native = _settings(call)
    if any(each["type"] != "function" for each in call.tools):
        raise NotImplementedError("the library has no custom tools")
    functions = [each["function"] for each in call.tools]
    tools = [
        ToolDefinition(
            name=function["name"],
            parameters_json_schema=function.get("parameters") or {},
            description=function.get("description"),
        )
        for function in functions
    ]
    return {
        "model": _model(call),
        "messages": list(_messages(call)),
        "model_settings": settings,
        "model_request_parameters": ModelRequestParameters(function_tools=tools, native_tools=native),
    }


_SETTINGS = {
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "temperature": "temperature",
    "seed": "seed",
    "stop": "stop_sequences",
    "stop_sequences": "stop_sequences",
    "parallel_tool_calls": "parallel_tool_calls",
    "reasoning_effort": "openai_reasoning_effort",
    "store": "openai_store",
}


def _settings(call: Any) -> tuple[dict[str, Any], list[Any]]:
    # `timeout` is for one attempt, `request_timeout` for all of them together.
    settings: dict[str, Any] = {"timeout": call.timeout_s, "request_timeout": call.timeout_s}
    settings["openai_include_raw_annotations"] = True
    rest: dict[str, Any] = {}
    native: list[Any] = []
    for name, value in call.params.items():
        if name in _UNREAD or (name == "n" and value != 1):
            raise NotImplementedError(f"the library does not read what {name} asks for")
        if name in _SETTINGS and (name != "reasoning_effort" or call.provider != "zai"):
            settings[_SETTINGS[name]] = value
        elif name == "thinking" and call.provider == "anthropic":
            settings["anthropic_thinking"] = value
        elif name == "reasoning_effort" and call.provider == "zai":
            settings["thinking"] = value
        elif name == "thinking" and call.provider == "zai":
            settings.setdefault("thinking", value["type"] == "enabled")
            if "clear_thinking" in value:
                settings["zai_clear_thinking"] = value["clear_thinking"]
        elif name == "reasoning":
            settings |= {f"openai_reasoning_{key}": each for key, each in value.items()}
        elif name == "tools":
            if call.provider == "zai":
                raise NotImplementedError("the library has no native tools of Z.ai's")
            native = [_native(tool) for tool in value]
        elif name == "stream_options":  # the library always asks for usage at the end
            settings["openai_continuous_usage_stats"] = bool(value.get("continuous_usage_stats"))
        else:
            rest[name] = value
    if any(isinstance(part, Mapping) and part.get("cache_control") for part in _parts(call, "system")):
        settings["anthropic_cache_instructions"] = True
    parts = _parts(call, "user")
    if any(isinstance(part, Mapping) and (part.get("citations") or {}).get("enabled") for part in parts):
        settings["citations"] = True
    return {**settings, "extra_body": rest}, native


def _parts(call: Any, role: str) -> Iterator[Any]:
    """Yield the parts of the messages of a role that have parts."""
    for said in call.messages:
        if said.get("role") == role and isinstance(said["content"], list):
            yield from said["content"]


def _native(tool: Mapping[str, Any]) -> Any:
    match tool.get("type"):
        case "web_search" | "web_search_20250305":
            return WebSearchTool(max_uses=tool.get("max_uses"))
        case "web_fetch_20250910":  # if the library did not know the tool, it would drop its calls
            cites = (tool.get("citations") or {}).get("enabled", False)
            own = {"enable_citations": cites}
            return WebFetchTool(max_uses=tool.get("max_uses"), provider_settings={"anthropic": own})
        case "code_interpreter":
            return CodeExecutionTool()
        case "file_search":
            return FileSearchTool(file_store_ids=tool["vector_store_ids"])
    raise NotImplementedError(f"the library has no native tool for {tool.get('type', tool.get('name'))}")


def _messages(call: Any) -> Iterator[ModelRequest | ModelResponse]:
    names: dict[str | None, str] = {}
    parts: list[Any] = []
    for said in call.messages:
        role = said.get("role")
        if role == "system":
            parts += [SystemPromptPart(text) for text in _texts(said["content"])]
        elif role == "user":
            content = said["content"]
            parts.append(UserPromptPart(content if isinstance(content, str) else [*_contents(content)]))
        elif role == "tool":
            name = names.get(said["tool_call_id"], "")  # the library loses calls of custom tools
            result = "".join(_texts(said["content"]))
            parts.append(ToolReturnPart(name, result, tool_call_id=said["tool_call_id"]))
        else:
            if parts:
                yield ModelRequest(parts)
                parts = []
            earlier = said.turn if isinstance(said, Answer) else _earlier(said)
            names |= {part.tool_call_id: part.tool_name for part in earlier.parts if isinstance(part, ToolCallPart)}
            yield earlier
    if parts:
        yield ModelRequest(parts)


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if not isinstance(part.get("text"), str):
            raise NotImplementedError(f"the library has no type for a part {part.get('type')!r} here")
        yield part["text"]


def _contents(parts: list[Mapping[str, Any]]) -> Iterator[Any]:
    """Yield the parts of a user's message in the library's types. Raises NotImplementedError if a part has no type."""
    for part in parts:
        known = set(part) - {"type", "cache_control"}
        match dict(part):
            case {"text": str(text)} if known == {"text"}:
                yield text
            case {"type": "image_url", "image_url": {"url": url, **rest}} if known == {"image_url"}:
                yield _image(url, rest)
            case {"type": "input_image", "image_url": str(url)} if known <= {"image_url", "detail"}:
                yield _image(url, {"detail": part["detail"]} if "detail" in part else {})
            case {"type": "input_audio", "input_audio": {"data": data, "format": form}}:
                yield BinaryContent(base64.b64decode(data), media_type=f"audio/{form}")
            case {"type": "image" | "document", "source": {"type": "base64", "media_type": kind, "data": data}} if (
                known <= {"source", "citations"}
            ):
                yield BinaryContent(base64.b64decode(data), media_type=kind)
            case {"type": "document", "source": {"type": "text", "data": text}} if known <= {"source", "citations"}:
                yield BinaryContent(text.encode(), media_type="text/plain")
            case {"type": "image", "source": {"type": "url", "url": url}} if known == {"source"}:
                yield ImageUrl(url)
            case {"type": "document", "source": {"type": "url", "url": url}} if known <= {"source", "citations"}:
                yield DocumentUrl(url)
            case _:
                fields = ", ".join(sorted(known))
                raise NotImplementedError(f"the library has no type for a part {part.get('type')!r} with {fields}")
        if part.get("cache_control"):
            yield CachePoint(ttl=part["cache_control"].get("ttl", "5m"))


def _image(url: str, detail: Mapping[str, Any]) -> BinaryContent | ImageUrl:
    settings = dict(detail) or None
    if url.startswith("data:"):
        head, _, data = url.partition(",")
        kind = head.removeprefix("data:").removesuffix(";base64")
        return BinaryContent(base64.b64decode(data), media_type=kind, vendor_metadata=settings)
    return ImageUrl(url, vendor_metadata=settings)


def _earlier(said: Mapping[str, Any]) -> ModelResponse:
    calls = [(each[each["type"]], each["id"]) for each in said.get("tool_calls") or ()]
    made = [ToolCallPart(one["name"], one.get("arguments", one.get("input")), tool_call_id=id) for one, id in calls]
    return ModelResponse([*map(TextPart, _texts(said.get("content"))), *made])


def _arguments(part: Any) -> str:
    # `args_as_json_str` would wrap text that is no whole JSON yet.
    return part.args or "{}" if isinstance(part.args, str) else part.args_as_json_str()


def _translated(event: Any, calls: dict[int, int]) -> Iterator[Mapping[str, Any]]:
    match event:
        case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            if text:
                yield {"event_type": "response.output_text.delta", "delta": text}
        case (
            PartStartEvent(part=ThinkingPart(content=text))
            | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text))
        ):
            if text:
                yield {"event_type": "response.reasoning.delta", "delta": text}
        case PartStartEvent(index=at, part=ToolCallPart() as made):
            tool = {"index": calls.setdefault(at, len(calls)), "id": made.tool_call_id, "name": made.tool_name}
            delta = _arguments(made) if made.args else None
            yield {"event_type": "response.function_call_arguments.delta", "tool_call": tool, "delta": delta}
        case PartDeltaEvent(index=at, delta=ToolCallPartDelta(args_delta=str(piece))) if at in calls:
            tool = {"index": calls[at]}
            yield {"event_type": "response.function_call_arguments.delta", "tool_call": tool, "delta": piece}


_FINISH = {"tool_call": "tool_calls"}


def _answer(response: ModelResponse, call: Any) -> Answer:
    message, segments, annotations = "", [], []
    for part in response.parts:
        # Responses have a hosted call, its result and its files in one item, of which the library makes several parts.
        if call.api != "responses" or not isinstance(part, NativeToolReturnPart | FilePart):
            segments.append(_segment(part))
        if isinstance(part, TextPart):
            annotations += _annotations(part, len(message))
            message += part.content or ""
    details = response.provider_details or {}
    created = details.get("timestamp")
    usage = response.usage
    answer = Answer(
        id=response.provider_response_id,
        provider=call.provider,
        model=response.model_name,
        created=created.astimezone(UTC).isoformat() if created else None,
        message=message,
        reasoning="".join(part.content for part in response.parts if isinstance(part, ThinkingPart)) or None,
        # OpenAI's refusals are no part of the response; their text is among the provider's own words.
        segments=segments if call.provider == "anthropic" else [*segments, *_refusal(details)],
        annotations=annotations,
        tool_calls=[
            {"id": part.tool_call_id, "type": "function", "name": part.tool_name, "arguments": _arguments(part)}
            for part in response.parts
            if isinstance(part, ToolCallPart)
        ],
        finish_reason=_FINISH.get(response.finish_reason or "", response.finish_reason),
        raw_finish_reason=details.get("finish_reason"),
        # A response whose usage nobody measured is counted by the library, with all its counts 0.
        usage=None if usage.unmeasured_requests else _usage(usage),
    )
    answer.native = answer.turn = response
    return answer


def _usage(usage: Any) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "cached_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.output_reasoning_tokens,
        "audio_prompt_tokens": usage.input_audio_tokens,
        "audio_completion_tokens": usage.output_audio_tokens,
        "raw": dict(usage.details),
    }


def _segment(part: Any) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "content": part.content or ""}
        case ThinkingPart(id="redacted_thinking"):
            return {"type": "reasoning", "content": "", "metadata": {"redacted": part.signature}}
        case ThinkingPart():
            seal = "signature" if part.provider_name == "anthropic" else "encrypted"
            return {
                "type": "reasoning",
                "content": part.content,
                "metadata": {seal: part.signature} if part.signature else {},
            }
        case ToolCallPart():
            return {"type": "tool_call", "content": _arguments(part)}
        case NativeToolCallPart():
            return {"type": "tool_call", "content": _arguments(part), "metadata": {"server_executed": True}}
        case NativeToolReturnPart():
            return {"type": "other", "content": part.model_response_str()}
    return {"type": "other", "content": "", "metadata": {"kind": part.part_kind}}


def _refusal(details: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if details.get("refusal"):
        yield {"type": "other", "content": details["refusal"], "metadata": {"kind": "refusal"}}


def _annotations(part: TextPart, offset: int) -> Iterator[dict[str, Any]]:
    details = part.provider_details or {}
    raw = details.get("annotations") or details.get("citations") or []
    anchors = [citation.anchor for citation in part.citations or () for _ in citation.sources]
    for number, citation in enumerate(raw):
        anchor = anchors[number] if number < len(anchors) else None
        # Chat completions have the fields of a citation one level down, under the name of its type.
        data = {**citation, **(citation.get(citation.get("type")) or {})}
        start, end = (anchor.start, anchor.end) if anchor else (None, None)
        if data.get("type") == "container_file_citation":  # the library makes no citation of its own of these
            start, end = data.get("start_index"), data.get("end_index")
        if start is not None and end is not None:
            start, end = start + offset, end + offset
        yield {"start": start, "end": end, "data": data}
