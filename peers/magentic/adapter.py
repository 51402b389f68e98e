"""magentic: `complete` of its chat models for OpenAI, Mistral, OpenRouter and Anthropic, sync.

The library asks for a stream in every call, so there are streams only. The output type is `StreamedResponse`, the one
for text and tool calls together: texts are read in pieces (`StreamedStr`), tool calls come whole (`FunctionCall`).
Of the message itself `usage` is read, and `reasoning`, which OpenRouter's has. If a tool has to be called, the output
type is `ParallelFunctionCall`. There is no id of the answer or of a call, no model, and no finish reason.

Tools are Python functions, made here of the schema: its types are annotations, and a description of a parameter is that
of a `Field`, as documented. An earlier answer goes back as its message, the result of a tool as a
`FunctionResultMessage` with the `FunctionCall` that it answers.

The library has no setting for retries and none for a time limit: its clients make two retries, and wait ten minutes.
"""

import inspect
import json
from importlib.metadata import version
from typing import Annotated, Any, Literal

from magentic import (
    AssistantMessage,
    FunctionCall,
    FunctionResultMessage,
    ImageUrl,
    OpenaiChatModel,
    ParallelFunctionCall,
    StreamedResponse,
    StreamedStr,
    SystemMessage,
    UserMessage,
)
from magentic.chat_model.anthropic_chat_model import AnthropicChatModel
from magentic.chat_model.mistral_chat_model import MistralChatModel
from magentic.chat_model.openrouter_chat_model import OpenRouterChatModel
from openai import APIError
from pydantic import Field

from llm_conformance.shims.native import Answer

MODELS = {
    "openai:chat": OpenaiChatModel,
    "mistral:chat": MistralChatModel,
    "openrouter:chat": OpenRouterChatModel,
    "anthropic:messages": AnthropicChatModel,
}
SENT_ALWAYS = {"stream": True, "stream_options": {"include_usage": True}}
TYPES = {
    **{"string": str, "integer": int, "number": float, "boolean": bool, "null": None},
    **{"array": list, "object": dict},
}
ERRORS = {
    "APITimeoutError": "TimeoutError",
    "APIConnectionError": "ServiceUnavailableError",
    "APIError": "LLMError",  # an error in a stream, which has no status
    # `APIError.type` and `code` of an error in a stream
    **{"server_error": "ServiceUnavailableError", "insufficient_quota": "RateLimitError"},
    **{"rate_limit_exceeded": "RateLimitError", "invalid_request_error": "InvalidRequestError"},
}


class Adapter:
    """Streams, by the model class that the library has for an API."""

    name = "magentic"
    version = version("magentic")
    providers = tuple(MODELS)
    capabilities = (
        *("streaming", "reasoning", "tools", "round_trip", "errors"),
        *("lost_connections", "unreadable_bodies"),
        "error_details",
    )
    errors = ERRORS

    def stream(self, call):
        """Yield a streamed answer."""
        functions = [_function(each) for each in call.tools]
        model, stop = _model(call)
        messages = _messages(call, {each.__name__: each for each in functions})
        types = _output_types(call, functions)
        try:
            message = model.complete(messages, functions, types, stop=stop)
            yield from _events(call, message)
        except APIError as error:
            if type(error) is not APIError:  # an error in a stream has a type and no class of its own
                raise
            if (found := next((each for each in (error.code, error.type) if each in ERRORS), None)) is None:
                if (error.code or "").isdigit():  # OpenRouter's is the status, which the client keeps as a text
                    error.status_code = int(error.code)
                raise
            yield {"event_type": "response.error", "error": {"error_type": found, "message": error.message}}


def _model(call):
    """Return the library's model, and the stop sequences, which are no setting of it."""
    made = MODELS[f"{call.provider}:{call.api}"]
    params = {name: value for name, value in call.params.items() if SENT_ALWAYS.get(name) != value}
    stop = params.pop("stop", None) or params.pop("stop_sequences", None)
    for name in ("tool_choice", "system"):
        params.pop(name, None)
    if call.provider == "openrouter" and "reasoning" in params:
        params |= {f"reasoning_{name}": value for name, value in params.pop("reasoning").items()}
    if unknown := set(params) - set(inspect.signature(made).parameters):
        raise NotImplementedError(f"the model has no parameter {', '.join(sorted(unknown))}")
    model = made(call.model, api_key=call.api_key, base_url=call.base_url, **params)
    return model, [stop] if isinstance(stop, str) else stop


def _output_types(call, functions):
    choice = call.params.get("tool_choice")
    if choice is None:
        return [StreamedResponse]
    named = choice.get("function", choice).get("name") if isinstance(choice, dict) else None
    if len(functions) > 1 and choice == {"openai": "required", "mistral": "any"}.get(call.provider):
        return [ParallelFunctionCall]
    if len(functions) == 1 and named == functions[0].__name__:
        return [ParallelFunctionCall]
    raise NotImplementedError(f"no output type asks for the tool choice {choice}")


def _function(tool):
    """Return a function that has the name, the description and the parameters of a tool."""
    if tool["type"] != "function":
        raise NotImplementedError("the library has no custom tools")
    asked = tool["function"]
    if not asked["name"].isidentifier():
        raise NotImplementedError("a tool has the name of a Python function")
    schema = asked.get("parameters") or {"properties": {}}
    if "properties" not in schema:
        raise NotImplementedError("a function names its parameters")

    def run(**arguments):
        raise NotImplementedError

    run.__name__, run.__doc__ = asked["name"], asked.get("description")
    run.__signature__ = inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=_annotation(each),
                default=inspect.Parameter.empty if name in schema.get("required", ()) else each.get("default"),
            )
            for name, each in schema["properties"].items()
        ]
    )
    return run


def _annotation(schema):
    kind = schema.get("type")
    if "enum" in schema:
        made = Literal[tuple(schema["enum"])]
    elif kind == "array" and schema.get("items"):
        made = list[_annotation(schema["items"])]
    elif isinstance(kind, str) and kind in TYPES and not schema.get("properties"):
        made = TYPES[kind]
    else:
        made = Any
    return Annotated[made, Field(description=schema["description"])] if "description" in schema else made


def _messages(call, functions):
    system = call.params.get("system")
    if system is not None and not isinstance(system, str):
        raise NotImplementedError("a system message is one text")
    messages, waiting = [SystemMessage(system)] if system else [], []
    for each in call.messages:
        if isinstance(each, Answer):
            messages.append(each.turn)
            waiting = [item for item in each.turn.content if isinstance(item, FunctionCall)]
        elif each["role"] == "tool":
            if not isinstance(each["content"], str):
                raise NotImplementedError("the shim has no result that is not a text")
            messages.append(FunctionResultMessage(each["content"], _answered(each, waiting)))
        elif each["role"] == "assistant" and each.get("tool_calls"):
            waiting = [_called(made, functions) for made in each["tool_calls"]]
            said = [StreamedStr([each["content"]])] if each.get("content") else []
            messages.append(AssistantMessage(StreamedResponse([*said, *waiting])))
        else:
            messages.append(_message(each))
    return messages


def _answered(result, waiting):
    """Take the call that a result answers from those that wait: the first one of its name."""
    names = [each.function.__name__ for each in waiting]
    if not waiting or result.get("name", names[0]) not in names:
        raise NotImplementedError("a result needs the `FunctionCall` that it answers")
    return waiting.pop(names.index(result.get("name", names[0])))


def _called(made, functions):
    name = (made.get("function") or {}).get("name")
    if name not in functions:
        raise NotImplementedError("a call needs its function")
    return FunctionCall(functions[name], **json.loads(made["function"]["arguments"] or "{}"))


def _message(said):
    match said:
        case {"role": "system", "content": str(text)}:
            return SystemMessage(text)
        case {"role": "user", "content": str(text), **rest} if set(rest) <= {"role"}:
            return UserMessage(text)
        case {"role": "user", "content": [*parts]}:
            return UserMessage([*map(_part, parts)])
        case {"role": "assistant", "content": str(text)}:
            return AssistantMessage(text)
    raise NotImplementedError(f"the library has no such message: {said['role']}")


def _part(part):
    match part:
        case {"type": "text", "text": text, **rest} if not rest:
            return text
        case {"type": "image_url", "image_url": {"url": str(url), **rest}} if not rest:
            return ImageUrl(url)
    raise NotImplementedError(f"the library has no content for a part of the type {part.get('type')}")


def _events(call, message):
    texts, calls = [], []
    if reasoning := getattr(message, "reasoning", None) or None:
        yield {"event_type": "response.reasoning.delta", "delta": reasoning}
    for item in message.content:
        if isinstance(item, StreamedStr):
            for piece in item:
                yield {"event_type": "response.output_text.delta", "delta": piece}
            texts.append(item.to_string())
        else:
            made = {"id": None, "name": item.function.__name__, "arguments": _json(item.arguments)}
            whose = {"index": len(calls), "id": None, "name": made["name"]}
            calls.append(made)
            yield {
                "event_type": "response.function_call_arguments.delta",
                "delta": made["arguments"],
                "tool_call": whose,
            }
    answer = Answer(
        provider=call.provider,
        model=call.model,
        message="".join(texts),
        reasoning=reasoning,
        tool_calls=calls,
        usage=_counts(message.usage),
        finish_reason=None,
    )
    answer.native, answer.turn = message, message
    yield {"event_type": "response.completed", "response": answer}


def _json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _counts(usage):
    if usage is None:
        return None
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


conformance_adapter = Adapter
