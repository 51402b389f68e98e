"""chatlas: its chats, and the turns that they keep.

The shim asks `ChatAnthropic`, `ChatDeepSeek`, `ChatGoogle`, `ChatGroq`, `ChatOpenAI`, which speaks responses, and
`ChatOpenAICompletions`, which is documented for OpenAI's chat completions and for servers of one's own. It asks by
`Chat.chat` with `stream=False`, and by `Chat.stream` with `content="all"`. The answer is the last `AssistantTurn`: its
contents in their order, `tokens`, which are added up, and `finish_reason`. A turn keeps the provider's `completion` for
what chatlas does not expose otherwise. The shim takes the id, the model and the finish word from it, no more. Earlier
answers go back as their turns.

A chat answers tool calls itself and asks again. A callback for `on_tool_request` ends that here, at the first tool
call. If a chat is taken up at a turn with tool calls, it takes them for never answered. So a conversation that ends
with results is asked by the chat's `Provider`, with the methods that the chat's own loop uses. Parameters go out by
`kwargs`, except that log probabilities of responses have an option (`set_model_params`). Content that it has no type
for, such as Anthropic's documents with citations, cannot be asked, and neither can hosted tools other than the two that
it has (`tool_web_search`, `tool_web_fetch`), nor parameters that change the shape of an answer in a way that it does
not read. A turn has one count of cached tokens and no other part of counts. The clients' own retries are off: together
they would exceed `call.timeout_s`.
"""

from __future__ import annotations

import base64
import importlib.metadata
import inspect
import json
import re
from collections.abc import Generator, Iterator
from typing import Any, ClassVar

import anthropic
import openai
from anthropic.resources.messages import Messages
from chatlas import (
    AssistantTurn,
    ChatAnthropic,
    ChatDeepSeek,
    ChatGoogle,
    ChatGroq,
    ChatOpenAI,
    ChatOpenAICompletions,
    ContentToolRequest,
    ContentToolResult,
    Tool,
    ToolBuiltIn,
    UserTurn,
    content_image_url,
)
from chatlas.types import (
    ContentCitation,
    ContentImageInline,
    ContentText,
    ContentThinking,
    ContentThinkingDelta,
    ContentToolRequestFetch,
    ContentToolRequestSearch,
    ContentToolResponseFetch,
    ContentToolResponseSearch,
    ContentUploaded,
)
from google.genai.errors import APIError
from google.genai.types import GenerateContentConfig
from openai.resources.chat.completions import Completions
from openai.resources.responses import Responses

from llm_conformance.shims.native import Answer

CHATS = {
    "deepseek:chat": ChatDeepSeek,
    "groq:chat": ChatGroq,
    "local:chat": ChatOpenAICompletions,
    "openai:chat": ChatOpenAICompletions,
    "openai:responses": ChatOpenAI,
}
FINISH = {
    **{"success": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "content_filter": "content_filter"},
    **{"max_tokens": "length", "context_window": "length"},
    # Words that are handed on: of DeepSeek and vLLM, and of Gemini.
    **{"insufficient_system_resource": "error", "aborted": "error", "abort": "error"},
    **{"MALFORMED_FUNCTION_CALL": "error", "MALFORMED_RESPONSE": "error", "MISSING_THOUGHT_SIGNATURE": "error"},
    **{"UNEXPECTED_TOOL_CALL": "error", "TOO_MANY_TOOL_CALLS": "error", "NO_IMAGE": "error"},
    **{"LANGUAGE": "content_filter", "ESCALATION": "content_filter", "PUP_LIMITED_DISABLED": "content_filter"},
    **{"IMAGE_SAFETY": "content_filter", "IMAGE_PROHIBITED_CONTENT": "content_filter"},
    **{"IMAGE_RECITATION": "content_filter", "CONTINUATION": "length"},
}


class ToolCalledError(Exception):
    """Ends a chat's own loop where it would run a tool."""


class Adapter:
    """One chat a call."""

    name = "chatlas"
    version = importlib.metadata.version("chatlas")
    providers = ("anthropic:messages", "gemini:generate", *CHATS)
    capabilities = (
        *("streaming", "reasoning", "segments", "annotations", "tools", "round_trip", "errors"),
        *("provenance", "raw_finish", "error_details"),
    )
    # The library does not keep the text of arguments. The shim writes compact JSON, so only compact texts are compared.
    excluded_inputs: ClassVar = {
        "think tags": "the server splits them off if it is started with a reasoning parser: "
        "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html#quickstart",
        **{
            f"text of arguments: {way}": "`arguments` of a request is an object: "
            "https://posit-dev.github.io/chatlas/reference/types.ContentToolRequest.html"
            for way in ("spaced", "indented")
        },
    }
    errors: ClassVar = {
        "APITimeoutError": "TimeoutError",
        "APIConnectionError": "ServiceUnavailableError",
        **{"APIError": "LLMError", "APIStatusError": "LLMError"},  # errors in a stream, which have no error status
        "APIResponseValidationError": "ValidationError",
        "UnknownApiResponseError": "ValidationError",
        # The types of errors in streams, which have no class and no error status of their own.
        **{"server_error": "ServiceUnavailableError", "overloaded_error": "ServiceUnavailableError"},
        **{"insufficient_quota": "RateLimitError", "rate_limit_exceeded": "RateLimitError"},
        **{"rate_limit_error": "RateLimitError", "invalid_request_error": "InvalidRequestError"},
        "exceed_context_size_error": "InvalidRequestError",
    }

    def complete(self, call: Any) -> Answer:
        """Ask by `Chat.chat`."""
        *_, event = self.stream(call)
        return event["response"]

    def stream(self, call: Any) -> Iterator[dict[str, Any]]:
        """Ask by `Chat.stream`, or by `Chat.chat` for `complete`."""
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

    def _events(self, call: Any) -> Iterator[dict[str, Any]]:
        with _chat(call) as chat:
            turns = _turns(chat, call)
            try:
                if call.messages[-1].get("role") == "tool":
                    turn = yield from _resumed(chat, turns, call)
                else:
                    turn = yield from _asked(chat, turns, call)
            except APIError as error:  # Google's errors have their status under another name
                error.status_code = error.code
                raise
            answer = _answer(turn, call)
            for index, made in enumerate(answer["tool_calls"]):  # a chat gives no pieces of calls
                about = {"index": index, "id": made["id"], "name": made["name"]}
                yield {
                    "event_type": "response.function_call_arguments.delta",
                    "delta": made["arguments"],
                    "tool_call": about,
                }
            yield {"event_type": "response.completed", "response": answer}


conformance_adapter = Adapter


LOG_PROBS = "message.output_text.logprobs"
UNREAD = ("functions", "function_call", "fallbacks", "context_management", "mcp_servers", "toolConfig")


def _refuse(call: Any) -> None:
    """Raise NotImplementedError for what the library cannot ask for, and for what it does not read in an answer."""
    params = call.params
    several = {params.get("n", 1), (params.get("generationConfig") or {}).get("candidateCount", 1)} != {1}
    unread = [name for name in UNREAD if name in params]
    if several or unread:
        raise NotImplementedError(f"the library does not read what {unread or 'several choices'} ask for")
    hosted = [tool.get("type") or next(iter(tool)) for tool in params.get("tools", ())]
    known = ("web_search", "web_fetch", "googleSearch", "google_search", "urlContext", "url_context")
    if call.api == "chat" and hosted:
        raise NotImplementedError("the library has no hosted tools in chat completions")
    if strange := [kind for kind in hosted if not kind.startswith(known) or "preview" in kind]:
        raise NotImplementedError(f"the library has no hosted tools of the type {strange[0]}")


def _chat(call: Any) -> Any:
    _refuse(call)
    about = {"model": call.model, "api_key": call.api_key}
    client = {"timeout": call.timeout_s, "max_retries": 0}
    kind = f"{call.provider}:{call.api}"
    if call.provider == "anthropic":
        chat: Any = ChatAnthropic(**about, kwargs={"base_url": call.base_url, **client})
    elif call.provider == "gemini":
        options = {"base_url": call.base_url, "timeout": int(call.timeout_s * 1000)}
        chat = ChatGoogle(**about, kwargs={"http_options": options})
    else:
        chat = CHATS[kind](**about, base_url=call.base_url, kwargs=client)
    hosted = () if call.api == "chat" else call.params.get("tools", ())
    builtin = [ToolBuiltIn(name=f"hosted {number}", definition=dict(tool)) for number, tool in enumerate(hosted)]
    if _asks_log_probs(call):
        chat.set_model_params(log_probs=True)
    chat.set_tools([*builtin, *(_tool(each["function"]) for each in call.tools)])
    chat.on_tool_request(_stop)
    return chat


def _tool(about: Any) -> Tool:
    parameters = about.get("parameters") or {"type": "object", "properties": {}}
    said = {"description": about.get("description", ""), "parameters": parameters}
    return Tool(func=_never, name=about["name"], **said)


def _never(**arguments: Any) -> None:
    raise ToolCalledError


def _stop(request: ContentToolRequest) -> None:
    raise ToolCalledError


def _kwargs(call: Any) -> dict[str, Any]:
    params = dict(call.params)
    if call.provider == "gemini":
        settings = params.pop("generationConfig", None)
        return {"config": GenerateContentConfig.model_validate(settings)} if settings else {}
    if call.api != "chat":
        params.pop("tools", None)
    if _asks_log_probs(call):  # `_chat` has asked for them by the library's own option
        others = [each for each in params.pop("include") if each != LOG_PROBS]
        params |= {"include": others} if others else {}
    method = {"chat": Completions.create, "responses": Responses.create, "messages": Messages.create}[call.api]
    known = inspect.signature(method).parameters
    extra = {name: params.pop(name) for name in list(params) if name not in known}
    return {**params, **({"extra_body": extra} if extra else {})}


def _said(messages: Any, role: str) -> list[Any]:
    return [each for each in messages if not isinstance(each, Answer) and each["role"] == role]


def _turns(chat: Any, call: Any) -> list[Any]:
    """Return the conversation, without what the system says, which a chat keeps apart."""
    system = [_text(each) for each in _said(call.messages, "system")]
    if system:
        chat.system_prompt = "\n\n".join(system)
    turns: list[Any] = []
    results: Any = None
    for message in call.messages:
        if isinstance(message, Answer):
            turns.append(message.turn)
        elif message["role"] == "user":
            turns.append(UserTurn([*_contents(message)]))
        elif message["role"] == "assistant":
            said = [_text(message)] if message.get("content") else []
            turns.append(AssistantTurn([*said, *map(_request, message.get("tool_calls", ()))]))
        elif message["role"] == "tool":
            request = _requested(turns, message["tool_call_id"] or message["name"])  # Gemini's may have no id
            if turns[-1] is not results:
                results = UserTurn([])
                turns.append(results)
            results.contents.append(ContentToolResult(value=message["content"], request=request))
    return turns


def _asks_log_probs(call: Any) -> bool:
    return LOG_PROBS in (call.params.get("include") or ())


def _asked(chat: Any, turns: list[Any], call: Any) -> Generator[dict[str, Any], None, Any]:
    """Ask by the chat's own methods."""
    before, last = turns[:-1], turns[-1] if turns else None
    if not isinstance(last, UserTurn):
        raise NotImplementedError("a chat that goes on without an input")
    chat.set_turns(before)
    try:
        if call.stream:
            for piece in chat.stream(*last.contents, content="all", kwargs=_kwargs(call)):
                if isinstance(piece, ContentToolRequest):  # the answer is whole, and the chat would run its tools
                    break
                yield from _event(piece)
        else:
            chat.chat(*last.contents, echo="none", stream=False, kwargs=_kwargs(call))
    except ToolCalledError:
        pass
    return chat.get_last_turn()


def _resumed(chat: Any, turns: list[Any], call: Any) -> Generator[dict[str, Any], None, Any]:
    """Go on from the results of tools as the chat's loop does, by its provider."""
    if _asks_log_probs(call):
        raise NotImplementedError("log probabilities are an option of a chat, not of its provider")
    chat.set_turns(turns)
    provider, turns = chat.provider, chat.get_turns(include_system_prompt=True)
    tools = {tool.name: tool for tool in chat.get_tools()}
    response = provider.chat_perform(stream=call.stream, turns=turns, tools=tools, kwargs=_kwargs(call))
    if call.stream:
        whole = None
        for chunk in response:
            whole = provider.stream_merge_chunks(whole, chunk)
            for content in provider.stream_content(chunk, whole, turns=turns):
                yield from _event(content.text if isinstance(content, ContentText) else content)
        turn = provider.stream_turn(whole, False, turns=turns)
    else:
        turn = provider.value_turn(response, False, turns=turns)
    turn.tokens = provider.value_tokens(turn.completion) if turn.completion else None
    return turn


def _text(message: Any) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    if strange := next((part for part in content if "text" not in part), None):
        raise NotImplementedError(f"chatlas has no type for a part {strange.get('type')!r} here")
    return "".join(part["text"] for part in content)


def _contents(message: Any) -> Iterator[Any]:
    """Yield what a user says; files to Gemini are named by their URIs."""
    content = message["content"]
    for part in content if isinstance(content, list) else ({"text": content},):
        if "fileData" in part:
            file = part["fileData"]
            yield ContentUploaded(id=file["fileUri"], mime_type=file["mimeType"], provider="google")
        elif set(part) <= {"type", "text"}:
            yield part["text"]
        elif "image_url" in part and isinstance(part["image_url"], dict):
            yield content_image_url(part["image_url"]["url"], detail=part["image_url"].get("detail", "auto"))
        else:
            raise NotImplementedError(f"chatlas has no type for a part {part.get('type')!r} with {', '.join(part)}")


def _request(made: Any) -> ContentToolRequest:
    if made.get("type") == "custom":
        raise NotImplementedError("a call of a custom tool")
    function = made["function"]
    return ContentToolRequest(id=made["id"], name=function["name"], arguments=json.loads(function["arguments"]))


def _requested(turns: list[Any], id: str) -> ContentToolRequest:
    """Return chatlas's object for the call that a result belongs to. If there is none, make one with this id."""
    made = [each for turn in turns for each in turn.contents if isinstance(each, ContentToolRequest)]
    return next((each for each in made if each.id == id), None) or ContentToolRequest(id=id, name="", arguments={})


def _event(piece: Any) -> Iterator[dict[str, Any]]:
    if isinstance(piece, str):
        yield {"event_type": "response.output_text.delta", "delta": piece}
    elif isinstance(piece, ContentThinkingDelta) and piece.thinking:
        yield {"event_type": "response.reasoning.delta", "delta": piece.thinking}


def _answer(turn: AssistantTurn, call: Any) -> Answer:
    said = _completion(turn.completion)
    made = [_call(each) for each in turn.contents if isinstance(each, ContentToolRequest)]
    answer = Answer(
        id=said["id"],
        provider=call.provider,
        model=said["model"] or call.model,
        message=turn.text,
        reasoning="".join(each.thinking for each in turn.contents if isinstance(each, ContentThinking)) or None,
        segments=[_segment(each) for each in turn.contents if not _is_about(each, call)],
        annotations=[*_annotations(turn)],
        attachments=[
            {"type": each.image_content_type, "data": each.data}
            for each in turn.contents
            if isinstance(each, ContentImageInline)
        ],
        tool_calls=made,
        finish_reason=FINISH.get(turn.finish_reason or ""),
        raw_finish_reason=said["finish"],
        usage=_usage(turn.tokens),
    )
    answer.native = answer.turn = turn
    return answer


def _completion(completion: Any) -> dict[str, Any]:
    if completion is None:
        return {"id": None, "model": None, "finish": None}
    if isinstance(completion, dict):  # Google's
        word = next((each["finish_reason"] for each in completion["candidates"] or () if each["finish_reason"]), None)
        about = {"id": completion["response_id"], "model": completion["model_version"]}
        return {**about, "finish": getattr(word, "value", word)}
    about = {"id": completion.id, "model": completion.model}
    if hasattr(completion, "choices"):
        return {**about, "finish": completion.choices[0].finish_reason}
    if hasattr(completion, "stop_reason"):
        return {**about, "finish": completion.stop_reason}
    details = completion.incomplete_details
    return {**about, "finish": details.reason if details and details.reason else completion.status}


def _is_about(content: Any, call: Any) -> bool:
    """Tell whether chatlas has made a content from data beside the answer, so that it is no segment."""
    searched = (ContentToolRequestSearch, ContentToolResponseSearch, ContentToolRequestFetch, ContentToolResponseFetch)
    return isinstance(content, ContentCitation) or (call.provider == "gemini" and isinstance(content, searched))


def _call(made: ContentToolRequest) -> dict[str, Any]:
    written = json.dumps(made.arguments or {}, ensure_ascii=False, separators=(",", ":"))  # they come parsed
    return {"id": made.id or None, "name": made.name, "arguments": written}


def _segment(content: Any) -> dict[str, Any]:
    extra = getattr(content, "extra", None) or {}
    signature = extra.get("signature", extra.get("thought_signature"))
    if isinstance(signature, bytes):
        signature = base64.b64encode(signature).decode()
    signed = {"signature": signature} if signature else {}
    if isinstance(content, ContentText):
        return {"type": "text", "content": content.text}
    if isinstance(content, ContentThinking):
        sealed = {"encrypted": extra["encrypted_content"]} if extra.get("encrypted_content") else {}
        return {"type": "reasoning", "content": content.thinking, "metadata": {**signed, **sealed}}
    if isinstance(content, ContentToolRequest):
        return {"type": "tool_call", "content": json.dumps(content.arguments), "metadata": signed}
    if isinstance(content, ContentToolRequestSearch | ContentToolRequestFetch):
        return {"type": "tool_call", "content": "", "metadata": {"server_executed": True}}
    return {"type": "other", "content": "", "metadata": {"kind": content.content_type}}


def _annotations(turn: AssistantTurn) -> Iterator[dict[str, Any]]:
    """Yield the citations. Each follows its text.

    A citation without offsets is about the whole text before it, if that is its `grounded_span`.
    """
    start, text, last = 0, "", None
    for content in turn.contents:
        if isinstance(content, ContentText):
            start, text = start + len(text), content.text
        elif isinstance(content, ContentCitation):
            data = dict(content.extra or {})
            support = data.get("grounding_support")
            if support:
                if support is not last:  # a support has one citation for each of its sources
                    same = [
                        each.source
                        for each in turn.contents
                        if isinstance(each, ContentCitation)
                        and each.source
                        and (each.extra or {}).get("grounding_support") is support
                    ]
                    yield _grounded(support, turn.text, same)
                last = support
                continue
            place = (data.pop("start_index", None), data.pop("end_index", None))
            if place == (None, None) and content.grounded_span == text:
                place = (0, len(text))
            first, last = (None if each is None else start + each for each in place)
            yield {"start": first, "end": last, "data": data}


def _in_camel_case(fields: Any) -> dict[str, Any]:
    return {re.sub("_([a-z])", lambda each: each[1].upper(), name): value for name, value in fields.items()}


def _grounded(support: Any, message: str, sources: list[Any]) -> dict[str, Any]:
    """Return a citation with the names of Gemini's API, and with code points in place of bytes of the message."""
    segment = dict(support.get("segment") or {})
    start, end = segment.pop("start_index", None) or 0, segment.pop("end_index", None)
    data = _in_camel_case({**support, "segment": _in_camel_case(segment)})
    chunks = [{"web": {"uri": getattr(each, "url", None), "title": getattr(each, "title", None)}} for each in sources]
    data |= {"groundingChunks": chunks} if chunks else {}
    text = message.encode()
    try:
        if end is not None and 0 <= start <= end <= len(text):
            return {"start": len(text[:start].decode()), "end": len(text[:end].decode()), "data": data}
    except UnicodeDecodeError:  # in the middle of a character
        pass
    return {"start": None, "end": None, "data": data}


def _usage(tokens: Any) -> dict[str, Any] | None:
    """Add up the counts: of the input that was not cached, of the output, and of the input that was cached."""
    if tokens is None:
        return None
    fresh, answered, cached = tokens
    asked = fresh + cached
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
        "cached_tokens": cached,
    }
