"""Gemini: its own API, streamed as events or as one JSON array, and its OpenAI-compatible API.

* https://ai.google.dev/api/generate-content
* https://ai.google.dev/gemini-api/docs/openai
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.contract import Attachment, Call, Response

from ._chat import chat_adapter, tool_calls
from ._counting import Counting
from ._dialect import Dialect
from ._framing import array
from ._generate import GenerateDecoder
from ._provider import ProviderAdapter


def request(call: Call) -> dict[str, Any]:
    """Return the request body of a call, with `systemInstruction` and `functionDeclarations`."""
    messages = [each for each in call.messages if not isinstance(each, Response)]
    system = [part for message in messages if message["role"] == "system" for part in _parts(message)]
    body: dict[str, Any] = {"contents": list(_contents(call)), **call.params}
    if system:
        body["systemInstruction"] = {"parts": system}
    if call.tools:
        own = {"functionDeclarations": [tool["function"] for tool in call.tools]}
        body["tools"] = [*body.get("tools", ()), own]
    return body


def _contents(call: Call) -> Iterator[Mapping[str, Any]]:
    """Yield the messages. Consecutive tool results are one message of the user."""
    names: dict[str | None, str] = {}
    results: list[Mapping[str, Any]] = []
    for message in call.messages:
        if isinstance(message, Response):
            names = {tool_call.id: tool_call.name for tool_call in message.tool_calls}
            yield {"role": "model", "parts": list(_sent_back(message))}
        elif message["role"] == "tool":
            if not results:
                yield {"role": "user", "parts": results}
            id = message["tool_call_id"]
            name = message.get("name") or names[id]
            result = {"id": id, "name": name, "response": {"result": message["content"]}}
            results.append({"functionResponse": result})
            continue
        elif message["role"] != "system":
            yield {"role": "model" if message["role"] == "assistant" else "user", "parts": _parts(message)}
        results = []


def _sent_back(response: Response) -> Iterator[Mapping[str, Any]]:
    """Yield an earlier response's parts with their signatures. Thoughts without a signature are left out."""
    media, said = list(response.attachments), 0
    for segment in response.segments:
        about = segment.metadata
        if segment.type == "text":
            yield from _media_until(said, media)
            said += len(segment.content)
        signed = {"thoughtSignature": about["signature"]} if "signature" in about else {}
        if "wire" in about:
            yield about["wire"]
        elif segment.type == "text":
            yield {"text": segment.content, **signed}
        elif segment.type == "tool_call":
            id = {"id": about["id"]} if about.get("id") else {}
            function_call = {**id, "name": about["name"], "args": json.loads(segment.content)}
            yield {"functionCall": function_call, **signed}
        elif segment.type == "reasoning" and signed:
            yield {"text": segment.content, "thought": True, **signed}
    yield from _media_until(said, media)


def _media_until(said: int, media: list[Attachment]) -> Iterator[Mapping[str, Any]]:
    """Yield the media whose offset in the text is at most `said`, and remove them from the list."""
    while media and (media[0].text_index or 0) <= said:
        each = media.pop(0)
        signed = {"thoughtSignature": each.metadata["signature"]} if "signature" in each.metadata else {}
        yield {"inlineData": {"mimeType": each.type, "data": each.data}, **signed}


def _parts(message: Mapping[str, Any]) -> list[Any]:
    """Return a message's content as parts. A list is already in Gemini's form."""
    content = message["content"]
    return [{"text": content}] if isinstance(content, str) else content


def headers(call: Call) -> dict[str, str]:
    """Return the header with the key."""
    return {"x-goog-api-key": call.api_key}


def _round_trip(response: Response, _call: Call) -> Mapping[str, Any]:
    """Return the signatures of an earlier response's text and tool calls, in the places of the compatible API."""
    kept = [each.metadata for each in response.segments if each.type in ("text", "tool_call")]
    of_calls = [about for about in kept if "name" in about]
    of_texts = [_extra(about) for about in kept if "name" not in about and "signature" in about]
    calls = [{**call, **_extra(about)} for call, about in zip(tool_calls(response), of_calls, strict=True)]
    return {**(of_texts[-1] if of_texts else {}), **({"tool_calls": calls} if calls else {})}


def _extra(about: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"extra_content": {"google": {"thought_signature": about["signature"]}}} if "signature" in about else {}


adapters = (
    ProviderAdapter("gemini:generate", GenerateDecoder, request, headers),
    ProviderAdapter("gemini:array", GenerateDecoder, request, headers, array),
    chat_adapter(
        "gemini",
        Dialect(
            think_tag="thought",
            signature=("extra_content", "google", "thought_signature"),
            counting=Counting(hides_thoughts=True),
            round_trip=_round_trip,
        ),
    ),
)
