"""Agno: its model classes, which its agents run on.

`Claude`, `DeepSeek`, `Gemini`, `OpenAIChat`, `OpenAILike` and `OpenAIResponses`, with the call's own base URL and key.
`Model.response_stream` is what an agent calls; with `stream_model_response=False` it asks for a plain answer. After
the event of the completed request the assistant's `Message` stands at the end of the messages, and is what goes back
in the next turn; what would follow, the running of tools, is left. A `Message` has no finish reason and no model, one
text, one reasoning, and citations without a place.

The clients' own retries are off: each may wait for `call.timeout_s`, and together they would exceed it.
"""

from __future__ import annotations

import base64
from importlib.metadata import version
from typing import Any

from agno.media import File
from agno.models.anthropic import Claude
from agno.models.deepseek import DeepSeek
from agno.models.google import Gemini
from agno.models.message import Message
from agno.models.openai import OpenAIChat, OpenAIResponses
from agno.models.openai.like import OpenAILike
from agno.models.response import ModelResponseEvent
from agno.utils.models.claude import MCPServerConfiguration

from llm_conformance.shims.native import Answer

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
        *("provenance", "raw_finish", "usage_details", "error_details"),
    )

    errors = {"ModelRateLimitError": "RateLimitError"}  # noqa: RUF012 - read, never written
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
        model, messages = _model(call), [_message(message) for message in call.messages]
        hosted = call.params.get("tools", ()) if call.provider != "gemini" else ()  # Gemini's are switches of the model
        tools = [dict(tool) for tool in (*call.tools, *hosted)]
        for piece in model.response_stream(messages, tools=tools or None, stream_model_response=call.stream):
            if piece.event == ModelResponseEvent.model_request_completed.value:
                break
            if piece.reasoning_content:
                yield {"event_type": "response.reasoning.delta", "delta": piece.reasoning_content}
            if piece.content:
                yield {"event_type": "response.output_text.delta", "delta": piece.content}
        answer = _answer(call, messages[-1])
        for index, each in enumerate(answer["tool_calls"]):  # pieces of calls are given in the provider's own objects
            about = {"index": index, "id": each["id"], "name": each["name"]}
            yield {
                "event_type": "response.function_call_arguments.delta",
                "delta": each["arguments"],
                "tool_call": about,
            }
        yield {"event_type": "response.completed", "response": answer}


def _model(call: Any) -> Any:
    params = {key: value for key, value in call.params.items() if key != "tools"}
    common = {"id": call.model, "api_key": call.api_key, "timeout": call.timeout_s}
    if call.provider == "anthropic":
        client = {"base_url": call.base_url, "max_retries": 0}
        cached = any("cache_control" in part for part in _system_parts(call.messages))
        servers = [MCPServerConfiguration(**server) for server in params.pop("mcp_servers", ())] or None
        settings = {"request_params": params, "mcp_servers": servers, "cache_system_prompt": cached}
        return Claude(**common, **settings, client_params=client)
    if call.provider == "gemini":
        settings = params.pop("generationConfig", None)
        options = {"base_url": call.base_url, "timeout": int(call.timeout_s * 1000)}
        hosted = {key for tool in call.params.get("tools", ()) for key in tool}
        return Gemini(
            **common,
            generation_config=settings,
            search="googleSearch" in hosted,
            url_context="urlContext" in hosted,
            client_params={"http_options": options},
        )
    kinds = {"deepseek": DeepSeek, "local": OpenAILike}
    kind = OpenAIResponses if call.api == "responses" else kinds.get(call.provider, OpenAIChat)
    # What Agno itself has to know of; whether the provider keeps the conversation decides what goes back.
    own = {key: params.pop(key) for key in ("store", "include") if call.api == "responses" and key in params}
    return kind(**common, **own, base_url=call.base_url, max_retries=0, extra_body=params or None)


def _system_parts(messages: Any) -> list[Any]:
    return [part for each in messages if each.get("role") == "system" for part in each["content"]]


def _message(message: Any) -> Message:
    if isinstance(message, Answer):
        return message.turn
    # For the Responses API, Agno keeps the id of a call beside the id of its item.
    calls = [{**each, "call_id": each["id"]} for each in message.get("tool_calls", ())]
    content, files = message.get("content"), []
    system = message["role"] == "system"
    if isinstance(content, list) and (system or not any("type" in part for part in content)):  # as text, and Gemini's
        sent = [part["fileData"] for part in content if "fileData" in part]
        files = [File(url=each["fileUri"]) for each in sent]
        content = "".join(part["text"] for part in content if "text" in part)
    return Message(
        role=message["role"],
        content=content,
        files=files or None,
        tool_call_id=message.get("tool_call_id"),
        tool_calls=calls or None,
    )


def _answer(call: Any, turn: Message) -> Answer:
    calls = [_call(each) for each in turn.tool_calls or ()]
    answer = Answer(
        id=(turn.provider_data or {}).get("id"),
        provider=call.provider,
        model=call.model,
        message=turn.content or "",
        reasoning=turn.reasoning_content or None,
        annotations=[_annotation(each) for each in _cited(turn)],
        attachments=[_attachment(turn.audio_output, call.provider)] if turn.audio_output else [],
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
    if isinstance(citations.raw, list) and all(isinstance(each, dict) for each in citations.raw):
        return citations.raw
    made = [*(citations.urls or ()), *(citations.documents or ())]
    return [each.model_dump(mode="json", exclude_none=True) for each in made]


def _annotation(citation: dict[str, Any]) -> dict[str, Any]:
    data = {**citation, **citation.get("url_citation", {})}
    data.pop("url_citation", None)
    start, end = data.pop("start_index", None), data.pop("end_index", None)
    return {"start": start, "end": end, "data": data}


def _attachment(audio: Any, provider: str) -> dict[str, Any]:
    content = audio.content
    if isinstance(content, bytes):  # OpenAI's is base64 already, as Agno's own helper for writing it takes it
        content = content.decode() if provider == "openai" else base64.b64encode(content).decode()
    return {
        "id": audio.id,
        "type": audio.mime_type,
        "data": content,
        "transcript": audio.transcript,
        "expires_at": audio.expires_at,
    }


conformance_adapter = Adapter
