"""Mirascope: `llm.Model.call` and `llm.Model.stream`, sync, for OpenAI and Anthropic.

The shim reads `texts`, `thoughts`, `tool_calls`, `finish_reason` and `usage` of a response, and its `raw` for id, model
and the provider's finish word. Of a stream it reads `chunk_stream()`, and the response itself, which the library folds.
Of an error it reads the class, the status and `original_exception`. An earlier answer goes back as the last of the
response's `messages`. Tools are `llm.Tool`, made from the schema in the way that the library makes tools of MCP
servers.

A finish reason of None is documented as a normal end. The library says 0 for counts that are not reported.

The library has no setting for retries and timeouts, so `max_retries` and the limit are set in the client that its
provider keeps as `client`.
"""

from importlib.metadata import version

from mirascope import llm
from mirascope.llm.tools.tool_schema import ToolParameterSchema

from llm_conformance.shims.native import Answer

PROVIDERS = {
    "openai:chat": ("openai:completions", "openai/{model}:completions"),
    "openai:responses": ("openai:responses", "openai/{model}:responses"),
    "anthropic:messages": ("anthropic", "anthropic/{model}"),
}
PARAMS = {
    **{name: name for name in ("temperature", "max_tokens", "top_p", "top_k", "seed")},
    **{"max_completion_tokens": "max_tokens", "max_output_tokens": "max_tokens"},
    **{"stop": "stop_sequences", "stop_sequences": "stop_sequences"},
}
NOT_SAID = ("stream", "stream_options", "system", "tools")  # what the library decides itself, or has a place for
FINISH = {"max_tokens": "length", "refusal": "content_filter", "context_length_exceeded": "length"}
ERRORS = {
    "ResponseValidationError": "ValidationError",
    "ConnectionError": "ServiceUnavailableError",  # the library's own class of that name
    "TimeoutError": "TimeoutError",
    "ProviderError": "LLMError",
    # `type` of errors in streams: OpenAI's, then Anthropic's
    **{"server_error": "ServiceUnavailableError", "insufficient_quota": "RateLimitError"},
    **{"rate_limit_exceeded": "RateLimitError", "context_length_exceeded": "InvalidRequestError"},
    **{"overloaded_error": "ServiceUnavailableError", "api_error": "ServiceUnavailableError"},
    **{"rate_limit_error": "RateLimitError", "authentication_error": "AuthenticationError"},
    **{"invalid_request_error": "InvalidRequestError", "not_found_error": "ResourceNotFoundError"},
}


class Adapter:
    """Each API by the library's provider for it."""

    name = "mirascope"
    version = version("mirascope")
    providers = tuple(PROVIDERS)
    # No order of blocks of hosted tools, and no citations.
    capabilities = (
        *("streaming", "reasoning", "tools", "round_trip", "errors"),
        "incomplete_streams",
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        model = _model(call)
        response = model.call(_messages(call), tools=_tools(call))
        return _answer(call, response, [response.raw], response)

    def stream(self, call):
        """Yield a streamed answer."""
        try:
            yield from self._stream(call)
        except llm.ProviderError as error:
            if (told := _told_in_a_stream(error)) is None:
                raise
            yield told

    def _stream(self, call):
        model = _model(call)
        response = model.stream(_messages(call), tools=_tools(call))
        numbers = {}
        for chunk in response.chunk_stream():
            match chunk.type:
                case "text_chunk":
                    yield {"event_type": "response.output_text.delta", "delta": chunk.delta}
                case "thought_chunk":
                    yield {"event_type": "response.reasoning.delta", "delta": chunk.delta}
                case "tool_call_start_chunk":
                    number = numbers[chunk.id] = len(numbers)
                    whose = {"index": number, "id": chunk.id, "name": chunk.name}
                    yield {"event_type": "response.function_call_arguments.delta", "delta": "", "tool_call": whose}
                case "tool_call_chunk":
                    whose = {"index": numbers[chunk.id], "id": chunk.id}
                    yield {
                        "event_type": "response.function_call_arguments.delta",
                        "delta": chunk.delta,
                        "tool_call": whose,
                    }
        raws = [*response.raw_stream_events]
        if raws:
            yield {"event_type": "response.completed", "response": _answer(call, response, raws, raws)}


def _told_in_a_stream(error):
    """Return the event for an error in a stream; None for others. Only the original exception has its type."""
    own = error.original_exception
    if type(error) is not llm.ProviderError or getattr(own, "status_code", 200) != 200:
        return None
    said = own.body if isinstance(getattr(own, "body", None), dict) else {}
    said = said.get("error") or said
    found = next((said[name] for name in ("code", "type") if said.get(name) in ERRORS), "LLMError")
    return {"event_type": "response.error", "error": {"error_type": found, "message": str(error)}}


def _model(call):
    provider_id, form = PROVIDERS[f"{call.provider}:{call.api}"]
    said = {name: value for name, value in call.params.items() if name not in NOT_SAID}
    if unknown := set(said) - set(PARAMS):
        raise NotImplementedError(f"the library has no parameter {', '.join(sorted(unknown))}")
    params = {PARAMS[name]: value for name, value in said.items()}
    if isinstance(params.get("stop_sequences"), str):
        params["stop_sequences"] = [params["stop_sequences"]]
    model_id = form.format(model=call.model)
    provider = llm.register_provider(provider_id, scope=model_id, api_key=call.api_key, base_url=call.base_url)
    provider.client = provider.client.with_options(max_retries=0, timeout=call.timeout_s)
    return llm.Model(model_id, **params)


def _tools(call):
    if call.params.get("tools"):
        raise NotImplementedError("the library has no tools that a provider runs in this form")
    return [_tool(each["function"]) for each in call.tools if _is_function(each)] or None


def _is_function(tool):
    if tool["type"] != "function":
        raise NotImplementedError("the library has no custom tools")
    return True


def _tool(function):
    def run(**arguments):
        raise NotImplementedError

    return llm.Tool(
        fn=run,
        name=function["name"],
        description=function.get("description", ""),
        parameters=ToolParameterSchema.model_validate(function.get("parameters") or {}),
        strict=function.get("strict"),
    )


def _messages(call):
    system = call.params.get("system")
    if system is not None and not isinstance(system, str):
        raise NotImplementedError("a system message is one text")
    first = [llm.messages.system(system)] if system else []
    messages, results = first, []
    for each in call.messages:
        if not isinstance(each, Answer) and each["role"] == "tool":
            results.append(_result(each))  # those of one turn are one message of the user
            continue
        messages += [llm.messages.user(results)] if results else []
        messages.append(each.turn if isinstance(each, Answer) else _message(each))
        results = []
    return messages + ([llm.messages.user(results)] if results else [])


def _result(said):
    if not isinstance(said["content"], str):
        raise NotImplementedError("the shim has no result that is not a text")
    return llm.ToolOutput(id=said["tool_call_id"], name=said.get("name") or "", result=said["content"])


def _message(said):
    match said:
        case {"role": "system", "content": str(text)}:
            return llm.messages.system(text)
        case {"role": "user", "content": str(text)}:
            return llm.messages.user(text)
        case {"role": "user", "content": [*parts]}:
            return llm.messages.user([*map(_part, parts)])
        case {"role": "assistant"}:
            content = [llm.Text(text=said["content"])] if said.get("content") else []
            content += [
                llm.ToolCall(id=each["id"], name=each["function"]["name"], args=each["function"]["arguments"])
                for each in said.get("tool_calls") or ()
                if _is_function(each)
            ]
            return llm.messages.assistant(content, model_id=None, provider_id=None)
    raise NotImplementedError(f"the library has no such message: {said['role']}")


def _part(part):
    match part:
        case {"type": "text" | "input_text", "text": text, **rest} if not rest:
            return llm.Text(text=text)
        case {"type": "image_url", "image_url": {"url": str(url), **rest}} if not rest:
            return llm.Image.from_url(url)
    raise NotImplementedError(f"the shim has no content for a part of type {part.get('type')}")


def _answer(call, response, raws, native):
    calls = [{"id": each.id or None, "name": each.name, "arguments": each.args or "{}"} for each in response.tool_calls]
    finish = response.finish_reason
    answer = Answer(
        **_head(call, raws),
        provider=call.provider,
        message="".join(each.text for each in response.texts),
        reasoning="".join(each.thought for each in response.thoughts) or None,
        tool_calls=calls,
        usage=_counts(response.usage),
        finish_reason=FINISH[finish.value] if finish else "tool_calls" if calls else "stop",
    )
    answer.native, answer.turn = native, response.messages[-1]
    return answer


def _head(call, raws):
    """Return what only the provider's own objects have: id, model and finish word."""
    said = {"id": None, "model": call.model, "raw_finish_reason": None}
    for raw in raws:
        for holder in (raw, getattr(raw, "response", None), getattr(raw, "message", None)):
            said["id"] = said["id"] or getattr(holder, "id", None)
            said["model"] = getattr(holder, "model", None) or said["model"]
            for choice in getattr(holder, "choices", None) or ():
                said["raw_finish_reason"] = choice.finish_reason or said["raw_finish_reason"]
            details = getattr(holder, "incomplete_details", None)
            word = (details and details.reason) or getattr(holder, "stop_reason", None)
            said["raw_finish_reason"] = word or said["raw_finish_reason"]
            if call.api == "responses" and not word:
                said["raw_finish_reason"] = getattr(holder, "status", None) or said["raw_finish_reason"]
        word = getattr(getattr(raw, "delta", None), "stop_reason", None)
        said["raw_finish_reason"] = word or said["raw_finish_reason"]
    return said


def _counts(usage):
    if usage is None:
        return None
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "cached_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }


conformance_adapter = Adapter
