"""The ollama library: `Client.chat` and `Client.generate`, sync, whole and with `stream=True`.

The library has nothing that folds parts, so a streamed answer is folded here: text and thinking are added up, calls are
collected, and counts and the finish word are those of the last part. An earlier answer goes back as the library's
message (`messages.append(response.message)`), after a stream as a `Message` of what was added up; the result of a call
names the tool in `tool_name`.

The library makes no retries. `timeout` goes to its HTTP client, and holds for each operation.
"""

import inspect
import json
from importlib.metadata import version

import ollama

from llm_conformance.shims.native import Answer

FINISH = {"stop": "stop", "length": "length"}
ERRORS = {
    "ResponseError": "LLMError",  # an error in a stream, which has no status
    "ConnectionError": "ServiceUnavailableError",  # the library raises it for a server that cannot be reached
}


class Adapter:
    """Chat and generate, whole and streamed."""

    name = "ollama"
    version = version("ollama")
    providers = ("ollama:chat", "ollama:generate")
    # No ids, no counts of parts, and an error keeps neither headers nor the exception behind it.
    capabilities = (
        *("streaming", "reasoning", "tools", "round_trip", "errors"),
        *("lost_connections", "unreadable_bodies"),
        *("provenance", "raw_finish"),
    )
    excluded_inputs = {  # noqa: RUF012 - read, never written
        "think tags": "the server splits them off if it knows the template of the model: "
        "https://github.com/ollama/ollama/issues/12511",
    }
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as client:
            whole = _ask(client, call, stream=False)
        return _answer(call, whole, whole, _message(whole))

    def stream(self, call):
        """Yield a streamed answer."""
        parts, text, thinking, calls = [], "", "", []
        with _client(call) as client:
            for part in _ask(client, call, stream=True):
                parts.append(part)
                said = _message(part)
                if said.thinking:
                    thinking += said.thinking
                    yield {"event_type": "response.reasoning.delta", "delta": said.thinking}
                if said.content:
                    text += said.content
                    yield {"event_type": "response.output_text.delta", "delta": said.content}
                for made in said.tool_calls or ():
                    whose = {"index": len(calls), "name": made.function.name}
                    calls.append(made)
                    given = _arguments(made)
                    yield {"event_type": "response.function_call_arguments.delta", "delta": given, "tool_call": whose}
        if parts:
            whole = ollama.Message(role="assistant", content=text, thinking=thinking or None, tool_calls=calls or None)
            yield {"event_type": "response.completed", "response": _answer(call, parts, parts[-1], whole)}


def _client(call):
    headers = {"authorization": f"Bearer {call.api_key}"}
    return ollama.Client(call.base_url, timeout=call.timeout_s, headers=headers)


def _ask(client, call, *, stream):
    params = {name: value for name, value in call.params.items() if name != "stream"}
    if call.api == "generate":
        send, said = client.generate, {"prompt": call.messages[0]["content"]}
    else:
        send, said = client.chat, {"messages": [*map(_turn, call.messages)]}
        if call.tools:
            params["tools"] = [*params.get("tools", ()), *call.tools]
    unknown = set(params) - set(inspect.signature(send).parameters)
    if unknown:
        raise NotImplementedError(f"the method has no parameter {', '.join(sorted(unknown))}")
    return send(model=call.model, stream=stream, **said, **params)


def _turn(message):
    if isinstance(message, Answer):
        return message.turn
    if message["role"] == "tool":
        return {"role": "tool", "content": message["content"], "tool_name": message.get("name")}
    calls = [
        {"function": {"name": each["function"]["name"], "arguments": json.loads(each["function"]["arguments"])}}
        for each in message.get("tool_calls") or ()
    ]
    return {**message, "tool_calls": calls} if calls else message


def _message(part):
    """Return the message of a part; `generate` has its fields on the part."""
    if isinstance(part, ollama.GenerateResponse):
        return ollama.Message(role="assistant", content=part.response, thinking=part.thinking)
    return part.message


def _arguments(made):
    return json.dumps(made.function.arguments, ensure_ascii=False)


def _answer(call, native, last, message):
    counts = {"prompt_tokens": last.prompt_eval_count, "completion_tokens": last.eval_count}
    answer = Answer(
        provider=call.provider,
        model=last.model,
        created=last.created_at,
        message=message.content or "",
        reasoning=message.thinking or None,
        tool_calls=[{"name": each.function.name, "arguments": _arguments(each)} for each in message.tool_calls or ()],
        usage=counts if any(each is not None for each in counts.values()) else None,
        finish_reason=FINISH.get(last.done_reason),
        raw_finish_reason=last.done_reason,
    )
    answer.native, answer.turn = native, message
    return answer


conformance_adapter = Adapter
