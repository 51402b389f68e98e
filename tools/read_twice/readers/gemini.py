"""Read Gemini's generateContent through Google's SDK. Each chunk of a stream is a response; this joins their parts."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from tools.read_twice.readers.attributes import added, at, word


class Reader:
    """Read responses. Options: `cloud`; with the value `vertex`, the form of Vertex AI, which has more fields."""

    def __init__(self, base_url: str, options: Mapping[str, str]) -> None:
        from google import genai
        from google.genai import types

        options_of_http = types.HttpOptions(base_url=base_url, timeout=30_000)
        is_vertex = options.get("cloud") == "vertex"
        self._client = genai.Client(enterprise=is_vertex, api_key="key", http_options=options_of_http)

    def plain(self, model: str) -> dict[str, Any]:
        """Read a plain answer."""
        return _values([self._client.models.generate_content(model=model, contents="Hi.")])

    def stream(self, model: str) -> dict[str, Any]:
        """Read a stream."""
        return _values(self._client.models.generate_content_stream(model=model, contents="Hi."))


def _values(responses: Iterable[Any]) -> dict[str, Any]:
    values: dict[str, Any] = {"id": None, "created": None, "model": None, "finish": None, "usage": None}
    text, reasoning = "", ""
    calls, sealed = [], []
    found: list[Any] = []
    media: list[tuple[str, bytes]] = []
    for response in responses:
        created = at(response, "create_time")
        values["id"] = values["id"] or at(response, "response_id")
        values["created"] = values["created"] or (created and created.isoformat())
        values["model"] = at(response, "model_version") or values["model"]
        values["usage"] = _usage(at(response, "usage_metadata")) or values["usage"]
        values["finish"] = word(at(response, "prompt_feedback", "block_reason")) or values["finish"]
        candidate = next((each for each in at(response, "candidates") or () if not each.index), None)
        values["finish"] = word(at(candidate, "finish_reason")) or values["finish"]
        for part in at(candidate, "content", "parts") or ():
            if part.thought:
                reasoning += part.text or ""
            else:
                text += part.text or ""
            sealed.append(base64.b64encode(part.thought_signature or b"").decode())
            if part.inline_data is not None and not part.thought:
                _add_media(media, part.inline_data)
            if part.function_call is not None:
                call = part.function_call
                calls.append({"id": call.id, "name": call.name, "arguments": call.args or {}})
        found += at(candidate, "grounding_metadata", "grounding_supports") or []
        found += at(candidate, "citation_metadata", "citations") or []
    citations = [_citation(each, text) for each in found]
    attached = [{"data": base64.b64encode(data).decode()} for _, data in media]
    texts = {"text": text, "reasoning": reasoning}
    return {**values, **texts, "calls": calls, "citations": citations, "sealed": sealed, "media": attached}


def _add_media(media: list[tuple[str, bytes]], blob: Any) -> None:
    """Add an image, or a piece of speech."""
    kind, data = blob.mime_type, blob.data or b""
    if kind.startswith("audio/") and media and media[-1][0] == kind:
        media[-1] = (kind, media[-1][1] + data)
    else:
        media.append((kind, data))


def _citation(found: Any, text: str) -> dict[str, Any]:
    """Return a citation. Its offsets count bytes of the text in UTF-8. If the start is missing, it is 0."""
    at_segment = at(found, "segment") or found
    start, end = (at(at_segment, name) for name in ("start_index", "end_index"))
    indices = at(found, "grounding_chunk_indices")
    named = {"uri": at(found, "uri"), "title": at(found, "title"), "groundingChunkIndices": indices}
    if end is None:
        return {"start": None, "end": None, **named}
    encoded = text.encode("utf-8")
    start, end = (len(encoded[: offset or 0].decode("utf-8", "ignore")) for offset in (start, end))
    return {"start": start, "end": end, **named}


def _usage(usage: Any) -> dict[str, int | None] | None:
    """Return the counts. A missing count may mean 0."""
    prompt, total = at(usage, "prompt_token_count"), at(usage, "total_token_count")
    candidates, thoughts = at(usage, "candidates_token_count"), at(usage, "thoughts_token_count")
    if prompt is None and total is None and candidates is None:
        return None
    return {
        "prompt_tokens": added(prompt, at(usage, "tool_use_prompt_token_count")),
        "completion_tokens": added(candidates or 0, thoughts),
        "total_tokens": total,
        "cached_tokens": at(usage, "cached_content_token_count"),
        "reasoning_tokens": thoughts,
    }
