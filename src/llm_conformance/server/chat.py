"""Read a chat completion, plain or streamed, into its choices.

Reading is lenient: what has another type than documented is left out, as a rule about shapes reports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llm_conformance.rules.violation import Blocked
from llm_conformance.server.exchange import Exchange

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""The names of the field that has reasoning: DeepSeek's, and that of OpenRouter and of current vLLM."""
_CONTENT = ("content", "refusal", "tool_calls", *REASONING_FIELDS)


@dataclass
class ToolCall:
    """A tool call. `pieces` are its parts in a stream, as they were sent."""

    id: str = ""
    type: str = ""
    name: str = ""
    arguments: str = ""
    pieces: list[Mapping[str, Any]] = field(default_factory=list)


@dataclass
class Choice:
    """A choice.

    Attributes:
        texts: The text; of a stream its pieces.
        reasonings: The reasoning, likewise.
        calls: The tool calls in order; of a stream by their index.
        finish: The finish words that are not null.
        after_finish: What a stream still sends behind its finish word.
        logprobs: What is said of each token.
    """

    index: Any
    texts: list[str] = field(default_factory=list)
    reasonings: list[str] = field(default_factory=list)
    calls: dict[Any, ToolCall] = field(default_factory=dict)
    finish: list[str] = field(default_factory=list)
    after_finish: list[str] = field(default_factory=list)
    logprobs: list[Any] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.texts)

    @property
    def reasoning(self) -> str:
        """The whole reasoning."""
        return "".join(self.reasonings)

    @property
    def is_cut(self) -> bool:
        """Whether the limit on tokens has cut it off."""
        return "length" in self.finish


def choices(exchange: Exchange) -> Sequence[Choice]:
    """Return the choices in the order in which they come. Raises Blocked if the answer cannot be read."""
    if exchange.streamed:
        found: dict[Any, Choice] = {}
        for chunk in exchange.chunks:
            for entry in objects(chunk.get("choices")):
                index = entry.get("index")
                key = index if isinstance(index, int) else 0
                _read_delta(found.setdefault(key, Choice(key)), entry)
        return tuple(found.values())
    return tuple(_of_message(entry) for entry in objects(exchange.document.get("choices")))


def only_choice(exchange: Exchange) -> Choice:
    """Return the first choice. Raises Blocked if there is none."""
    found = choices(exchange)
    if not found:
        raise Blocked("the answer has no choice; SRV-4 reports that")
    return found[0]


def usages(exchange: Exchange) -> list[Mapping[str, Any]]:
    """Return the objects with token counts, in order."""
    documents = exchange.chunks if exchange.streamed else (exchange.document,)
    return [each["usage"] for each in documents if isinstance(each.get("usage"), Mapping)]


def last_usage(exchange: Exchange) -> Mapping[str, Any] | None:
    """Return the last token counts; None if there are none."""
    return next(iter(usages(exchange)[::-1]), None)


def count(usage: Mapping[str, Any] | None, name: str) -> int | None:
    """Return a token count; None if there is none."""
    value = None if usage is None else usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list; none if it is no list."""
    yield from (each for each in (value if isinstance(value, list) else ()) if isinstance(each, Mapping))


def _of_message(entry: Mapping[str, Any]) -> Choice:
    choice = Choice(entry.get("index"))
    message = entry.get("message")
    if not isinstance(message, Mapping):
        raise Blocked("a choice has no `message`; WIRE-7 reports that")
    _read_texts(choice, message)
    for number, call in enumerate(objects(message.get("tool_calls"))):
        choice.calls[number] = _add(ToolCall(), call)
    _read_finish(choice, entry)
    return choice


def _read_delta(choice: Choice, entry: Mapping[str, Any]) -> None:
    delta = entry.get("delta")
    if not isinstance(delta, Mapping):
        raise Blocked("a choice of a chunk has no `delta`; WIRE-8 reports that")
    if choice.finish:
        choice.after_finish += [name for name in _CONTENT if delta.get(name)]
    _read_texts(choice, delta)
    for call in objects(delta.get("tool_calls")):
        index = call.get("index")
        key = index if isinstance(index, int) else 0
        _add(choice.calls.setdefault(key, ToolCall()), call)
    _read_finish(choice, entry)


def _read_finish(choice: Choice, entry: Mapping[str, Any]) -> None:
    if isinstance(entry.get("finish_reason"), str):
        choice.finish.append(entry["finish_reason"])
    logprobs = entry.get("logprobs")
    if isinstance(logprobs, Mapping) and isinstance(logprobs.get("content"), list):
        choice.logprobs += logprobs["content"]


def _read_texts(choice: Choice, message: Mapping[str, Any]) -> None:
    content = message.get("content")
    if isinstance(content, str) and content:
        choice.texts.append(content)
    reasoning = next((message[name] for name in REASONING_FIELDS if isinstance(message.get(name), str)), "")
    if reasoning:
        choice.reasonings.append(reasoning)


def _add(call: ToolCall, piece: Mapping[str, Any]) -> ToolCall:
    """Add a piece to a call, as clients do: what is there twice is joined."""
    call.pieces.append(piece)
    function = piece.get("function")
    inner = function if isinstance(function, Mapping) else {}
    call.id += _text(piece.get("id"))
    call.type = _text(piece.get("type")) or call.type
    call.name += _text(inner.get("name"))
    call.arguments += _text(inner.get("arguments"))
    return call


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
