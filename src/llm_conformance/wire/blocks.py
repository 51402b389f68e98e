"""Read the blocks of an answer in wire order, for formats with blocks. Each becomes a segment with its opaque data.

Like `answers`, this shares no code with adapters. Unlike the read rules, it knows which types of blocks a format has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api

Kind = Literal["text", "reasoning", "tool_call", "other"]
Fields = dict[str, Any]
TEXTS: tuple[Kind, ...] = ("text", "reasoning")
"""The kinds of blocks whose content is compared."""


@dataclass(frozen=True)
class Block:
    """A block of an answer.

    Attributes:
        kind: The type of its segment; None if the suite does not know the type of the block.
        name: The type of the block.
        content: Its text or its reasoning.
        opaque: Data that only the provider understands, under the keys of the segment's metadata.
    """

    kind: Kind | None
    name: str
    content: str = ""
    opaque: Mapping[str, Any] = field(default_factory=dict)


def blocks(interaction: Interaction, api: Api) -> list[Block] | None:
    """Return the blocks of an answer; None if its format has no blocks, or if the blocks cannot be told apart.

    Raises one of `answers.SHAPELESS` if the response is malformed.
    """
    read = _READERS.get(api.wire)
    if read is None or _has_unknown_event(interaction, api.wire):
        return None
    try:
        return list(_without_media(read(interaction)))
    except _UndecidedError:
        return None


_EVENTS: Mapping[str, re.Pattern[str]] = {
    # https://docs.claude.com/en/docs/build-with-claude/streaming
    "messages": re.compile("message_(?:start|delta|stop)|content_block_(?:start|delta|stop)|ping|error"),
    # https://platform.openai.com/docs/api-reference/responses-streaming
    "responses": re.compile(
        r"error|keepalive|response[.](?:created|queued|in_progress|completed|failed|incomplete)"
        r"|response[.](?:output_item|content_part|output_text|refusal|reasoning\w*|function_call_arguments|audio)[.].+"
        r"|response[.](?:\w+_call(?:_\w+)?|mcp_list_tools)[.].+"
    ),
}
"""Maps a wire format to a pattern of the event types that its streams have."""


def _has_unknown_event(interaction: Interaction, wire: str) -> bool:
    """Return True if a stream has an event of unknown type.

    For such an event, an adapter may return a segment of its own or add to another segment.
    """
    known = _EVENTS.get(wire)
    if known is None or not interaction.streamed:
        return False
    return any(not known.fullmatch(str(event.get("type"))) for event in answers.documents(interaction))


class _UndecidedError(Exception):
    """The blocks cannot be told apart, or some are media.

    An adapter may return media only as attachments, or also as segments.
    """


_MEDIA = frozenset({"audio", "document", "fileData", "image", "inlineData", "output_audio", "video"})
"""Names of blocks with media, in all formats."""


def _without_media(blocks: Iterator[Block]) -> Iterator[Block]:
    for each in blocks:
        if each.name in _MEDIA:
            raise _UndecidedError
        yield each


def has_other_parts(interaction: Interaction) -> bool:
    """Return True if the content of a chat completion is a list with parts other than text and thinking."""
    for document in answers.documents(interaction):
        for choice in document.get("choices") or ():
            content = (choice.get("delta" if interaction.streamed else "message") or {}).get("content")
            if isinstance(content, list) and any(part.get("type") not in _CHAT for part in content):
                return True
    return False


_CHAT = ("text", "thinking", "reasoning")


_MESSAGES: Mapping[str, Kind] = {
    "text": "text",
    "thinking": "reasoning",
    "redacted_thinking": "reasoning",
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use"), "tool_call"),
    **dict.fromkeys(("compaction", "container_upload", "fallback", "mcp_tool_listing"), "other"),
}


def _of_messages(interaction: Interaction) -> Iterator[Block]:
    for each in _blocks_of_messages(interaction):
        name = str(each.get("type"))
        known = _MESSAGES.get(name, "other" if name.endswith("_tool_result") else None)
        content = str(each.get("text" if name == "text" else "thinking") or "") if known in TEXTS else ""
        yield Block(known, name, content, _opaque(signature=each.get("signature"), redacted=each.get("data")))


def _blocks_of_messages(interaction: Interaction) -> list[Fields]:
    found: dict[int, Fields] = {}
    for document in answers.documents(interaction):
        whole = document.get("message", {}) if document.get("type") == "message_start" else document
        found.update(enumerate(dict(each) for each in whole.get("content") or ()))
        if document.get("type") == "content_block_start":
            found[document["index"]] = dict(document["content_block"])
        delta = document.get("delta", {}) if document.get("type") == "content_block_delta" else {}
        for name in ("text", "thinking", "signature"):
            if delta.get(name):
                block = found[document["index"]]
                block[name] = (block.get(name) or "") + delta[name]
    return [found[index] for index in sorted(found)]


_CONVERSE: Mapping[str, Kind] = {
    **dict.fromkeys(("text", "citationsContent"), "text"),
    "reasoningContent": "reasoning",
    "toolUse": "tool_call",
    "toolResult": "other",
    "": "text",  # a block without deltas, or with citations only
}


def _of_converse(interaction: Interaction) -> Iterator[Block]:
    for each in _blocks_of_converse(interaction):
        name = next((key for key in each if key in _CONVERSE), next(iter(each), ""))
        reasoning = each.get("reasoningContent") or {}
        thought = reasoning.get("reasoningText") or {}
        cited = (part.get("text") or "" for part in (each.get("citationsContent") or {}).get("content") or ())
        texts = {"text": each.get("text") or "", "citationsContent": "".join(cited)}
        content = texts.get(name, "") if name != "reasoningContent" else thought.get("text") or ""
        opaque = _opaque(signature=thought.get("signature"), redacted=reasoning.get("redactedContent"))
        yield Block(_CONVERSE.get(name), name, content, opaque)


def _blocks_of_converse(interaction: Interaction) -> list[Fields]:
    if not interaction.streamed:
        return [
            each for document in answers.documents(interaction) for each in document["output"]["message"]["content"]
        ]
    found: dict[int, Fields] = {}
    for document in answers.documents(interaction):
        if started := document.get("contentBlockStart"):
            found[started["contentBlockIndex"]] = dict(started.get("start") or {})
        if piece := document.get("contentBlockDelta"):
            _add_piece(found.setdefault(piece["contentBlockIndex"], {}), piece["delta"])
    return [found[index] for index in sorted(found)]


def _add_piece(block: Fields, delta: Mapping[str, Any]) -> None:
    """Add a delta to a block. After its last delta, the block is like one of an answer without a stream."""
    for name, value in delta.items():
        if name == "text":
            block["text"] = block.get("text", "") + value
        elif name == "reasoningContent":
            own = block.setdefault("reasoningContent", {})
            thought = own.setdefault("reasoningText", {})
            for key in ("text", "signature"):
                thought[key] = thought.get(key, "") + (value.get(key) or "")
            own["redactedContent"] = own.get("redactedContent", "") + (value.get("redactedContent") or "")
        elif name not in ("toolUse", "citation"):
            block.setdefault(name, value)


_RESPONSES: Mapping[str, Kind] = {
    "reasoning": "reasoning",
    **dict.fromkeys(("compaction", "mcp_list_tools", "program_output"), "other"),
    "program": "tool_call",
}

_PARTS: Mapping[str, Kind] = {"output_text": "text", "refusal": "other"}


def _of_responses(interaction: Interaction) -> Iterator[Block]:
    for item in _items(interaction):
        name = str(item.get("type"))
        if name == "message":
            for part in item.get("content") or ():
                name = str(part.get("type"))
                yield Block(_PARTS.get(name), name, part.get("text") or "")
        elif name == "reasoning":
            yield from _of_reasoning(item)
        else:
            is_call, is_output = name.endswith("_call"), name.endswith(("_output", "_result"))
            yield Block("tool_call" if is_call else "other" if is_output else _RESPONSES.get(name), name)


def _of_reasoning(item: Fields) -> Iterator[Block]:
    """Yield a block for each part of the summary, or else of the content. The last one has the encrypted content."""
    parts = [str(part.get("text") or "") for part in (item.get("summary") or item.get("content") or ())] or [""]
    for text in parts[:-1]:
        yield Block("reasoning", "reasoning", text)
    yield Block("reasoning", "reasoning", parts[-1], _opaque(encrypted=item.get("encrypted_content")))


def _items(interaction: Interaction) -> list[Fields]:
    """Return the items of an answer. A stream has them in its `response.output_item.done` events.

    The last event of a stream repeats the reasoning, and may encrypt it differently. Both encrypted contents are valid,
    so neither is expected.
    """
    documents = [*answers.documents(interaction)]
    if not interaction.streamed:
        return [each for document in documents for each in document.get("output") or ()]
    done = [each for each in documents if each.get("type") == "response.output_item.done"]
    if all("output_index" in each for each in done):  # llama.cpp sends no index
        done.sort(key=lambda each: int(each["output_index"]))
    whole = [each for document in documents for each in (document.get("response") or {}).get("output") or ()]
    last: dict[Any, list[str | None]] = {}  # by id; several items of xAI may share one
    for each in whole:
        last.setdefault(each.get("id"), []).append(each.get("encrypted_content"))
    return [_with_one_seal(each["item"], last.get(each["item"].get("id"), [])) for each in done]


def _with_one_seal(item: Fields, last: list[str | None]) -> Fields:
    """Return an item, without its encrypted content if the last event encrypts the item differently."""
    sealed_anew = any(last) and item.get("encrypted_content") not in last
    return {**item, "encrypted_content": None} if sealed_anew else item


_GEMINI: Mapping[str, Kind] = {
    "text": "text",
    **dict.fromkeys(("functionCall", "executableCode", "toolCall"), "tool_call"),
    **dict.fromkeys(("codeExecutionResult", "toolResponse"), "other"),
}


def _of_gemini(interaction: Interaction) -> Iterator[Block]:
    """Yield the parts. In a stream, text and thoughts without a signature continue in the parts of later chunks."""
    last: Block | None = None
    for part, is_first in _parts(interaction):
        if "functionCall" in part and not part["functionCall"].get("name"):
            continue  # further arguments of the last call
        own = _of_part(part)
        goes_on = last is not None and last.kind == own.kind and own.kind in TEXTS and not last.opaque
        if last is None:
            last = own
        elif not (goes_on and interaction.streamed) or (own.opaque and not own.content):
            yield last
            last = own
        elif is_first:
            last = replace(own, content=last.content + own.content)
        else:
            raise _UndecidedError
    if last is not None:
        yield last


def _of_part(part: Fields) -> Block:
    names = [key for key in part if key not in ("thought", "thoughtSignature")] or ["text"]
    name = next((key for key in names if key in _GEMINI), names[0])
    kind = "reasoning" if part.get("thought") and name == "text" else _GEMINI.get(name)
    return Block(kind, name, str(part.get("text") or ""), _opaque(signature=part.get("thoughtSignature")))


def _parts(interaction: Interaction) -> Iterator[tuple[Fields, bool]]:
    """Yield (part, whether it is the first of its document) for each part of the first candidate."""
    for document in answers.documents(interaction):
        for candidate in document.get("candidates") or ():
            if not candidate.get("index"):
                for number, part in enumerate((candidate.get("content") or {}).get("parts") or ()):
                    yield part, number == 0


def _opaque(**values: Any) -> Mapping[str, Any]:
    return {key: value for key, value in values.items() if value}


_READERS: Mapping[str, Callable[[Interaction], Iterator[Block]]] = {
    "messages": _of_messages,
    "converse": _of_converse,
    "responses": _of_responses,
    "gemini": _of_gemini,
}
