"""llm, with the plugins llm-anthropic and llm-deepseek: its Python API.

The shim makes the plugins' model classes with the call's base URL, and asks by
`model.prompt(messages=..., tools=..., options=...)`. This returns a `Response`: `messages()` and `usage()` are the
answer, and `stream_events()` are its pieces. The messages go back in the next turn. Parameters that are no option of
the model cannot be sent, nor hosted tools for which there is no class. A `Response` has no id, model, time, finish
reason or refusal, so these are read from its `json()`. So are the details of the counts, because `usage()` leaves out
those that are 0.

Neither time limit nor retries can be set: the clients wait and try again as they do by default.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import anthropic
import llm
import openai
from llm.default_plugins.openai_models import Chat, CodeInterpreter, Responses
from llm.default_plugins.openai_models import WebSearch as OpenAIWebSearch
from llm.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart, assistant, system, tool_message, user
from llm_anthropic import DEFAULT_THINKING_TOKENS, ClaudeMessages, ClaudeRefusal, CodeExecution, WebFetch
from llm_anthropic import WebSearch as ClaudeWebSearch
from llm_deepseek import DeepSeekChat

from llm_conformance.shims import chat
from llm_conformance.shims.native import Answer

HOSTED = {
    "anthropic": {"web_search": ClaudeWebSearch, "web_fetch": WebFetch, "code_execution": CodeExecution},
    "openai": {"web_search": OpenAIWebSearch, "code_interpreter": CodeInterpreter},
}
FINISH = {
    **chat.FINISH,
    **{"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "refusal": "content_filter"},
    **{"max_tokens": "length", "model_context_window_exceeded": "length"},
    **{"completed": "stop", "max_output_tokens": "length", "failed": "error"},
    **{"aborted": "error", "insufficient_system_resource": "error"},  # DeepSeek's words
    "abort": "error",  # SGLang's word
}
BUDGET = DEFAULT_THINKING_TOKENS
BUILDERS = {"assistant": assistant, "system": system, "user": user}


class Adapter:
    """One model object a call."""

    name = "llm"
    version = version("llm")
    providers = ("anthropic:messages", "deepseek:chat", "local:chat", "openai:chat", "openai:responses")
    capabilities = (
        *("streaming", "reasoning", "segments", "tools", "round_trip", "errors"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    # The library does not keep the text of arguments. The shim writes compact JSON, so only compact texts are compared.
    excluded_inputs = {  # noqa: RUF012 - read, never written
        "think tags": "the server splits them off if it is started with a reasoning parser: "
        "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html#quickstart",
        **{
            f"text of arguments: {way}": "`arguments` of a call is a dict: https://llm.datasette.io/en/stable/python-api.html"
            for way in ("spaced", "indented")
        },
    }
    errors = {  # noqa: RUF012 - read, never written
        "APITimeoutError": "TimeoutError",
        "APIConnectionError": "ServiceUnavailableError",
        "APIResponseValidationError": "ValidationError",
        "APIError": "LLMError",  # an error in a stream, which has no error status, of a type that is not listed
        **{"server_error": "ServiceUnavailableError", "overloaded_error": "ServiceUnavailableError"},
        **{"insufficient_quota": "RateLimitError", "rate_limit_error": "RateLimitError"},
        **{"invalid_request_error": "InvalidRequestError", "exceed_context_size_error": "InvalidRequestError"},
    }

    def complete(self, call: Any) -> Answer:
        """Ask for a whole answer."""
        return _answer(call, _prompt(call))

    def stream(self, call: Any) -> Any:
        """Ask for an answer, and give its events."""
        try:
            yield from self._events(call)
        except (anthropic.APIError, openai.APIError) as error:
            if type(error) not in (anthropic.APIStatusError, openai.APIError):
                raise
            if getattr(error, "status_code", 200) >= 400:
                raise
            # An error in a stream has a type and no class of its own.
            said = {"error_type": error.type or "APIError", "message": error.message}
            yield {"event_type": "response.error", "error": said}

    def _events(self, call: Any) -> Any:
        response = _prompt(call)
        try:
            yield from _pieces(response)
            answer = _answer(call, response)
        except ClaudeRefusal:
            answer = _refused(call, response)
        yield {"event_type": "response.completed", "response": answer}


def _pieces(response: Any) -> Iterator[dict[str, Any]]:
    calls: dict[int, dict[str, Any]] = {}
    for event in response.stream_events():
        if event.type == "text":
            yield {"event_type": "response.output_text.delta", "delta": event.chunk}
        elif event.type == "reasoning" and event.chunk:
            yield {"event_type": "response.reasoning.delta", "delta": event.chunk}
        elif event.type in ("tool_call_name", "tool_call_args") and not event.server_executed:
            about = calls.setdefault(
                event.part_index, {"index": len(calls), "id": event.tool_call_id or None, "name": ""}
            )
            named = event.type == "tool_call_name"
            about["name"] += event.chunk if named else ""
            yield {
                "event_type": "response.function_call_arguments.delta",
                "delta": "" if named else event.chunk,
                "tool_call": dict(about),
            }


def _prompt(call: Any) -> Any:
    model = _model(call)
    tools = [*_hosted(call)]
    if call.tools and not model.supports_tools:
        raise NotImplementedError("llm-deepseek has no tools")
    options = _options(model, call.params, call.messages)
    if unknown := [
        name for name in call.params if name not in _TAKEN | options.keys() and not _says_nothing(call, name)
    ]:
        raise NotImplementedError(f"llm has no option for {', '.join(unknown)}")
    try:
        model.Options(**options)
    except ValueError as error:
        raise NotImplementedError(f"llm refuses an option before it asks: {error}") from error
    if not all(tool["type"] == "function" for tool in call.tools):
        raise NotImplementedError("llm has function tools only")
    tools += [
        llm.Tool(
            name=tool["function"]["name"],
            description=tool["function"].get("description"),
            input_schema=tool["function"].get("parameters") or {},
        )
        for tool in call.tools
    ]
    names = _names(call.messages)
    instructions = [system(call.params["instructions"])] if call.params.get("instructions") else []
    return model.prompt(
        messages=[*instructions, *(turn for message in call.messages for turn in _turns(message, names))],
        tools=tools or None,
        options=options,
        schema=_format(call.params).get("schema"),
        stream=call.stream,
        key=call.api_key,
    )


# Parameters that are read here, under whatever name llm has for them.
_TAKEN = {
    "tools",
    "mcp_servers",
    "thinking",
    "reasoning",
    "response_format",
    "text",
    "max_output_tokens",
    "instructions",
}
# Values of parameters that need no option: llm sends them itself, or the provider takes them for granted.
_AS_IT_IS = {
    "store": (False,),
    "tool_choice": ("auto",),
    "parallel_tool_calls": (True,),
    "service_tier": ("auto", "default"),
    "stream_options": ({"include_usage": True},),
    "functions": ([],),
    "stop": ([],),
    "n": (1,),
}
# Who asks, and what helps the provider to find its cache.
_NO_PART_OF_THE_ANSWER = {"metadata", "user", "prompt_cache_key", "safety_identifier"}


def _says_nothing(call: Any, name: str) -> bool:
    """Tell whether a parameter may be left out: the answer is the same without it."""
    value = call.params[name]
    if name == "include":  # llm asks for it if it asks for an effort or a summary
        return value == ["reasoning.encrypted_content"] and bool(call.params.get("reasoning"))
    return value is None or name in _NO_PART_OF_THE_ANSWER or value in _AS_IT_IS.get(name, ())


def _hosted(call: Any) -> Iterator[Any]:
    known = HOSTED.get(call.provider, {})
    for tool in call.params.get("tools", ()):
        type = tool.get("type", "custom")
        name = next((name for name in known if type.startswith(name)), None)
        if name is None:
            raise NotImplementedError(f"a hosted tool of type {type}")
        yield known[name]()
    if "mcp_servers" in call.params:
        raise NotImplementedError("MCP servers as the request has them: llm asks for them by a set of tools")


def _model(call: Any) -> Any:
    if call.provider == "anthropic":
        return ClaudeMessages(
            call.model,
            base_url=call.base_url,
            supports_thinking=True,
            supports_adaptive_thinking=(call.params.get("thinking") or {}).get("type") == "adaptive",
            supports_pdf=True,
            supports_web_search=True,
            supports_code_execution=True,
        )
    if call.provider == "deepseek":
        model = DeepSeekChat(call.model)
        model.api_base = call.base_url
        return model
    about = {"api_base": call.base_url, "supports_schema": True, "supports_tools": True, "reasoning": True}
    if call.api == "responses":
        return Responses(call.model, **about, reasoning_summary=False)  # a summary goes out if it is asked for
    return Chat(call.model, **about)


def _options(model: Any, params: Any, messages: Any) -> dict[str, Any]:
    """Return the parameters that are options of the model, under llm's names."""
    options = {key: value for key, value in params.items() if key in model.Options.model_fields}
    if model.__class__ is ClaudeMessages and '"cache_control"' in json.dumps([params, messages], default=repr):
        options["cache"] = True
    if isinstance(stop := options.get("stop"), list):
        del options["stop"]
        options |= {"stop": stop[0]} if len(stop) == 1 else {}
    if thinking := params.get("thinking"):
        if "thinking" not in model.Options.model_fields or thinking.get("budget_tokens", BUDGET) != BUDGET:
            raise NotImplementedError("llm-deepseek has no option for thinking, and llm-anthropic none for its budget")
        options["thinking"] = thinking["type"] != "disabled"
    said = params.get("reasoning") or {}
    options |= {f"reasoning_{key}": said[key] for key in ("effort", "summary") if said.get(key)}
    if _format(params).get("type") == "json_object":
        options["json_object"] = True
    if "max_output_tokens" in params:
        options["max_tokens"] = params["max_output_tokens"]
    return options


def _format(params: Any) -> Mapping[str, Any]:
    """Return the format that the answer is to have, with its schema, from the parameter that the API has for it."""
    asked = params.get("response_format") or params.get("text", {}).get("format") or {}
    return asked.get("json_schema", asked)


def _names(messages: Any) -> dict[str, str]:
    """Return the names of the tools by the ids of their calls. In a chat, the result of a call has no name."""
    calls = [each for message in messages for each in message.get("tool_calls", ())]
    return {each["id"]: each.get("name") or each[each["type"]]["name"] for each in calls}


def _turns(message: Any, names: dict[str, str]) -> list[Any]:
    if isinstance(message, Answer):
        return message.turn
    if message["role"] == "tool":
        id = message["tool_call_id"]
        return [tool_message(ToolResultPart(name=names.get(id, ""), output=message["content"], tool_call_id=id))]
    content = message.get("content") or []
    parts: list[Any] = [content] if isinstance(content, str) else [_text(block) for block in content]
    for each in message.get("tool_calls", ()):
        function = each["function"]
        parts.append(ToolCallPart(function["name"], json.loads(function["arguments"]), each["id"]))
    return [BUILDERS[message["role"]](*parts)]


def _text(block: Any) -> str:
    """Return a block's text. Others have no form here."""
    if "text" in block:
        return block["text"]
    raise NotImplementedError(f"a part of type {block.get('type')}")


def _answer(call: Any, response: Any) -> Answer:
    try:
        turn = response.messages()
    except ClaudeRefusal:
        return _refused(call, response)
    said = response.json() or {}
    choice = (said.get("choices") or [said])[0]  # llm folds a stream of chunks to a content and a finish reason
    parts = [part for message in turn for part in message.parts]
    made = [part for part in parts if isinstance(part, ToolCallPart) and not part.server_executed]
    raw = choice.get("finish_reason") or choice.get("stop_reason")
    raw = raw or (said.get("incomplete_details") or {}).get("reason") or said.get("status")
    refusals = [*_refusals(said, choice)]
    answer = Answer(
        **_head(call, response, said),
        message="".join(part.text for part in parts if isinstance(part, TextPart)),
        reasoning="".join(part.text for part in parts if isinstance(part, ReasoningPart)) or None,
        segments=[_segment(part) for part in parts if not _is_in_its_call(part, call)]
        + [{"type": "other", "content": "", "metadata": {"wire": each}} for each in refusals],
        tool_calls=[
            {
                "id": part.tool_call_id or None,
                "name": part.name,
                "arguments": _compact(part.arguments),
            }
            for part in made
        ],
        finish_reason="content_filter" if refusals else FINISH.get(raw or ""),
        raw_finish_reason=raw,
        usage=_usage(response.usage(), said.get("usage") or {}),
    )
    answer.native, answer.turn = [turn, said], turn
    return answer


def _refused(call: Any, response: Any) -> Answer:
    """Return the answer if the library has raised Claude's refusal. It reads attributes only, to ask nothing again."""
    said = response.response_json
    segments = [_block(block) for block in said["content"]]
    answer = Answer(
        **_head(call, response, said),
        message=_joined(segments, "text"),
        reasoning=_joined(segments, "reasoning") or None,
        segments=segments,
        tool_calls=[
            {"id": block["id"], "name": block["name"], "arguments": _compact(block["input"])}
            for block in said["content"]
            if block["type"] == "tool_use"
        ],
        finish_reason="content_filter",
        raw_finish_reason=said["stop_reason"],
        usage=_usage(llm.Usage(response.input_tokens, response.output_tokens, response.token_details), {}),
    )
    answer.native, answer.turn = said, []
    return answer


def _joined(segments: list[dict[str, Any]], type: str) -> str:
    return "".join(each["content"] for each in segments if each["type"] == type)


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return the segment of a block of a refused answer. Such an answer has no parts."""
    match block["type"]:
        case "text":
            return {"type": "text", "content": block["text"]}
        case "thinking":
            return {
                "type": "reasoning",
                "content": block["thinking"],
                "metadata": {"signature": block["signature"]},
            }
        case "redacted_thinking":
            return {"type": "reasoning", "content": "", "metadata": {"redacted": block["data"]}}
        case "tool_use":
            return {"type": "tool_call", "content": json.dumps(block["input"])}
        case "server_tool_use" | "mcp_tool_use":
            return {"type": "tool_call", "content": json.dumps(block["input"]), "metadata": {"server_executed": True}}
    return {"type": "other", "content": "", "metadata": {"wire": block}}


def _head(call: Any, response: Any, said: Mapping[str, Any]) -> dict[str, Any]:
    created = said.get("created") or said.get("created_at")
    return {
        "id": said.get("id"),
        "provider": call.provider,
        "model": said.get("model") or response.resolved_model or response.model.model_id,
        "created": datetime.fromtimestamp(created, UTC).isoformat() if created else None,
    }


def _refusals(said: Mapping[str, Any], choice: Mapping[str, Any]) -> Iterator[Any]:
    """Give OpenAI's refusals, which no part has."""
    if (choice.get("message") or {}).get("refusal"):
        yield {"refusal": choice["message"]["refusal"]}
    for item in said.get("output") or ():
        yield from (part for part in item.get("content") or () if part.get("type") == "refusal")


def _compact(arguments: Any) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def _is_in_its_call(part: Any, call: Any) -> bool:
    """Tell whether a part is the result of a hosted tool, which OpenAI has in the item of the call."""
    return call.provider == "openai" and isinstance(part, ToolResultPart) and part.server_executed


def _segment(part: Any) -> dict[str, Any]:
    about = {key: value for each in (part.provider_metadata or {}).values() for key, value in each.items()}
    if isinstance(part, TextPart):
        return {"type": "text", "content": part.text}
    if isinstance(part, ReasoningPart):
        sealed = {"signature": about["signature"]} if "signature" in about else {}
        sealed |= {"redacted": about["data"]} if "data" in about else {}
        sealed |= {"encrypted": about["encrypted_content"]} if "encrypted_content" in about else {}
        return {"type": "reasoning", "content": part.text, "metadata": sealed}
    if isinstance(part, ToolCallPart):
        metadata = {"server_executed": True} if part.server_executed else {}
        return {"type": "tool_call", "content": json.dumps(part.arguments), "metadata": metadata}
    return {"type": "other", "content": "", "metadata": {"wire": part.to_dict()}}


def _usage(usage: Any, said: Mapping[str, Any]) -> dict[str, Any] | None:
    if usage.input is None and usage.output is None:
        return None
    details = {**(usage.details or {}), **said}
    prompt = details.get("prompt_tokens_details") or details.get("input_tokens_details") or {}
    completion = details.get("completion_tokens_details") or details.get("output_tokens_details") or {}
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": (usage.input or 0) + (usage.output or 0),
        "cached_tokens": prompt.get("cached_tokens", details.get("cache_read_input_tokens")),
        "cache_write_tokens": prompt.get("cache_write_tokens", details.get("cache_creation_input_tokens")),
        "reasoning_tokens": completion.get("reasoning_tokens", completion.get("thinking_tokens")),
        "audio_prompt_tokens": prompt.get("audio_tokens"),
        "audio_completion_tokens": completion.get("audio_tokens"),
    }


conformance_adapter = Adapter
