"""DSPy's language model: `dspy.LM`, asked with a `dspy.lm15.Request`, which it answers with a `dspy.lm15.Response`.

That is how its documentation asks: https://dspy.ai/current/community/normalized-lm-api-migration/. The request is made
by `dspy.lm15.request_from_openai_chat`; tools that a provider runs itself are `BuiltinTool`s. An earlier answer goes
back as its `message`. The parts of a message are read as they are. What has no field of the response, such as the
provider's own finish word, is in its documented `provider_data`. The library reads the arguments of tools as JSON, and
also the answer to a request with a schema. The shim writes both as JSON text without white space. Token counts are the
provider's own; they are added up here in the way that the documentation of `Usage` says.

The engine is `lm15`, DSPy's own; the other one is litellm. A `Request` is answered whole: DSPy streams only to the
listeners of its modules. What the library cannot say raises `LMUnsupportedFeatureError`.

`num_retries` is 0, and nothing is cached.
"""

import dataclasses
import json
import os
from datetime import UTC, datetime

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # so that it loads no list of prices

import dspy
from dspy import lm15
from dspy.utils.exceptions import LMUnsupportedFeatureError

from llm_conformance.shims import chat
from llm_conformance.shims.native import Answer

PREFIXES = {
    **{"openai:chat": "openai", "deepseek:chat": "deepseek", "groq:chat": "groq"},
    "anthropic:messages": "anthropic",
}
FINISH = {"tool_call": "tool_calls"}
NAMES = {"stop_sequences": "stop"}
# Parameters of Claude's that the documentation sends by `Config.extensions`, in Claude's own form.
EXTENSIONS = ("thinking", "metadata", "output_config")
ERRORS = {
    "LMProviderError": "ValidationError",  # without an error status: the answer cannot be read
    "LMTimeoutError": "TimeoutError",
    "LMTransportError": "ServiceUnavailableError",
    "LMRateLimitError": "RateLimitError",
    "LMServerError": "ServiceUnavailableError",
    "LMAuthError": "AuthenticationError",
    "LMInvalidRequestError": "InvalidRequestError",
}


class Adapter:
    """Plain answers."""

    name = "dspy"
    version = dspy.__version__
    providers = tuple(PREFIXES)
    capabilities = (
        *("reasoning", "segments", "annotations", "tools", "round_trip", "errors"),
        "unreadable_bodies",
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    excluded_inputs = {  # noqa: RUF012 - read, never written
        "think tags": "the request asks for them in the text: https://console.groq.com/docs/reasoning#reasoning-format",
    }
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        model = f"{PREFIXES[f'{call.provider}:{call.api}']}/{call.model}"
        lm = dspy.LM(
            model,
            engine="lm15",
            api_base=call.base_url,
            api_key=call.api_key,
            timeout=call.timeout_s,
            num_retries=0,
            cache=False,
        )
        try:
            return _answer(lm(_request(call, model)), call)
        except (LMUnsupportedFeatureError, lm15.UnsupportedFeatureError) as error:
            raise NotImplementedError(str(error)) from error
        finally:
            lm.close()


def _request(call, model):
    """Return the request. In it, the library's own message of each earlier answer replaces its placeholder."""
    if "functions" in call.params:
        raise NotImplementedError("the library sends `tools` in the place of `functions`")
    params, extensions = {}, {}
    for name, value in call.params.items():
        if call.provider == "anthropic" and name == "tool_choice":
            params[name] = chat.tool_choice(value)
        elif call.provider == "anthropic" and name in EXTENSIONS:
            extensions[name] = value
        elif name != "tools":
            params[NAMES.get(name, name)] = value
    body = {"model": model, "messages": list(map(_said, call.messages)), **params}
    if call.tools:
        body["tools"] = list(call.tools)
    dialect = None if call.provider == "anthropic" else call.provider
    request = lm15.request_from_openai_chat(body, compat=dialect)
    hosted = tuple(map(_builtin, call.params.get("tools") or ()))
    config = request.config
    if extensions:
        config = dataclasses.replace(config, extensions={**(config.extensions or {}), **extensions})
    earlier = [said for said in call.messages if isinstance(said, Answer) or said["role"] == "assistant"]
    messages = []
    for message in request.messages:
        said = earlier.pop(0) if message.role == "assistant" else None
        messages.append(said.turn if isinstance(said, Answer) else message)
    return dataclasses.replace(request, messages=tuple(messages), tools=(*hosted, *request.tools), config=config)


def _said(message):
    """Return a message in OpenAI's form; that of an earlier answer only holds its place."""
    if not isinstance(message, Answer):
        return {key: value for key, value in message.items() if not (key == "name" and message["role"] == "tool")}
    calls = [
        {"id": each["id"] or "call", "type": "function", "function": {"name": each["name"], "arguments": "{}"}}
        for each in message["tool_calls"]
    ]
    return {"role": "assistant", "content": "", **({"tool_calls": calls} if calls else {})}


def _builtin(tool):
    if "name" not in tool:
        raise NotImplementedError(f"the library has no tool of the type {tool.get('type')}")
    own = {name: value for name, value in tool.items() if name != "name"}
    return lm15.BuiltinTool(name=tool["name"], config=own)


def _answer(response, call):
    text, segments, annotations = "", [], []
    for part in response.message.parts:
        match part:
            case lm15.TextPart():
                span = {"start": len(text), "end": len(text) + len(part.text)}
                text += part.text
                segments.append({"type": "text", "content": part.text})
            case lm15.CitationPart():
                data = {name: getattr(part, name) for name in ("url", "title", "text") if getattr(part, name)}
                annotations.append({**span, "data": data})
            case lm15.ThinkingPart():
                segments.append(_thinking(part))
            case lm15.DataPart():  # a text that the library has read, because the request has a schema for it
                text += _json(part.value)
                segments.append({"type": "text", "content": _json(part.value)})
            case lm15.ToolCallPart():
                made = _json(part.input)
                about = {"id": part.id, "name": part.name}
                segments.append({"type": "tool_call", "content": made, "metadata": about})
            case lm15.RefusalPart():
                segments.append({"type": "other", "content": part.text, "metadata": {"kind": "refusal"}})
    calls = [{**each["metadata"], "arguments": each["content"]} for each in segments if each["type"] == "tool_call"]
    word, created = _own(response, call)
    is_refused = any(isinstance(part, lm15.RefusalPart) for part in response.message.parts)
    answer = Answer(
        id=response.id,
        provider=call.provider,
        model=response.model,
        created=datetime.fromtimestamp(created, UTC).isoformat() if created else None,
        message=text,
        reasoning="".join(each["content"] for each in segments if each["type"] == "reasoning") or None,
        segments=[each for each in segments if each["content"] or each["type"] != "text"],
        annotations=annotations,
        tool_calls=calls,
        usage=_usage(response.usage, call),
        finish_reason="content_filter" if is_refused else FINISH.get(response.finish_reason, response.finish_reason),
        raw_finish_reason=word,
    )
    answer.native, answer.turn = response, response.message
    return answer


def _json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _thinking(part):
    """Return a segment of reasoning with the data that the provider needs back."""
    own = {}
    for state in part.continuation:
        own |= state.data
    names = {"signature": "signature", "data": "redacted"}
    return {
        "type": "reasoning",
        "content": part.text,
        "metadata": {names.get(name, name): value for name, value in own.items()},
    }


def _own(response, call):
    """Return the provider's own finish word and time, which are in the provider's data alone."""
    own = response.provider_data or {}
    if call.provider == "anthropic":
        return own.get("stop_reason"), None
    return (own.get("choices") or [{}])[0].get("finish_reason"), own.get("created")


def _usage(usage, call):
    counts = dataclasses.asdict(usage)
    if all(value is None for value in counts.values()):
        return None
    read, written, given = usage.cache_read_tokens, usage.cache_write_tokens, usage.input_tokens
    total = usage.total_tokens
    if call.provider == "anthropic" and given is not None:  # Claude's input tokens include neither of them
        given += (read or 0) + (written or 0)
        total = None if usage.output_tokens is None else given + usage.output_tokens
    return {
        "prompt_tokens": given,
        "completion_tokens": usage.output_tokens,
        "total_tokens": total,
        "cached_tokens": read,
        "cache_write_tokens": written,
        "reasoning_tokens": usage.reasoning_tokens,
        "audio_prompt_tokens": usage.input_audio_tokens,
        "audio_completion_tokens": usage.output_audio_tokens,
        "raw": counts,
    }


conformance_adapter = Adapter
