"""Semantic Kernel: `OpenAIChatCompletion` and `AnthropicChatCompletion`, `get_chat_message_content` and its stream.

Of the `ChatMessageContent` its `items`, its finish reason, and `id`, `created` and `usage` of its metadata are read.
Model and the provider's finish word are in `inner_content`, which holds the provider's own objects, as documented. The
pieces of a stream are added up with `+`, as documented. An earlier answer goes back as its `ChatMessageContent`.

Functions are `KernelFunctionMetadata` with the schema of each parameter. The services' own
`update_settings_from_function_call_configuration` puts them into the settings. They have no plugin, so that their names
are those of the call. Of a schema, the connectors send only `type`, `properties` and `required`. Parameters that the
settings for OpenAI do not have go into their `extra_body`.

Every failure of a request is a `ServiceResponseException`. Its `__cause__` is the error of the client, which says what
has happened. The shim raises the cause in its place.

The clients are made here, with `max_retries` 0 and the time limit, as the services have no settings for them.
"""

import json
from datetime import UTC, datetime
from functools import reduce
from importlib.metadata import version

import anthropic
import openai
from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion, AnthropicChatPromptExecutionSettings
from semantic_kernel.connectors.ai.anthropic.services import utils as of_anthropic
from semantic_kernel.connectors.ai.function_call_choice_configuration import FunctionCallChoiceConfiguration
from semantic_kernel.connectors.ai.function_calling_utils import update_settings_from_function_call_configuration
from semantic_kernel.connectors.ai.function_choice_type import FunctionChoiceType
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.contents import (
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
    ImageContent,
    TextContent,
)
from semantic_kernel.exceptions import ServiceResponseException
from semantic_kernel.functions import KernelFunctionMetadata, KernelParameterMetadata

from llm_conformance.shims import chat
from llm_conformance.shims.native import Answer, fields

PROVIDERS = ("openai:chat", "anthropic:messages")
SENT_ALWAYS = {"stream": True, "stream_options": {"include_usage": True}}
# Parameters that lead to what the library does not read in an answer, and fields that it fills itself.
UNREAD = ("n", "functions", "function_call", "audio", "modalities", "tools", "messages")
EFFORTS = ("low", "medium", "high")
CHOICES = {
    **{"auto": FunctionChoiceType.AUTO, "required": FunctionChoiceType.REQUIRED, "any": FunctionChoiceType.REQUIRED},
    "none": FunctionChoiceType.NONE,
}
FINISH = {"function_call": "tool_calls"}
"""The library's words that differ from the suite's."""
CLIENTS = (openai.APIError, anthropic.APIError)
ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIStatusError": "LLMError",  # an error in a stream of Claude's, whose status is 200
    "APIError": "LLMError",  # one of OpenAI's, which has no status
    "ServiceResponseException": "LLMError",  # with no error of OpenAI's or Anthropic's client behind it
    # `type` of errors in streams: OpenAI's, then Anthropic's
    **{"server_error": "ServiceUnavailableError", "insufficient_quota": "RateLimitError"},
    **{"invalid_request_error": "InvalidRequestError", "rate_limit_error": "RateLimitError"},
    **{"overloaded_error": "ServiceUnavailableError", "api_error": "ServiceUnavailableError"},
    **{"authentication_error": "AuthenticationError", "not_found_error": "ResourceNotFoundError"},
    **{"timeout_error": "TimeoutError", "permission_error": "AuthenticationError"},
    **{"billing_error": "InvalidRequestError", "request_too_large": "InvalidRequestError"},
}


class Adapter:
    """Each API by the library's service for it."""

    name = "semantic-kernel"
    version = version("semantic-kernel")
    providers = PROVIDERS
    capabilities = (
        *("streaming", "tools", "round_trip", "errors"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )

    errors = ERRORS

    async def complete(self, call):
        """Return a plain answer."""
        client, service, settings, history = _asked(call)
        try:
            async with client:
                return _answer(call, await service.get_chat_message_content(history, settings))
        except ServiceResponseException as error:
            raise _behind(error) from None

    async def stream(self, call):
        """Yield a streamed answer."""
        try:
            async for event in self._stream(call):
                yield event
        except (ServiceResponseException, openai.APIError) as error:
            if (told := _told_in_a_stream(_behind(error))) is None:
                raise _behind(error) from None
            yield told

    async def _stream(self, call):
        client, service, settings, history = _asked(call)
        pieces, calls = [], []
        async with client:
            async for piece in service.get_streaming_chat_message_content(history, settings):
                pieces.append(piece)
                for item in piece.items:
                    if isinstance(item, FunctionCallContent):
                        yield _called(calls, item)
                    elif text := getattr(item, "text", None):
                        yield {"event_type": "response.output_text.delta", "delta": text}
        if pieces:
            answer = _answer(call, reduce(lambda first, second: first + second, pieces))
            yield {"event_type": "response.completed", "response": answer}


def _behind(error):
    """Return the error of the client, if there is one behind the library's."""
    return error.__cause__ if isinstance(error.__cause__, CLIENTS) else error


def _told_in_a_stream(error):
    """Return the event for an error in a stream; None for others. It has no class and no error status, only a type."""
    if type(error) is not openai.APIError and getattr(error, "status_code", 0) != 200:
        return None
    found = error.type if error.type in ERRORS else "APIError"
    return {"event_type": "response.error", "error": {"error_type": found, "message": error.message}}


def _asked(call):
    """Return the client, the service, the settings and the history of a call."""
    about = {"base_url": call.base_url, "api_key": call.api_key, "timeout": call.timeout_s, "max_retries": 0}
    params = {name: value for name, value in call.params.items() if SENT_ALWAYS.get(name) != value}
    if unread := [name for name in UNREAD if name in params]:
        raise NotImplementedError(f"the library does not read what {unread[0]} asks for")
    choice = params.pop("tool_choice", "auto")
    if call.provider == "anthropic":
        client = anthropic.AsyncAnthropic(**about)
        service = AnthropicChatCompletion(call.model, api_key=call.api_key, async_client=client)
        if unknown := set(params) - set(AnthropicChatPromptExecutionSettings.model_fields):
            raise NotImplementedError(f"the settings have no {', '.join(sorted(unknown))}")
        if "system" in params and not isinstance(params["system"], str):
            raise NotImplementedError("a system message is one text")
        settings, set_tools = AnthropicChatPromptExecutionSettings(**params), _of_anthropic
    else:
        client = openai.AsyncOpenAI(**about)
        service = OpenAIChatCompletion(call.model, async_client=client)
        if params.get("reasoning_effort", "low") not in EFFORTS:
            raise NotImplementedError(f"the settings have no effort {params['reasoning_effort']}")
        known = set(OpenAIChatPromptExecutionSettings.model_fields)
        extra = {name: params.pop(name) for name in set(params) - known}
        settings = OpenAIChatPromptExecutionSettings(**params, extra_body=extra or None)
        set_tools = update_settings_from_function_call_configuration
    if call.tools:
        functions = FunctionCallChoiceConfiguration(available_functions=[*map(_function, call.tools)])
        set_tools(functions, settings, _choice(choice))
    elif choice != "auto":
        raise NotImplementedError("a choice of tools needs tools")
    return client, service, settings, _history(call)


def _of_anthropic(functions, settings, choice):
    of_anthropic.update_settings_from_function_call_configuration(functions, settings, choice)


def _choice(choice):
    kind = choice["type"] if isinstance(choice, dict) and len(choice) == 1 else choice
    if not isinstance(kind, str) or kind not in CHOICES:
        raise NotImplementedError("a tool that has to be called is a filter of the library's functions")
    return CHOICES[kind]


def _function(tool):
    if tool["type"] != "function":
        raise NotImplementedError("the library has no custom tools")
    asked = tool["function"]
    schema = asked.get("parameters") or {"type": "object", "properties": {}}
    if more := (set(asked) - {"name", "description", "parameters"}) | (
        set(schema) - {"type", "properties", "required"}
    ):
        raise NotImplementedError(f"the library sends no {', '.join(sorted(more))} of a function")
    if "properties" not in schema:
        raise NotImplementedError("a function of the library names its parameters")
    if not asked["name"].replace("_", "a").isalnum():
        raise NotImplementedError("the name of a function has letters, digits and underscores")
    parameters = [
        KernelParameterMetadata(name=name, schema_data=each, is_required=name in schema.get("required", ()))
        for name, each in schema["properties"].items()
    ]
    return KernelFunctionMetadata(
        name=asked["name"], description=asked.get("description"), parameters=parameters, is_prompt=False
    )


def _history(call):
    names, history = {}, ChatHistory()
    for each in call.messages:
        made = each.turn if isinstance(each, Answer) else _message(each, names)
        names |= {item.id: item.name for item in made.items if isinstance(item, FunctionCallContent)}
        history.add_message(made)
    return history


def _message(said, names):
    match said:
        case {"role": "system" | "user" as role, "content": str(text)}:
            return ChatMessageContent(role=role, items=[TextContent(text=text)], name=said.get("name"))
        case {"role": "user", "content": [*parts]}:
            return ChatMessageContent(role="user", items=[*map(_part, parts)], name=said.get("name"))
        case {"role": "assistant"} if isinstance(said.get("content") or "", str):
            items = [TextContent(text=said["content"])] if said.get("content") else []
            items += [_earlier_call(each) for each in said.get("tool_calls") or ()]
            return ChatMessageContent(role="assistant", items=items)
        case {"role": "tool", "content": str(text), "tool_call_id": id}:
            name = names.get(id) or said.get("name")
            return ChatMessageContent(role="tool", items=[FunctionResultContent(id=id, name=name, result=text)])
    raise NotImplementedError(f"the library has no such message: {said['role']}")


def _earlier_call(made):
    if made["type"] != "function":
        raise NotImplementedError("the library has no custom tools")
    return FunctionCallContent(id=made["id"], name=made["function"]["name"], arguments=made["function"]["arguments"])


def _part(part):
    match part:
        case {"type": "text", "text": text, **rest} if not rest:
            return TextContent(text=text)
        case {"type": "image_url", "image_url": {"url": str(url), **rest}} if not rest:
            return ImageContent(data_uri=url) if url.startswith("data:") else ImageContent(uri=url)
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}, **rest} if not rest:
            return ImageContent(data=data, data_format="base64", mime_type=kind)
        case {"type": "image", "source": {"type": "url", "url": url}, **rest} if not rest:
            return ImageContent(uri=url)
    raise NotImplementedError(f"the library has no content for a part of the type {part.get('type')}")


def _called(calls, item):
    """Return the event of a piece. Pieces belong to one call if the library would add them up."""
    number = next((number for number, known in enumerate(calls) if _continues(item, known)), len(calls))
    if number == len(calls):
        calls.append({"index": item.index, "id": item.id})
    calls[number]["id"] = calls[number]["id"] or item.id
    whose = {"index": number, "id": item.id, "name": item.name}
    event = "response.function_call_arguments.delta"
    return {"event_type": event, "delta": _arguments(item.arguments or ""), "tool_call": whose}


def _continues(item, known):
    return known["index"] == item.index and (not item.id or not known["id"] or item.id == known["id"])


def _arguments(given):
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _answer(call, content):
    calls = [
        {"id": item.id or None, "name": item.name, "arguments": _arguments(item.arguments or "{}")}
        for item in content.items
        if isinstance(item, FunctionCallContent)
    ]
    finish = content.finish_reason.value if content.finish_reason else None
    created = content.metadata.get("created")
    answer = Answer(
        id=content.metadata.get("id"),
        provider=call.provider,
        created=datetime.fromtimestamp(created, UTC).isoformat() if created else None,
        message="".join(item.text for item in content.items if isinstance(item, TextContent)),
        tool_calls=calls,
        usage=_usage(call, content.metadata.get("usage")),
        finish_reason=FINISH.get(finish, finish),
        **_own(content),
    )
    answer.native = answer.turn = content
    return answer


def _own(content):
    """Return the model and the finish word, which only the provider's own objects have."""
    found, inner = {"model": None, "raw_finish_reason": None}, content.inner_content
    for each in inner if isinstance(inner, list) else [inner]:
        holders = [
            each,
            getattr(each, "message", None),
            getattr(each, "delta", None),
            *(getattr(each, "choices", None) or ()),
        ]
        for holder in holders:
            found["model"] = getattr(holder, "model", None) or found["model"]
            word = getattr(holder, "finish_reason", None) or getattr(holder, "stop_reason", None)
            found["raw_finish_reason"] = word or found["raw_finish_reason"]
    return {**found, "model": found["model"] or content.ai_model_id}


def _usage(call, usage):
    if not usage:
        return None
    if call.provider == "openai":
        counts = chat.counts(usage)
        asked, said = counts["prompt_tokens"], counts["completion_tokens"]
        return {**counts, "total_tokens": None if asked is None or said is None else asked + said}
    own = fields(usage)
    read, written = own.get("cache_read_input_tokens"), own.get("cache_creation_input_tokens")
    asked, said = own.get("input_tokens"), own.get("output_tokens")
    return {
        "prompt_tokens": None if asked is None else asked + (read or 0) + (written or 0),
        "completion_tokens": said,
        "total_tokens": None if asked is None or said is None else asked + (read or 0) + (written or 0) + said,
        **{"cached_tokens": read, "cache_write_tokens": written},
        "reasoning_tokens": (own.get("output_tokens_details") or {}).get("thinking_tokens"),
        "raw": own,
    }


conformance_adapter = Adapter
