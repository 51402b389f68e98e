"""OpenAI Agents SDK: its `Model` interface, which agents are run on, for chat completions and for responses.

`OpenAIChatCompletionsModel` and `OpenAIResponsesModel` with an `AsyncOpenAI` client of the call's own;
`get_response` gives a `ModelResponse` and `stream_response` the events of the Responses API, the last of them with the
whole response. `ModelResponse.to_input_items` makes an earlier answer the input of the next turn. A `ModelResponse` has
output items, usage and, for responses, an id; it has no finish reason and no model, so none is given for plain answers.
The id of chat completions is where the SDK keeps it, in `provider_data` of the items. Three things cannot be asked:
several choices, legacy functions, and tools that the SDK's runner executes (computer, shell, patches).

The client's own retries are off: each may wait for `call.timeout_s`, and together they would exceed it.

The SDK knows OpenAI's own endpoint by its address and demands more of its answers than of others, such as a finish
reason. So a call of OpenAI's is addressed to that endpoint, and its requests go to `call.base_url`.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from agents import FunctionTool, ModelResponse, ModelSettings, Usage
from agents.models.interface import ModelTracing
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from openai import APIError, AsyncOpenAI, DefaultAsyncHttpxClient

from llm_conformance.shims.native import Answer

FINISH = {"completed": "stop", "max_output_tokens": "length", "content_filter": "content_filter", "failed": "error"}
CALLS = ("function_call", "custom_tool_call")
HOSTED = ("web_search", "file_search", "code_interpreter", "image_generation", "mcp", "custom")
OPENAI = "https://api.openai.com/v1"
PIECES = ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta")


class Adapter:
    """One model and one client a call."""

    name = "openai-agents"
    version = version("openai-agents")
    providers = ("openai:chat", "openai:responses", "deepseek:chat", "local:chat")
    capabilities = (
        *("streaming", "reasoning", "segments", "annotations", "tools", "round_trip", "errors"),
        *("usage_details", "error_details"),
    )
    excluded_inputs = {  # noqa: RUF012 - read, never written
        "think tags": "the server splits them off if it is started with a reasoning parser: "
        "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html#quickstart",
    }
    errors = {  # noqa: RUF012 - read, never written
        "APITimeoutError": "TimeoutError",
        "APIConnectionError": "ServiceUnavailableError",
        "APIError": "LLMError",  # an error in a stream, which has no error status
        "APIResponseValidationError": "ValidationError",
        "ModelBehaviorError": "ValidationError",
        # the type of an error in a stream of chat completions, the code of one in a stream of responses
        **{"server_error": "ServiceUnavailableError", "rate_limit_exceeded": "RateLimitError"},
        **{"insufficient_quota": "RateLimitError", "invalid_request_error": "InvalidRequestError"},
        "exceed_context_size_error": "InvalidRequestError",
    }

    async def complete(self, call: Any) -> Answer:
        """Ask the model for a whole answer."""
        client, model, request = _asked(call)
        async with client:
            return _answer(call, await model.get_response(**request))

    async def stream(self, call: Any) -> Any:
        """Ask the model for its events."""
        try:
            async for event in self._events(call):
                yield event
        except APIError as error:
            if type(error) is not APIError:  # an error in a stream has a type and no class of its own
                raise
            said = {"error_type": error.type or "APIError", "message": error.message}
            yield {"event_type": "response.error", "error": said}

    async def _events(self, call: Any) -> Any:
        client, model, request = _asked(call)
        calls: dict[int, tuple[Any, list[str]]] = {}
        async with client:
            async for event in model.stream_response(**request):
                if event.type == "response.output_text.delta":
                    yield {"event_type": event.type, "delta": event.delta}
                elif event.type in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
                    yield {"event_type": "response.reasoning.delta", "delta": event.delta}
                elif event.type == "response.output_item.added" and event.item.type in CALLS:
                    calls[event.output_index] = event.item, []
                    yield _call_piece(calls, event.output_index, "")
                elif event.type in PIECES and event.output_index in calls:
                    yield _call_piece(calls, event.output_index, event.delta)
                elif event.type == "response.output_item.done" and event.item.type in CALLS:
                    _, pieces = calls.setdefault(event.output_index, (event.item, []))
                    whole = event.item.input if event.item.type == "custom_tool_call" else event.item.arguments
                    yield _call_piece(calls, event.output_index, whole[len("".join(pieces)) :])
                elif event.type in ("response.completed", "response.incomplete"):
                    yield {"event_type": "response.completed", "response": _last(call, event.response)}
                elif event.type == "error":
                    said = {"error_type": event.code or "error", "message": event.message}
                    yield {"event_type": "response.error", "error": said}
                    return
                elif event.type == "response.failed" and event.response.error:
                    error = event.response.error
                    yield {
                        "event_type": "response.error",
                        "error": {"error_type": error.code, "message": error.message},
                    }
                    return


class _Redirected(DefaultAsyncHttpxClient):
    """Sends to another address what is addressed to OpenAI."""

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self._to = base_url

    async def send(self, request: Any, **options: Any) -> Any:
        """Send a request."""
        request.url = type(request.url)(self._to + str(request.url).removeprefix(OPENAI))
        request.headers["host"] = request.url.netloc.decode()
        return await super().send(request, **options)


def _asked(call: Any) -> tuple[AsyncOpenAI, Any, dict[str, Any]]:
    """Return the client, the model on it, and what it is asked."""
    if "audio" in call.params.get("modalities", ()):
        raise NotImplementedError("the SDK refuses answers with audio")
    unread = [name for name in ("functions", "function_call") if name in call.params]
    if unread or call.params.get("n", 1) != 1:
        raise NotImplementedError(f"the SDK does not read what {unread or 'n'} asks for")
    hosted = [tool["type"] for tool in call.params.get("tools", ())]
    if call.api == "chat" and hosted:
        raise NotImplementedError("the SDK has no tools but functions in chat completions")
    if strange := [type for type in hosted if not type.startswith(HOSTED)]:
        raise NotImplementedError(f"the SDK has no hosted tool of the type {strange[0]} that the model executes")
    options = {"api_key": call.api_key, "timeout": call.timeout_s, "max_retries": 0}
    if call.provider == "openai":
        client = AsyncOpenAI(base_url=OPENAI, http_client=_Redirected(call.base_url), **options)
    else:
        client = AsyncOpenAI(base_url=call.base_url, **options)
    kind = OpenAIResponsesModel if call.api == "responses" else OpenAIChatCompletionsModel
    params = dict(call.params)
    include_usage = params.get("stream_options", {}).get("include_usage")
    if call.tools and "tools" in params:  # hosted tools; a body's own list of tools takes the place of the SDK's
        flat = [{"type": "function", **tool["function"]} for tool in call.tools]
        params["tools"] = [*params["tools"], *flat]
    request = {
        "system_instructions": None,
        "input": _input(call.messages),
        "model_settings": ModelSettings(include_usage=include_usage, extra_body=params or None),
        "tools": [_tool(tool["function"]) for tool in call.tools],
        "output_schema": None,
        "handoffs": [],
        "tracing": ModelTracing.DISABLED,
        "previous_response_id": None,
        "conversation_id": None,
        "prompt": None,
    }
    return client, kind(call.model, client), request


def _input(messages: Any) -> list[Any]:
    """Return a conversation as input items, the form of the Responses API in which the SDK takes every one."""
    items: list[Any] = []
    for message in messages:
        if isinstance(message, Answer):
            items += message.turn.to_input_items()
        elif message["role"] == "tool":
            id = message["tool_call_id"]
            custom = any(each.get("call_id") == id and each.get("type") == "custom_tool_call" for each in items)
            kind = "custom_tool_call_output" if custom else "function_call_output"
            items.append({"type": kind, "call_id": id, "output": message["content"]})
        else:
            if message.get("content"):
                items.append({"role": message["role"], "content": _content(message["content"])})
            for each in message.get("tool_calls", ()):
                kind = "custom_tool_call" if each["type"] == "custom" else "function_call"
                items.append({"type": kind, "call_id": each["id"], **each[each["type"]]})
    return items


def _content(content: Any) -> Any:
    """Return a content with files of chat completions in the form of the Responses API."""
    return [*map(_part, content)] if isinstance(content, list) else content


def _part(part: Any) -> Any:
    if "type" not in part:
        raise NotImplementedError("a part without a type")
    if part["type"] != "file":
        return part
    file = part["file"]
    if "file_data" not in file or not set(file) <= {"file_data", "filename"}:
        raise NotImplementedError(f"a file with {', '.join(file)}")
    return {"type": "input_file", **file}


def _tool(function: Any) -> FunctionTool:
    async def never(_context: Any, _arguments: str) -> str:
        raise NotImplementedError  # the suite answers tool calls itself

    return FunctionTool(
        name=function["name"],
        description=function.get("description", ""),
        params_json_schema=dict(function.get("parameters") or {}),
        on_invoke_tool=never,
        strict_json_schema=False,
    )


def _call_piece(calls: dict[int, tuple[Any, list[str]]], at: int, delta: str) -> dict[str, Any]:
    item, pieces = calls[at]
    pieces.append(delta)
    return {
        "event_type": "response.function_call_arguments.delta",
        "delta": delta,
        "tool_call": {"index": list(calls).index(at), "id": item.call_id, "name": item.name},
    }


def _last(call: Any, response: Any) -> Answer:
    """Return the answer of a stream: the `ModelResponse` that the SDK's runner makes, and what the event adds to it."""
    counts = response.usage
    usage = Usage(requests=1)
    if counts:
        usage = Usage(
            requests=1,
            input_tokens=counts.input_tokens,
            output_tokens=counts.output_tokens,
            total_tokens=counts.total_tokens,
            input_tokens_details=counts.input_tokens_details,
            output_tokens_details=counts.output_tokens_details,
        )
    answer = _answer(call, ModelResponse(output=response.output, usage=usage, response_id=response.id))
    details = response.incomplete_details
    answer["raw_finish_reason"] = details.reason if details else response.status
    answer["finish_reason"] = FINISH.get(answer["raw_finish_reason"])
    answer["model"] = response.model or call.model
    return answer


def _answer(call: Any, result: ModelResponse) -> Answer:
    message, segments, annotations, calls = "", [], [], []
    for item in result.output:
        if item.type == "message":
            for part in item.content:
                if part.type == "output_text":
                    annotations += [_annotation(each, len(message), len(part.text)) for each in part.annotations or ()]
                    segments.append({"type": "text", "content": part.text})
                    message += part.text
                else:
                    segments.append(
                        {"type": "other", "content": getattr(part, "refusal", ""), "metadata": {"kind": part.type}}
                    )
        elif item.type == "reasoning":
            parts = [part.text for part in [*(item.summary or ()), *(item.content or ())]] or [""]
            segments += [{"type": "reasoning", "content": text} for text in parts]
            if item.encrypted_content:
                segments[-1]["metadata"] = {"encrypted": item.encrypted_content}
        elif item.type in CALLS:
            custom = item.type == "custom_tool_call"
            arguments = item.input if custom else item.arguments
            calls.append(
                {
                    "id": item.call_id or None,
                    "type": "custom" if custom else "function",
                    "name": item.name,
                    "arguments": arguments or "{}",
                }
            )
            segments.append({"type": "tool_call", "content": arguments})
        else:
            whole = item if isinstance(item, dict) else item.model_dump(mode="json")
            hosted = str(whole.get("type")).endswith("_call")
            about = {"server_executed": True, "wire": whole} if hosted else {"type": whole.get("type"), "wire": whole}
            segments.append({"type": "tool_call" if hosted else "other", "content": "", "metadata": about})
    answer = Answer(
        id=_id(result),
        provider=call.provider,
        model=call.model,
        message=message,
        reasoning="".join(each["content"] for each in segments if each["type"] == "reasoning") or None,
        segments=segments,
        annotations=annotations,
        tool_calls=calls,
        finish_reason=None,
        raw_finish_reason=None,
        usage=_usage(result.usage),
    )
    answer.native = answer.turn = result
    return answer


def _id(result: ModelResponse) -> str | None:
    """Return the id of the answer, which chat completions have at their items."""
    data = [getattr(item, "provider_data", None) or {} for item in result.output]
    return next((each["response_id"] for each in data if each.get("response_id")), result.response_id)


def _annotation(annotation: Any, before: int, length: int) -> dict[str, Any]:
    """Return an annotation; its offsets count in its own part of the message."""
    data = annotation.model_dump(mode="json", exclude_none=True)
    start, end = data.pop("start_index", None), data.pop("end_index", None)
    if start is None or end is None or not start <= end <= length:
        return {"start": None, "end": None, "data": data}
    return {"start": before + start, "end": before + end, "data": data}


def _usage(usage: Usage) -> dict[str, Any]:
    inputs, outputs = usage.input_tokens_details, usage.output_tokens_details
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "cached_tokens": inputs.cached_tokens,
        "cache_write_tokens": getattr(inputs, "cache_write_tokens", None),
        "reasoning_tokens": outputs.reasoning_tokens,
    }


conformance_adapter = Adapter
