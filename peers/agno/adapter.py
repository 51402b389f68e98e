"""Agno: its model classes, which its agents run on.

They are `Claude`, `DeepSeek`, `Gemini`, `OpenAIChat`, `OpenAILike` and `OpenAIResponses`, with the call's own base URL
and key. `Model.response_stream` is what an agent calls; with `stream_model_response=False` it asks for a plain answer.
After the event of the completed request, the assistant's `Message` is the last of the messages, and goes back in the
next turn. The shim stops there, before Agno would run tools. A `Message` has one text and one reasoning, but no finish
reason and no model. Images are taken from the pieces, as `RunOutput.images` has them.

Agno runs functions only. Calls of other tools that the client has to run, several choices, and the tools of Gemini for
which `Gemini` has no switch are unsupported.

The clients' own retries are off: each may wait for `call.timeout_s`, and together they would exceed it.
"""

from __future__ import annotations

import base64
from importlib.metadata import version
from typing import Any

from agno.media import Audio, File, Image
from agno.models.anthropic import Claude
from agno.models.deepseek import DeepSeek
from agno.models.google import Gemini
from agno.models.message import Message
from agno.models.openai import OpenAIChat, OpenAIResponses
from agno.models.openai.like import OpenAILike
from agno.models.response import ModelResponseEvent
from agno.utils.models.claude import MCPServerConfiguration
from google.genai.types import GroundingMetadata

from llm_conformance.shims import chat
from llm_conformance.shims.native import Answer, fields

COUNTS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "total_tokens": "total_tokens",
    "cached_tokens": "cache_read_tokens",
    "cache_write_tokens": "cache_write_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "audio_prompt_tokens": "audio_input_tokens",
    "audio_completion_tokens": "audio_output_tokens",
}


class Adapter:
    """One model object a call."""

    name = "agno"
    version = version("agno")
    providers = (
        "anthropic:messages",
        "deepseek:chat",
        "gemini:generate",
        "local:chat",
        "openai:chat",
        "openai:responses",
    )
    capabilities = (
        *("streaming", "reasoning", "annotations", "audio", "tools", "round_trip", "errors"),
        "incomplete_streams",
        *("usage_details", "error_details"),
    )

    errors = {  # noqa: RUF012 - read, never written
        "ModelRateLimitError": "RateLimitError",
        "ContextWindowExceededError": "InvalidRequestError",
    }
    excluded_inputs = {  # noqa: RUF012
        "finish words: MALFORMED_FUNCTION_CALL": "the model is asked again, with advice: "
        "`retry_with_guidance` in agno/models/base.py"
    }

    def complete(self, call: Any) -> Answer:
        """Ask for a plain answer."""
        *_, event = self.stream(call)
        return event["response"]

    def stream(self, call: Any) -> Any:
        """Ask for an answer, and give its pieces."""
        model, messages, images = _model(call), _messages(call), []
        hosted = call.params.get("tools", ()) if call.provider != "gemini" else ()  # Gemini's are switches of the model
        tools = [dict(tool) for tool in (*call.tools, *hosted)]
        calls: dict[int, dict[str, Any]] = {}
        for piece in model.response_stream(messages, tools=tools or None, stream_model_response=call.stream):
            if piece.event == ModelResponseEvent.model_request_completed.value:
                break
            images += piece.images or ()
            for made in piece.tool_calls or ():
                yield _call_piece(calls, made)
            if piece.reasoning_content:
                yield {"event_type": "response.reasoning.delta", "delta": piece.reasoning_content}
            if piece.content:
                yield {"event_type": "response.output_text.delta", "delta": piece.content}
        answer = _answer(call, messages[-1], images)
        yield {"event_type": "response.completed", "response": answer}


def _call_piece(calls: dict[int, dict[str, Any]], made: Any) -> dict[str, Any]:
    """Return the event for a piece of a call: a whole call of Agno's, or a chunk's delta in OpenAI's own type."""
    if isinstance(made, dict):
        whole = _call(made)
        about = calls[-len(calls) - 1] = {"index": len(calls), "id": whole["id"], "name": whole["name"]}
        delta = whole["arguments"]
    else:
        about = calls.setdefault(made.index, {"index": len(calls), "id": None, "name": ""})
        function = made.function
        about["id"] = made.id or about["id"]
        about["name"] += (function and function.name) or ""
        delta = (function and function.arguments) or ""
    return {"event_type": "response.function_call_arguments.delta", "delta": delta, "tool_call": dict(about)}


HOSTED = ("web_search", "file_search", "code_interpreter", "image_generation", "mcp")
SWITCHES = {"googleSearch", "urlContext", "fileSearch"}


def _model(call: Any) -> Any:
    params = {key: value for key, value in call.params.items() if key != "tools"}
    common = {"id": call.model, "api_key": call.api_key, "timeout": call.timeout_s}
    if call.provider == "anthropic":
        return _claude(call, params, common)
    if call.provider == "gemini":
        return _gemini(call, params, common)
    for name in {"n", "functions"} & params.keys():
        raise NotImplementedError(f"{name} changes the shape of the answer, and Agno does not read it")
    for tool in (*call.tools, *call.params.get("tools", ())):
        if tool["type"] != "function" and not (call.api == "responses" and tool["type"].startswith(HOSTED)):
            raise NotImplementedError(f"Agno has no tools of the type {tool['type']}")
    kinds = {"deepseek": DeepSeek, "local": OpenAILike}
    kind = OpenAIResponses if call.api == "responses" else kinds.get(call.provider, OpenAIChat)
    # Agno itself has to know these: what goes back depends on whether the provider keeps the conversation.
    own = {key: params.pop(key) for key in ("store", "include") if call.api == "responses" and key in params}
    return kind(**common, **own, base_url=call.base_url, max_retries=0, extra_body=params or None)


def _claude(call: Any, params: dict[str, Any], common: dict[str, Any]) -> Claude:
    if unknown := {"fallbacks", "output_format"} & params.keys():
        raise NotImplementedError(f"Claude has no way to send {', '.join(sorted(unknown))}")
    servers = [MCPServerConfiguration(**server) for server in params.pop("mcp_servers", ())] or None
    return Claude(
        **common,
        request_params=params,
        mcp_servers=servers,
        context_management=params.pop("context_management", None),
        cache_system_prompt=any("cache_control" in part for part in _system_parts(call.messages)),
        # An answer that stands last is to be continued.
        append_trailing_user_message=False if call.messages[-1].get("role", "assistant") == "assistant" else None,
        client_params={"base_url": call.base_url, "max_retries": 0},
    )


def _gemini(call: Any, params: dict[str, Any], common: dict[str, Any]) -> Gemini:
    settings = params.pop("generationConfig", None)
    if (settings or {}).get("candidateCount", 1) > 1:
        raise NotImplementedError("Gemini reads the first candidate only")
    hosted = {key: value for tool in call.params.get("tools", ()) for key, value in tool.items()}
    if unknown := hosted.keys() - SWITCHES:
        raise NotImplementedError(f"Gemini has no switch for {', '.join(sorted(unknown))}")
    searched = hosted.get("fileSearch", {})
    return Gemini(
        **common,
        generation_config=settings,
        search="googleSearch" in hosted,
        url_context="urlContext" in hosted,
        file_search_store_names=searched.get("fileSearchStoreNames"),
        file_search_metadata_filter=searched.get("metadataFilter"),
        client_params={"http_options": {"base_url": call.base_url, "timeout": int(call.timeout_s * 1000)}},
    )


def _system_parts(messages: Any) -> list[Any]:
    return [part for each in messages if each.get("role") == "system" for part in each["content"]]


def _messages(call: Any) -> list[Message]:
    made = [each for message in call.messages for each in message.get("tool_calls", ())]
    names = {each["id"]: each.get("function", each).get("name") for each in made}
    given: list[str] = []  # the ids of the calls that wait for a result; Agno makes an id if the provider gives none
    turns = []
    for message in call.messages:
        if message.get("tool_calls"):
            given = [each["id"] for each in message["tool_calls"]]
        id = message.get("tool_call_id")
        if message.get("role") == "tool" and id is None:
            id = given.pop(0)
        turns.append(_message(message, id, message.get("name") or names.get(id)))
    return turns


def _message(message: Any, call_id: str | None, tool: str | None) -> Message:
    if isinstance(message, Answer):
        return message.turn
    # For the Responses API, Agno keeps the id of a call beside the id of its item.
    calls = [{**each, "call_id": each["id"]} for each in message.get("tool_calls", ())]
    content, media = message.get("content"), {}
    system = message["role"] == "system"
    if isinstance(content, list) and (system or not any("type" in part for part in content)):  # or Gemini's parts
        media = _media(content)
        content = "".join(part["text"] for part in content if "text" in part)
    return Message(
        role=message["role"],
        content=content,
        tool_call_id=call_id,
        tool_name=tool,
        tool_calls=calls or None,
        **media,
    )


def _media(parts: list[Any]) -> dict[str, Any]:
    media: dict[str, Any] = {}
    for part in parts:
        if sent := part.get("fileData"):
            type = sent.get("mimeType")
            if type not in File.valid_mime_types():
                raise NotImplementedError(f"Agno has no way to send the address of a file of the type {type}")
            media.setdefault("files", []).append(File(url=sent["fileUri"], mime_type=type))
        elif sent := part.get("inlineData"):
            type, data = sent["mimeType"], base64.b64decode(sent["data"])
            if type.startswith("image/"):
                media.setdefault("images", []).append(Image(content=data, mime_type=type))
            elif type.startswith("audio/"):
                media.setdefault("audio", []).append(Audio(content=data, mime_type=type, format=type[len("audio/") :]))
            else:
                raise NotImplementedError(f"Agno has no way to send {type}")
    return media


def _answer(call: Any, turn: Message, images: list[Image]) -> Answer:
    calls = [_call(each) for each in turn.tool_calls or ()]
    answer = Answer(
        id=(turn.provider_data or {}).get("id"),
        provider=call.provider,
        model=call.model,
        message=turn.content or "",
        reasoning=turn.reasoning_content or None,
        annotations=[_annotation(each) for each in _cited(turn)],
        attachments=[_sound(turn.audio_output, call)] if turn.audio_output else [_picture(each) for each in images],
        tool_calls=calls,
        finish_reason=None,
        raw_finish_reason=None,
        usage={ours: getattr(turn.metrics, theirs) for ours, theirs in COUNTS.items()},
    )
    answer.native = answer.turn = turn
    return answer


def _call(made: dict[str, Any]) -> dict[str, Any]:
    if "function" not in made:  # OpenAI's custom calls come as they are
        custom = made["custom"]
        return {"id": made["id"], "type": "custom", "name": custom["name"], "arguments": custom["input"] or "{}"}
    function = made["function"]
    return {
        "id": made.get("call_id") or made.get("id"),
        "name": function["name"],
        "arguments": function["arguments"] or "{}",
    }


def _cited(turn: Message) -> list[dict[str, Any]]:
    """Return the citations: the provider's own where there is a list of them, else what Agno makes of them."""
    citations = turn.citations
    if citations is None:
        return []
    if isinstance(citations.raw, dict):
        return _grounded(turn.content or "", citations.raw.get("grounding_metadata"))
    if isinstance(citations.raw, list):  # of dicts, or of the SDK's objects
        return [fields(each) for each in citations.raw]
    made = [*(citations.urls or ()), *(citations.documents or ())]
    return [each.model_dump(mode="json", exclude_none=True) for each in made]


def _annotation(citation: dict[str, Any]) -> dict[str, Any]:
    data = {**citation, **citation.get("url_citation", {})}
    data.pop("url_citation", None)
    start, end = data.pop("start_index", None), data.pop("end_index", None)
    return {"start": start, "end": end, "data": data}


def _grounded(text: str, metadata: Any) -> list[dict[str, Any]]:
    """Return the supports of Gemini's grounding with their sources, and with code points in place of bytes."""
    grounding = GroundingMetadata.model_validate(metadata or {})
    sources, found = grounding.grounding_chunks or [], []
    for each in grounding.grounding_supports or ():
        numbers = each.grounding_chunk_indices or ()
        cited = [_plain(sources[number]) for number in numbers if 0 <= number < len(sources)]
        segment = _plain(each.segment, exclude={"start_index", "end_index"}) if each.segment else {}
        start, end = _place(text.encode(), each.segment)
        place = {"start_index": start, "end_index": end}
        found.append({**_plain(each), "groundingChunks": cited, "segment": segment, **place})
    return found


def _place(text: bytes, segment: Any) -> tuple[int | None, int | None]:
    start, end = (segment.start_index or 0, segment.end_index) if segment else (0, None)
    try:
        if end is not None and 0 <= start <= end <= len(text):
            return len(text[:start].decode()), len(text[:end].decode())
    except UnicodeDecodeError:  # in the middle of a character
        pass
    return None, None


def _plain(native: Any, **options: Any) -> dict[str, Any]:
    return native.model_dump(mode="json", by_alias=True, exclude_none=True, **options)


def _sound(audio: Any, call: Any) -> dict[str, Any]:
    content = audio.content
    if isinstance(content, bytes):  # OpenAI's is base64 already, as Agno's own helper for writing it takes it
        content = content.decode() if call.provider == "openai" else base64.b64encode(content).decode()
    return {
        "id": audio.id,
        "type": (chat.audio_type(call) if call.provider == "openai" else None) or audio.mime_type,
        "data": content,
        "transcript": audio.transcript,
        "expires_at": audio.expires_at,
    }


def _picture(image: Image) -> dict[str, Any]:
    return {"id": image.id, "type": image.mime_type, "data": base64.b64encode(image.content or b"").decode()}


conformance_adapter = Adapter
