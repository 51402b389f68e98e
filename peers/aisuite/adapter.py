"""aisuite: `Client.chat.completions.create`, the one interface to its providers.

`Client` is given the providers' configurations (base URL, key, time limit), and the model's name begins with the
provider's. An answer has the shape of an OpenAI chat completion, its message goes back in the next turn as it is; a
stream is chunks of that shape, which the caller joins. Images for Claude go out as OpenAI's `image_url`. Servers of
one's own are asked through the OpenAI provider.

The clients' own retries are off: each may wait for `call.timeout_s`, and together they would exceed it.
"""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import aisuite
import anthropic
import openai

from llm_conformance.shims.native import Answer

FINISH = {
    **{"stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"},
    "abort": "error",  # vLLM's, which the library hands on
}


class Adapter:
    """One client a call."""

    name = "aisuite"
    version = version("aisuite")
    providers = ("anthropic:messages", "local:chat", "openai:chat")
    capabilities = (
        *("streaming", "reasoning", "tools", "round_trip", "errors"),
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = {  # noqa: RUF012 - read, never written
        "APITimeoutError": "TimeoutError",
        "APIConnectionError": "ServiceUnavailableError",
        "APIResponseValidationError": "ValidationError",
        # The types of errors in streams, which have no class and no error status of their own.
        **{"APIError": "LLMError", "server_error": "ServiceUnavailableError", "insufficient_quota": "RateLimitError"},
        **{"overloaded_error": "ServiceUnavailableError", "rate_limit_error": "RateLimitError"},
        "exceed_context_size_error": "InvalidRequestError",
    }

    def complete(self, call: Any) -> Answer:
        """Ask for a plain answer."""
        completion = _create(call)
        choice = min(completion.choices, key=lambda each: getattr(each, "index", 0) or 0)
        message = choice.message
        calls = [
            {"id": each.id, "name": each.function.name, "arguments": each.function.arguments or "{}"}
            for each in message.tool_calls or ()
            if each.type == "function"
        ]
        reasoning = getattr(message, "reasoning_content", None)
        return _answer(call, completion, message, message.content, reasoning, calls, choice.finish_reason)

    def stream(self, call: Any) -> Any:
        """Ask for the chunks of an answer, and join them."""
        try:
            yield from self._events(call)
        except (anthropic.APIStatusError, openai.APIError) as error:
            if type(error) not in (anthropic.APIStatusError, openai.APIError):
                raise
            if getattr(error, "status_code", 200) >= 400:
                raise
            # An error in a stream has a type and no class of its own.
            said = {"error_type": error.type or "APIError", "message": error.message}
            yield {"event_type": "response.error", "error": said}

    def _events(self, call: Any) -> Any:
        texts: list[str] = []
        thoughts: list[str] = []
        refusals: list[str] = []
        calls: list[dict[str, Any]] = []
        facts = _Facts()
        finish = None
        for chunk in _create(call, stream=True):
            facts.take(chunk)
            for choice in chunk.choices:
                if (getattr(choice, "index", 0) or 0) != 0:
                    continue
                refusals.append(getattr(choice.delta, "refusal", None) or "")
                finish = choice.finish_reason or finish
                thought = getattr(choice.delta, "reasoning_content", None)
                if thought:
                    thoughts.append(thought)
                    yield {"event_type": "response.reasoning.delta", "delta": thought}
                if choice.delta.content:
                    texts.append(choice.delta.content)
                    yield {"event_type": "response.output_text.delta", "delta": choice.delta.content}
                for piece in choice.delta.tool_calls or ():
                    yield _call_piece(calls, piece)
        made = [{**each, "arguments": each["arguments"] or "{}"} for each in calls]
        turn: dict[str, Any] = {"role": "assistant", "content": "".join(texts)}
        if made:
            turn["tool_calls"] = [
                {
                    "id": each["id"],
                    "type": "function",
                    "function": {"name": each["name"], "arguments": each["arguments"]},
                }
                for each in made
            ]
        if "".join(refusals):
            turn["refusal"] = "".join(refusals)
        answer = _answer(call, facts, turn, turn["content"], "".join(thoughts), made, finish)
        yield {"event_type": "response.completed", "response": answer}


class _Facts:
    """What the chunks of a stream say of the whole: the last of each."""

    id = model = created = usage = None

    def take(self, chunk: Any) -> None:
        for name in ("id", "model", "created", "usage"):
            setattr(self, name, getattr(chunk, name, None) or getattr(self, name))


def _create(call: Any, **mode: Any) -> Any:
    provider = "anthropic" if call.provider == "anthropic" else "openai"
    config = {"base_url": call.base_url, "api_key": call.api_key, "timeout": call.timeout_s, "max_retries": 0}
    client = aisuite.Client({provider: config})
    params = dict(call.params)
    unread = [name for name in ("functions", "function_call", "fallbacks", "context_management") if name in params]
    if unread or params.get("n", 1) != 1 or any("function" not in tool for tool in params.get("tools", ())):
        raise NotImplementedError(f"the library has no choices but one, and no tools but functions: {unread}")
    if "mcp_servers" in params:
        raise NotImplementedError("MCP servers are a beta of Anthropic's, which the library does not ask for")
    if provider == "openai":  # what the client does not know of goes into the body
        options = {"stream_options": params.pop("stream_options")} if "stream_options" in params else {}
        params = {**options, "extra_body": {key: value for key, value in params.items() if key != "tools"}}
    else:
        known = inspect.signature(anthropic.resources.Messages.create).parameters
        extra = {name: params.pop(name) for name in list(params) if name not in known}
        params |= {"extra_body": extra} if extra else {}
    tools = [*call.tools, *call.params.get("tools", ())]
    params.pop("tools", None)
    messages = [
        message.turn if isinstance(message, Answer) else _in_openai_s_form(message) for message in call.messages
    ]
    given = {"tools": [dict(tool) for tool in tools]} if tools else {}
    return client.chat.completions.create(f"{provider}:{call.model}", messages, **given, **params, **mode)


def _in_openai_s_form(message: Any) -> dict[str, Any]:
    """Return a message with OpenAI's parts, which the library takes for all providers."""
    content = message.get("content")
    return {**message, "content": [*map(_part, content)]} if isinstance(content, list) else dict(message)


def _part(part: Any) -> Any:
    if part.get("type") not in ("image", "document"):  # Anthropic's
        return part
    source = part["source"]
    if part["type"] == "document" or source["type"] not in ("base64", "url"):
        raise NotImplementedError(f"the library has no part for a {part['type']} of the source {source['type']!r}")
    url = source["url"] if source["type"] == "url" else f"data:{source['media_type']};base64,{source['data']}"
    return {"type": "image_url", "image_url": {"url": url}}


def _call_piece(calls: list[dict[str, Any]], piece: Any) -> dict[str, Any]:
    """Add a piece to its call: the last one with the piece's index. If the ids differ, a new call begins."""
    function = piece.function
    same = [each for each in calls if each["index"] == piece.index]
    if not same or (piece.id and same[-1]["id"] not in (None, "", piece.id)):
        same = [{"index": piece.index, "id": None, "name": "", "arguments": ""}]
        calls += same
    made = same[-1]
    made["id"] = made["id"] or piece.id
    made["name"] = made["name"] or (function and function.name) or ""
    delta = (function and function.arguments) or ""
    made["arguments"] += delta
    about = {"index": next(at for at, each in enumerate(calls) if each is made), "id": made["id"], "name": made["name"]}
    return {"event_type": "response.function_call_arguments.delta", "delta": delta, "tool_call": about}


def _answer(call: Any, facts: Any, turn: Any, text: Any, reasoning: Any, calls: Any, finish: Any) -> Answer:
    created = getattr(facts, "created", None)
    refused = turn.get("refusal") if isinstance(turn, dict) else getattr(turn, "refusal", None)
    answer = Answer(
        id=getattr(facts, "id", None),
        provider=call.provider,
        model=getattr(facts, "model", None) or call.model,
        created=datetime.fromtimestamp(created, UTC).isoformat() if created else None,
        message=text or "",
        reasoning=reasoning or None,
        tool_calls=calls,
        finish_reason="content_filter" if refused else FINISH.get(finish),
        raw_finish_reason=finish,
        usage=_usage(facts.usage),
    )
    answer.native, answer.turn = [facts, turn], turn
    return answer


def _usage(usage: Any) -> dict[str, Any] | None:
    if usage is None:
        return None
    prompt = getattr(usage, "prompt_tokens_details", None)
    completion = getattr(usage, "completion_tokens_details", None)
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "cached_tokens": getattr(prompt, "cached_tokens", None),
        "cache_write_tokens": getattr(prompt, "cache_write_tokens", None),
        "reasoning_tokens": getattr(completion, "reasoning_tokens", None),
        "audio_prompt_tokens": getattr(prompt, "audio_tokens", None),
        "audio_completion_tokens": getattr(completion, "audio_tokens", None),
    }


conformance_adapter = Adapter
