"""Write a call of the suite as a request of OpenAI's chat API.

A part that has no place there raises NotImplementedError.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from llm_conformance.shims.gateway.settings import Upstream

Fields = Mapping[str, Any]

EXTRA = "gateway"
"""The key of the gateway's own message in an answer's `extras`. Later turns send that message back."""

_PARTS = ("text", "image_url", "input_audio", "file")
_SAME = (
    *("max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "stop", "n", "logprobs", "top_logprobs"),
    *("response_format", "reasoning_effort", "parallel_tool_calls", "modalities", "audio", "prediction"),
    *("service_tier", "tool_choice", "functions", "function_call", "store", "web_search_options"),
)
"""Parameters that OpenAI's chat API has under the same name."""
_NAMES: Mapping[str, str] = {"stop_sequences": "stop", "max_tokens_to_sample": "max_tokens"}
_GENERATION_CONFIG: Mapping[str, str] = {
    **{"maxOutputTokens": "max_tokens", "temperature": "temperature", "topP": "top_p", "stopSequences": "stop"},
    **{"candidateCount": "n", "seed": "seed", "responseLogprobs": "logprobs", "logprobs": "top_logprobs"},
}
"""Maps Gemini's names of parameters to those of OpenAI's chat API."""
_CHOICES: Mapping[str, Any] = {"auto": "auto", "any": "required", "none": "none"}


def body(call: Fields, upstream: Upstream, *, stream: bool) -> dict[str, Any]:
    """Return the body of the request. Raises NotImplementedError if OpenAI's form has no place for something."""
    said = dict(upstream.body)
    for name, value in call["params"].items():
        if name != "tools" and not (name == "stream_options" and not stream):
            said.update(_param(name, value, upstream))
    hosted = call["params"].get("tools") or []
    if hosted and not upstream.has_hosted_tools:
        raise NotImplementedError("the provider's own tools have no place in the gateway's form")
    for kind in (str(each.get("type")) for each in hosted):
        if any(fnmatchcase(kind, glob) for glob in upstream.unknown_tools):
            raise NotImplementedError(f"the gateway does not know tools of the type {kind}")
    tools = [*hosted, *call["tools"]]
    said |= {"tools": tools} if tools else {}
    said |= {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    messages = [_message(each, upstream) for each in call["messages"]]
    return {"model": upstream.model.replace("{model}", call["model"]), "messages": messages, **said}


def _param(name: str, value: Any, upstream: Upstream) -> Iterator[tuple[str, Any]]:
    if name in upstream.names:
        yield upstream.names[name], value
    elif name == "tool_choice" and isinstance(value, Mapping) and value.get("type") in (*_CHOICES, "tool"):
        named = {"type": "function", "function": {"name": value.get("name")}}  # Anthropic's form
        yield name, _CHOICES.get(value["type"], named)
    elif name in (*_SAME, *upstream.params) or (name == "stream_options"):
        yield name, value
    elif name in _NAMES:
        yield _NAMES[name], value
    elif name == "generationConfig":
        for own, each in value.items():
            if own in _GENERATION_CONFIG:
                yield _GENERATION_CONFIG[own], each
            elif own == "thinkingConfig" and "thinking" in upstream.params:
                yield from _thinking(each)
            else:
                raise NotImplementedError(f"`{own}` has no place in the gateway's form")
    else:
        raise NotImplementedError(f"`{name}` has no place in the gateway's form")


def _thinking(config: Fields) -> Iterator[tuple[str, Any]]:
    """Yield Gemini's thinking in the form that gateways accept, Anthropic's `thinking`.

    It always shows the thoughts.
    """
    budget = config.get("thinkingBudget")
    if budget == 0:
        yield "thinking", {"type": "disabled"}
    elif config.get("includeThoughts") and not set(config) - {"includeThoughts", "thinkingBudget"}:
        yield "thinking", {"type": "enabled", **({} if budget is None else {"budget_tokens": budget})}
    else:
        raise NotImplementedError(f"the thinking of {json.dumps(config)} has no place in the gateway's form")


def _message(message: Fields, upstream: Upstream) -> Fields:
    earlier = (message.get("extras") or {}).get(EXTRA)
    if earlier is not None:
        return dict(earlier)
    said = {key: value for key, value in message.items() if not (key == "name" and message["role"] == "tool")}
    if isinstance(message.get("content"), list):
        said["content"] = [_part(each, upstream) for each in message["content"]]
    return said


def _part(part: Fields, upstream: Upstream) -> Fields:
    """Return a content part of Anthropic or Gemini in OpenAI's form. Parts that the gateway takes stay unchanged."""
    kind = part.get("type")
    source = part.get("source") or {}
    if kind in (*_PARTS, *upstream.parts):
        return part
    if kind == "image" and source.get("type") == "base64":
        return _image(source["media_type"], source["data"])
    if kind is None and set(part) == {"text"}:
        return {"type": "text", "text": part["text"]}
    inline = part.get("inlineData") or {}
    if str(inline.get("mimeType")).startswith("image/"):
        return _image(inline["mimeType"], inline["data"])
    raise NotImplementedError(f"a part of the type {kind or '/'.join(part)} has no place in OpenAI's form")


def _image(mime: str, data: str) -> Fields:
    return {"type": "image_url", "image_url": {"url": f"data:{mime};base64,{data}"}}
