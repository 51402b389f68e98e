"""AutoGen: its `OpenAIChatCompletionClient`, `create` and `create_stream`, each with a client of the call's own.

The result of a call is a `CreateResult`, that of a stream its last item, folded by the library. It has no id, no model
and no time. If it has function calls, its `thought` is the text, as documented; otherwise `thought` is the reasoning.
An earlier answer goes back as an `AssistantMessage` of its content and thought.

A model that the library does not know needs a `model_info`; here all have the same. Parameters go out as
`extra_create_args`. This refuses those that it does not know, so they go into its `extra_body`. The library takes parts
of a message other than text, and a tool that has to be called, only as objects of its own, so these cannot be asked.

`max_retries` is 0: the library's `timeout` holds for each attempt, and its retries would outlast `call.timeout_s`.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version
from typing import Any

from autogen_core import FunctionCall
from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    ModelFamily,
    SystemMessage,
    UserMessage,
)
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openai import APIError

from llm_conformance.shims.native import Answer

FINISH = {"stop": "stop", "length": "length", "function_calls": "tool_calls", "content_filter": "content_filter"}
INFO = {
    **{"vision": True, "function_calling": True, "json_output": True, "structured_output": True},
    **{"family": ModelFamily.UNKNOWN, "multiple_system_messages": True},
}


KNOWN = (
    *("frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "metadata"),
    *("parallel_tool_calls", "prediction", "presence_penalty", "reasoning_effort", "response_format", "seed"),
    *("service_tier", "stop", "store", "temperature", "top_logprobs", "top_p", "user", "verbosity"),
    "web_search_options",
)
UNREAD = ("n", "functions", "function_call", "audio", "modalities", "tools")


class Adapter:
    """One client a call."""

    name = "autogen"
    version = version("autogen-ext")
    providers = ("openai:chat", "deepseek:chat")
    capabilities = ("streaming", "reasoning", "tools", "round_trip", "errors", "error_details")
    errors = {  # noqa: RUF012 - read, never written
        "APITimeoutError": "TimeoutError",
        "APIConnectionError": "ServiceUnavailableError",
        "APIError": "LLMError",  # an error in a stream, which has no error status
        "APIResponseValidationError": "ValidationError",
        # `APIError.type` of an error in a stream
        **{"server_error": "ServiceUnavailableError", "insufficient_quota": "RateLimitError"},
        "invalid_request_error": "InvalidRequestError",
    }

    async def complete(self, call: Any) -> Answer:
        """Ask for a whole answer."""
        client = _client(call)
        try:
            return _answer(call, await client.create(**_asked(call)))
        finally:
            await client.close()

    async def stream(self, call: Any) -> Any:
        """Ask for the pieces of an answer."""
        client = _client(call)
        is_thought = False
        try:
            async for item in client.create_stream(**_asked(call), include_usage=True):
                if isinstance(item, CreateResult):
                    answer = _answer(call, item)
                    for at, each in enumerate(answer["tool_calls"]):  # they come whole
                        whose = {"index": at, "id": each["id"], "name": each["name"]}
                        said = {"delta": each["arguments"], "tool_call": whose}
                        yield {"event_type": "response.function_call_arguments.delta", **said}
                    yield {"event_type": "response.completed", "response": answer}
                    continue
                # The pieces of reasoning stand between these tags. Text that begins with one can only be told from it
                # by the provider: OpenAI sends no reasoning.
                is_thought = is_thought or (call.provider == "deepseek" and item.startswith("<think>"))
                if is_thought and item == "</think>":
                    is_thought = False
                elif is_thought:
                    yield {"event_type": "response.reasoning.delta", "delta": item.removeprefix("<think>")}
                else:
                    yield {"event_type": "response.output_text.delta", "delta": item}
        except APIError as error:
            if type(error) is not APIError:  # an error in a stream has a type and no class of its own
                raise
            said = {"error_type": error.type or "APIError", "message": error.message}
            yield {"event_type": "response.error", "error": said}
        finally:
            await client.close()


def _client(call: Any) -> OpenAIChatCompletionClient:
    warnings.simplefilter("ignore")
    return OpenAIChatCompletionClient(
        model=call.model,
        base_url=call.base_url,
        api_key=call.api_key,
        timeout=call.timeout_s,
        max_retries=0,
        model_info=INFO,
        include_name_in_message=False,
    )


def _asked(call: Any) -> dict[str, Any]:
    params = {name: value for name, value in call.params.items() if name != "stream_options"}
    choice = params.pop("tool_choice", "auto")
    if not isinstance(choice, str):
        raise NotImplementedError("a tool that has to be called is a `Tool` object of the library's")
    if unread := [name for name in UNREAD if name in params]:
        raise NotImplementedError(f"the library does not read what {unread[0]} asks for")
    extra = {name: params.pop(name) for name in list(params) if name not in KNOWN}
    return {
        "messages": list(_messages(call)),
        "tools": [each["function"] for each in call.tools],
        "tool_choice": choice,
        "extra_create_args": {**params, **({"extra_body": extra} if extra else {})},
    }


def _messages(call: Any) -> Any:
    results: list[Any] = []
    for message in call.messages:
        if isinstance(message, Answer):
            yield AssistantMessage(content=message.native.content, thought=message.native.thought, source="assistant")
        elif message["role"] == "tool":
            made = {
                "content": message["content"],
                "name": message.get("name") or "",
                "call_id": message["tool_call_id"],
            }
            results.append(FunctionExecutionResult(**made))
            if len(results) == 1:
                yield (last := FunctionExecutionResultMessage(content=results))
            last.content = results
            continue
        elif message["role"] == "system":
            yield SystemMessage(content=_plain(message["content"]))
        elif message["role"] == "user":
            yield UserMessage(content=_text(message["content"]), source="user")
        else:
            yield _earlier(message)
        results = []


def _earlier(message: Any) -> AssistantMessage:
    """Return an answer of another program as the library has it."""
    if message["role"] != "assistant":
        raise NotImplementedError(f"the library has no messages of the role {message['role']}")
    text = _plain(message["content"] or "")
    calls = [
        FunctionCall(id=each["id"], name=each["function"]["name"], arguments=each["function"]["arguments"])
        for each in message.get("tool_calls") or ()
    ]
    return AssistantMessage(content=calls or text, thought=text or None if calls else None, source="assistant")


def _text(content: Any) -> Any:
    if isinstance(content, str):
        return content
    if other := [each for each in content if each.get("type") != "text"]:
        raise NotImplementedError(f"the library has no parts of the type {other[0].get('type')} from a URL or data")
    return [each["text"] for each in content]


def _plain(content: Any) -> str:
    if not isinstance(content, str):
        raise NotImplementedError("the library has no parts but in messages of the user")
    return content


def _answer(call: Any, result: CreateResult) -> Answer:
    calls = [] if isinstance(result.content, str) else result.content
    text = (result.thought or "") if calls else result.content
    answer = Answer(
        provider=call.provider,
        model=call.model,
        message=text,
        reasoning=None if calls else result.thought or None,
        tool_calls=[{"id": each.id or None, "name": each.name, "arguments": each.arguments or "{}"} for each in calls],
        usage={
            "prompt_tokens": result.usage.prompt_tokens,
            "completion_tokens": result.usage.completion_tokens,
            "total_tokens": result.usage.prompt_tokens + result.usage.completion_tokens,
            "raw": {
                "prompt_tokens": result.usage.prompt_tokens,
                "completion_tokens": result.usage.completion_tokens,
            },
        },
        finish_reason=FINISH.get(result.finish_reason),
    )
    answer.native = answer.turn = result
    return answer


conformance_adapter = Adapter
