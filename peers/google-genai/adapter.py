"""The google-genai library: `models.generate_content` and `models.generate_content_stream`, sync.

The shim asks with a `types.GenerateContentConfig`, and with `types.Content` and its parts for the conversation. Of an
answer it reads the first candidate with its parts, grounding and citations, the feedback on the prompt, and the usage.

The library has nothing that folds the chunks of a stream, so the shim does it. If the first part of a chunk is a text,
it continues the last part before it, provided that both are of one kind and unsigned. Pieces of speech are joined. The
last counts are kept, because they are those of the answer so far. An earlier answer goes back as documented: as the
content that came (`contents.append(response.candidates[0].content)`), after a stream as the folded parts. The library
gives signatures and media as bytes, which become base64. It gives offsets in bytes of UTF-8, which become code points
of all text that is no thought. Offsets that do not fit this text become null. The library makes no retries unless it is
told to.
"""

import base64
import importlib.metadata
import json

from google import genai
from google.genai import types

from llm_conformance.shims.native import Answer

FINISH = {
    **{"STOP": "stop", "MAX_TOKENS": "length", "CONTINUATION": "length"},
    **dict.fromkeys(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "content_filter"),
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"), "content_filter"),
    **dict.fromkeys(("MODEL_ARMOR", "JAILBREAK", "ESCALATION", "PUP_LIMITED_DISABLED"), "content_filter"),
    **dict.fromkeys(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"), "error"),
    **dict.fromkeys(("MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE", "NO_IMAGE"), "error"),
}
# Errors with an HTTP status are known by that (`code`); this is another one.
ERRORS = {
    "UnknownApiResponseError": "ValidationError",
}


class Adapter:
    """Answers, whole and streamed."""

    name = "google-genai"
    version = importlib.metadata.version("google-genai")
    providers = ("gemini:generate",)
    capabilities = (
        *("streaming", "reasoning", "segments", "annotations", "audio", "tools", "round_trip", "errors"),
        "unreadable_bodies",
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )
    errors = ERRORS

    def complete(self, call):
        """Return a plain answer."""
        with _client(call) as client:
            folded = _Folded()
            for _ in folded.add(client.models.generate_content(**_asked(call)), joins=False):
                pass
            return folded.answer(call)

    def stream(self, call):
        """Yield a streamed answer."""
        with _client(call) as client:
            folded = _Folded()
            for chunk in client.models.generate_content_stream(**_asked(call)):
                yield from folded.add(chunk, joins=True)
            yield from folded.end()
            yield {"event_type": "response.completed", "response": folded.answer(call)}


def _client(call):
    options = types.HttpOptions(base_url=call.base_url, timeout=int(call.timeout_s * 1000))
    return genai.Client(api_key=call.api_key, http_options=options)


def _asked(call):
    params = {**call.params}
    settings = {**params.pop("generationConfig", {}), **params}
    system = [part for each in call.messages if each.get("role") == "system" for part in _parts(each["content"])]
    if system:
        settings["system_instruction"] = types.Content(parts=system)
    if call.tools:
        own = [
            types.FunctionDeclaration(
                name=each["function"]["name"],
                description=each["function"].get("description"),
                parameters_json_schema=each["function"].get("parameters"),
            )
            for each in call.tools
        ]
        settings["tools"] = [*settings.get("tools", ()), types.Tool(function_declarations=own)]
    config = types.GenerateContentConfig.model_validate(settings)
    return {"model": call.model, "contents": _contents(call.messages), "config": config}


def _contents(messages):
    names, contents, results = {}, [], None
    for message in messages:
        if isinstance(message, Answer):
            names = {each["id"]: each["name"] for each in message["tool_calls"]}
            contents.append(message.turn)
        elif message["role"] == "tool":
            if not results:
                results = types.Content(role="user", parts=[])
                contents.append(results)
            id = message["tool_call_id"]
            name = message.get("name") or names.get(id)
            said = types.FunctionResponse(id=id, name=name, response={"result": message["content"]})
            results.parts.append(types.Part(function_response=said))
            continue
        elif message["role"] != "system":
            role = "model" if message["role"] == "assistant" else "user"
            contents.append(types.Content(role=role, parts=_parts(message["content"])))
        results = None
    return contents


def _parts(content):
    said = [{"text": content}] if isinstance(content, str) else content
    return [types.Part.model_validate(each) for each in said]


class _Folded:
    """What one response, or the chunks of a stream, add up to."""

    def __init__(self):
        self.id = self.model = self.created = self.finish = None
        self.chunks, self.parts, self.counts = [], [], {}
        self.text, self.calls, self.media, self.citations = "", [], [], []
        self.unspoken = b""

    def add(self, chunk, joins):
        self.chunks.append(chunk)
        self.id = self.id or chunk.response_id
        self.model = chunk.model_version or self.model
        self.created = self.created or chunk.create_time
        if chunk.usage_metadata:
            self.counts = chunk.usage_metadata.model_dump(exclude_none=True)
        if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
            self.finish = chunk.prompt_feedback.block_reason
        for candidate in (each for each in chunk.candidates or () if not each.index):
            for position, part in enumerate((candidate.content and candidate.content.parts) or ()):
                yield from self._part(part, joins, goes_on=joins and position == 0)
            self.finish = candidate.finish_reason or self.finish
            grounding = candidate.grounding_metadata
            sources = (grounding and grounding.grounding_chunks) or ()
            for each in (grounding and grounding.grounding_supports) or ():
                numbers = each.grounding_chunk_indices or ()
                cited = [_plain(sources[number]) for number in numbers if 0 <= number < len(sources)]
                data = {**_plain(each), "groundingChunks": cited}
                data["segment"] = _plain(each.segment, exclude={"start_index", "end_index"})
                self.citations.append((each.segment, data))
            for each in (candidate.citation_metadata and candidate.citation_metadata.citations) or ():
                self.citations.append((each, _plain(each, exclude={"start_index", "end_index"})))

    def _part(self, part, joins, goes_on):
        last = self.parts[-1] if self.parts else None
        if part.text is not None:
            if not part.text and not part.thought_signature:  # the end of a stream
                return
            together = goes_on and last and last.text is not None and bool(last.thought) == bool(part.thought)
            if together and not last.thought_signature and not part.thought_signature:
                self.parts[-1] = last.model_copy(update={"text": last.text + part.text})
            else:
                self.parts.append(part)
            kind = "reasoning" if part.thought else "output_text"
            self.text += "" if part.thought else part.text
            if part.text:
                yield {"event_type": f"response.{kind}.delta", "delta": part.text}
            return
        if part.inline_data and not part.thought:
            yield from self._media(part, joins)
            return
        self.parts.append(part)
        if part.function_call:
            self.calls.append(_made(part.function_call))
            whose = {"index": len(self.calls) - 1, "id": part.function_call.id, "name": part.function_call.name}
            given = self.calls[-1]["arguments"]
            yield {"event_type": "response.function_call_arguments.delta", "delta": given, "tool_call": whose}
        elif (segment := _segment(part))["type"] not in ("text", "reasoning"):
            yield {"event_type": "response.output_text.delta", "delta": "", "segments": [segment]}

    def _media(self, part, joins):
        blob = part.inline_data
        last = self.parts[-1].inline_data if self.parts else None
        if joins and last and blob.mime_type.startswith("audio/") and last.mime_type == blob.mime_type:
            joined = types.Blob(mime_type=blob.mime_type, data=last.data + blob.data)
            self.parts[-1] = types.Part(inline_data=joined)
        else:
            yield from self.end()
            self.parts.append(part)
            self.media.append({"id": f"media-{len(self.media)}", "text_index": len(self.text), "type": blob.mime_type})
            self.media[-1]["data"] = ""
        spoken = self.unspoken + blob.data  # only whole groups of three bytes can be joined as base64
        whole = len(spoken) - len(spoken) % 3
        self.unspoken = spoken[whole:]
        yield from self._piece(spoken[:whole])

    def end(self):
        left, self.unspoken = self.unspoken, b""
        if left:
            yield from self._piece(left)

    def _piece(self, data):
        piece = base64.b64encode(data).decode()
        self.media[-1]["data"] += piece
        about = {"id": self.media[-1]["id"], "type": self.media[-1]["type"]}
        yield {"event_type": "response.media", "attachment": {**about, "data": piece}}

    def answer(self, call):
        for _ in self.end():
            pass
        reason = None if self.finish is None else str(self.finish.value)
        thoughts = [part.text for part in self.parts if part.text and part.thought]
        answer = Answer(
            id=self.id,
            provider=call.provider,
            model=self.model or call.model,
            created=self.created.isoformat() if self.created else None,
            message=self.text,
            reasoning="".join(thoughts) or None,
            segments=[_segment(part) for part in self.parts if part.thought or not part.inline_data],
            annotations=[self._annotation(at, data) for at, data in self.citations],
            attachments=self.media,
            tool_calls=self.calls,
            usage=_usage(self.counts),
            finish_reason=FINISH.get(reason),
            raw_finish_reason=reason,
        )
        answer.native = self.chunks
        answer.turn = types.Content(role="model", parts=self.parts)
        return answer

    def _annotation(self, at, data):
        text, start, end = self.text.encode(), at.start_index or 0, at.end_index
        try:
            if end is not None and 0 <= start <= end <= len(text):
                return {"start": len(text[:start].decode()), "end": len(text[:end].decode()), "data": data}
        except UnicodeDecodeError:  # in the middle of a character
            pass
        return {"start": None, "end": None, "data": data}


def _plain(native, **options):
    return native.model_dump(mode="json", by_alias=True, exclude_none=True, **options)


def _made(call):
    return {"id": call.id, "name": call.name, "arguments": json.dumps(call.args or {}, ensure_ascii=False)}


def _segment(part):
    signed = part.thought_signature
    about = {"signature": base64.b64encode(signed).decode()} if signed else {}
    shown = _plain(part, exclude={"thought", "thought_signature"})
    if shown.keys() <= {"text"} and (shown or signed):  # a signature may stand alone
        return {"type": "reasoning" if part.thought else "text", "content": part.text or "", "metadata": about}
    if part.function_call:
        made = _made(part.function_call)
        return {"type": "tool_call", "content": made["arguments"], "metadata": {**about, "name": made["name"]}}
    if part.executable_code or part.tool_call:
        made = json.dumps(shown, ensure_ascii=False)
        return {"type": "tool_call", "content": made, "metadata": {**about, "server_executed": True}}
    return {"type": "other", "content": "", "metadata": {**about, **shown}}


def _usage(counts):
    """Sum up as documented: the total is prompt, results of tools, candidates and thoughts."""
    if not counts:
        return None
    asked, thought = counts.get("prompt_token_count"), counts.get("thoughts_token_count")
    return {
        "prompt_tokens": None if asked is None else asked + counts.get("tool_use_prompt_token_count", 0),
        "completion_tokens": counts.get("candidates_token_count", 0) + (thought or 0),
        "total_tokens": counts.get("total_token_count"),
        "cached_tokens": counts.get("cached_content_token_count"),
        "reasoning_tokens": thought,
        "raw": types.GenerateContentResponseUsageMetadata(**counts).model_dump(
            mode="json", by_alias=True, exclude_none=True
        ),
    }


conformance_adapter = Adapter
