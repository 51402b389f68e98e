"""Convert chat completions, as OpenAI's SDK and many other libraries return them, to the suite's shape.

This is for libraries whose objects have OpenAI's field names. If a library has a helper that folds chunks, use that
helper, and `answer` for its result. Otherwise, use `Fold`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from llm_conformance.shims.native import Answer, fields

Event = dict[str, Any]

# OpenAI's finish words. Add a library's own with `{**FINISH, "abort": "error"}`.
FINISH: Mapping[str, str] = {
    **{"stop": "stop", "length": "length", "tool_calls": "tool_calls", "function_call": "tool_calls"},
    "content_filter": "content_filter",
}
# Maps `audio.format` of a request to the MIME type. The answer does not state a type.
AUDIO: Mapping[str, str] = {
    **{"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/opus", "aac": "audio/aac"},
    "pcm16": "audio/pcm",
}
REASONING = ("reasoning_content", "reasoning")
_CACHE_WRITES = ("cache_write_tokens", "cache_creation_tokens")


def answer(
    completion: Any, call: Any, *, reasoning: Sequence[str] = REASONING, finish: Mapping[str, str] = FINISH
) -> Answer:
    """Return a plain answer: the first choice of a chat completion.

    Args:
        completion: The library's object.
        call: The call that the suite makes.
        reasoning: The names of the message's fields that may hold its reasoning.
        finish: Maps the provider's finish words to finish reasons.

    Returns:
        The canonical response. Its `native` is the completion; its `turn`, the message of the completion.

    Raises:
        LookupError, TypeError: The completion has no choice or no id. Callers of the library would get the same error.
    """
    whole = fields(completion)
    choice = fields(whole["choices"][0])
    made = _answer(whole, fields(choice["message"]), choice.get("finish_reason"), call, reasoning, finish)
    made.native, made.turn = completion, getattr(_first(completion), "message", None) or choice["message"]
    return made


def deltas(delta: Any, *, reasoning: Sequence[str] = REASONING) -> Iterator[Event]:
    """Yield the stream events of one `choices[0].delta`."""
    said = fields(delta)
    if trace := _first_text(said, reasoning):
        yield {"event_type": "response.reasoning.delta", "delta": trace}
    if said.get("content"):
        yield {"event_type": "response.output_text.delta", "delta": said["content"]}
    for piece in _pieces(said):
        name, given = _named(piece)
        whose = {"index": piece["index"], "id": piece.get("id") or None, "name": name}
        yield {"event_type": "response.function_call_arguments.delta", "delta": given, "tool_call": whose}
    if said.get("audio"):
        yield {"event_type": "response.media", "attachment": fields(said["audio"])}


class Fold:
    """Folds the chunks of a stream, for libraries that have no helper for it.

    `add` returns the events of a chunk. After the library's iterator has ended, `end` returns the last event, or
    nothing if there were no chunks. Pieces of tool calls are joined by their index. A piece with a new id starts a new
    call, because some servers give all calls of an answer the same index.
    """

    def __init__(self, call: Any, *, reasoning: Sequence[str] = REASONING, finish: Mapping[str, str] = FINISH) -> None:
        self._call, self._reasoning, self._finish = call, reasoning, finish
        self._chunks: list[Any] = []
        self._head: dict[str, Any] = {}
        self._message: dict[str, Any] = {"role": "assistant", "content": ""}
        self._calls: list[dict[str, Any]] = []
        self._last: dict[Any, int] = {}  # maps the provider's index to the number of the last call with it
        self._word: str | None = None

    def add(self, chunk: Any) -> list[Event]:
        """Return the events of a chunk."""
        said = fields(chunk)
        self._chunks.append(chunk)
        self._head = {name: self._head.get(name) or said.get(name) for name in ("id", "model", "created")} | {
            "usage": said.get("usage") or self._head.get("usage")
        }
        events: list[Event] = []
        for choice in map(fields, said.get("choices") or ()):
            if choice.get("index", 0) == 0:
                self._word = choice.get("finish_reason") or self._word
                delta = self._numbered(fields(choice["delta"]))
                self._add(delta)
                events += deltas(delta, reasoning=self._reasoning)
        return events

    def end(self) -> list[Event]:
        """Return the last event, with the whole answer."""
        if not self._chunks:
            return []
        message = self._message
        if self._calls:
            message = {**message, "tool_calls": self._calls}
        made = _answer(self._head, message, self._word, self._call, self._reasoning, self._finish)
        made.native, made.turn = self._chunks, message
        return [{"event_type": "response.completed", "response": made}]

    def _add(self, delta: Mapping[str, Any]) -> None:
        for name in ("content", "refusal", *self._reasoning):
            if delta.get(name):
                self._message[name] = self._message.get(name, "") + delta[name]
        if delta.get("annotations"):
            self._message["annotations"] = [*self._message.get("annotations", ()), *delta["annotations"]]
        for piece in _pieces(delta):
            own = self._calls[piece["index"]]
            title, given = _named(piece)
            own["function"]["name"] += title or ""
            own["function"]["arguments"] += given or ""

    def _numbered(self, delta: Mapping[str, Any]) -> dict[str, Any]:
        """Return a delta in which the index of each piece of a tool call is the number of its call."""
        pieces = [{**each, "index": self._number(each)} for each in _pieces(delta)]
        return {**delta, "tool_calls": pieces, "function_call": None}

    def _number(self, piece: Mapping[str, Any]) -> int:
        id, index = piece.get("id") or None, piece.get("index")
        known = self._last.get(index)
        if known is not None and id in (None, self._calls[known]["id"] or id):
            self._calls[known]["id"] = self._calls[known]["id"] or id
            return known
        self._last[index] = len(self._calls)
        self._calls.append({"id": id, "type": "function", "function": {"name": "", "arguments": ""}})
        return self._last[index]


def counts(usage: Any) -> dict[str, Any] | None:
    """Return the token counts of a usage object; None if there is none. A missing count is None."""
    if usage is None:
        return None
    own = fields(usage)
    prompt = fields(own.get("prompt_tokens_details") or {})
    completion = fields(own.get("completion_tokens_details") or {})
    return {
        **{name: own.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")},
        "cached_tokens": prompt.get("cached_tokens"),
        "cache_write_tokens": next((prompt[name] for name in _CACHE_WRITES if prompt.get(name) is not None), None),
        "reasoning_tokens": completion.get("reasoning_tokens"),
        "audio_prompt_tokens": prompt.get("audio_tokens"),
        "audio_completion_tokens": completion.get("audio_tokens"),
        "raw": own,
    }


def annotation(native: Any, base: int = 0, length: int | None = None) -> dict[str, Any]:
    """Return a citation. Its fields are beside its `type`, or in an object that has the type as its name.

    Its offsets count in a text that starts at `base` and has `length` code points. Libraries do not check this, so
    offsets may be outside that text. The citation then has no place.
    """
    own = {name: value for name, value in fields(native).items() if value is not None}
    inner = own.pop(str(own.get("type")), {})
    data = {**own, **{name: value for name, value in fields(inner).items() if value is not None}}
    start, end = data.pop("start_index", None), data.pop("end_index", None)
    if start is None or end is None or (length is not None and not 0 <= start <= end <= length):
        return {"start": None, "end": None, "data": data}
    return {"start": base + start, "end": base + end, "data": data}


def segments(answer: Mapping[str, Any], refusal: str | None = None) -> list[dict[str, Any]]:
    """Return the segments of an answer with separate fields for text, refusal and tool calls."""
    found = [{"type": "text", "content": answer["message"]}] if answer["message"] else []
    found += [{"type": "other", "content": refusal, "metadata": {"kind": "refusal"}}] if refusal else []
    return [*found, *({"type": "tool_call", "content": each["arguments"]} for each in answer["tool_calls"])]


def tool_choice(choice: Mapping[str, Any]) -> str | Mapping[str, Any]:
    """Convert Claude's `tool_choice` to OpenAI's form, for libraries that take OpenAI's form for all providers.

    Raises NotImplementedError for a choice with fields that OpenAI's form does not have.
    """
    match choice:
        case {"type": "tool", "name": str(name)} if len(choice) == 2:
            return {"type": "function", "function": {"name": name}}
        case {"type": "auto" | "any" | "none" as kind} if len(choice) == 1:
            return "required" if kind == "any" else str(kind)
    raise NotImplementedError(f"the library has no tool choice with {', '.join(choice)}")


def tool_call(native: Any) -> dict[str, Any]:
    """Return a whole tool call of a function or a custom tool."""
    made = fields(native)
    name, given = _named(made)
    kind = {"type": "custom"} if made.get("custom") else {}
    return {"id": made.get("id") or None, "name": name, "arguments": given or "{}", **kind}


def audio_type(call: Any) -> str | None:
    """Return the MIME type of the audio in an answer. Only the request states it."""
    return AUDIO.get(str((call.params.get("audio") or {}).get("format")))


def _answer(
    whole: Mapping[str, Any],
    message: Mapping[str, Any],
    word: str | None,
    call: Any,
    reasoning: Sequence[str],
    finish: Mapping[str, str],
) -> Answer:
    refusal, created = message.get("refusal"), whole.get("created")
    calls = [tool_call(each) for each in message.get("tool_calls") or ()]
    if message.get("function_call"):
        calls.append(tool_call({"function": message["function_call"]}))
    sound, text = message.get("audio"), message.get("content") or ""
    return Answer(
        id=whole["id"],
        provider=call.provider,
        model=whole.get("model"),
        created=datetime.fromtimestamp(created, UTC).isoformat() if created else None,
        message=text,
        reasoning=_first_text(message, reasoning),
        annotations=[annotation(each, length=len(text)) for each in message.get("annotations") or ()],
        attachments=[{"type": audio_type(call), **fields(sound)}] if sound else [],
        tool_calls=calls,
        usage=counts(whole.get("usage")),
        finish_reason="content_filter" if refusal else finish.get(word or ""),
        raw_finish_reason=word,
    )


def _first(completion: Any) -> Any:
    choices = getattr(completion, "choices", None)
    return choices[0] if choices else None


def _first_text(message: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((message[name] for name in names if isinstance(message.get(name), str) and message[name]), None)


def _pieces(delta: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield from map(fields, delta.get("tool_calls") or ())
    if delta.get("function_call"):
        yield {"index": 0, "function": delta["function_call"]}


def _named(made: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return (name, arguments) of a tool call or of a piece of one."""
    own = fields(made.get("custom") or made.get("function") or {})
    return own.get("name"), own.get("input") or own.get("arguments")
