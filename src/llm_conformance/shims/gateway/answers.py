"""Convert a gateway's answers to canonical responses and stream events. Chunks are folded as in OpenAI's own SDK."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_conformance.shims import chat
from llm_conformance.shims.gateway.requests import EXTRA
from llm_conformance.shims.native import Answer

Event = dict[str, Any]


class MalformedAnswerError(Exception):
    """The gateway's answer has a success status but is not a chat completion."""


@dataclass(frozen=True)
class Asked:
    """The parts of a call that `shims.chat` reads, and the capabilities of the gateway."""

    provider: str
    api: str
    params: Mapping[str, Any]
    capabilities: Collection[str]
    finish: Mapping[str, str]


def whole(completion: Any, call: Asked, reasoning: Iterable[str]) -> Answer:
    """Return a plain answer. Raises MalformedAnswerError."""
    try:
        message = completion["choices"][0]["message"]
        made = chat.answer(completion, call, reasoning=(), finish={**chat.FINISH, **call.finish})
    except (LookupError, TypeError) as error:
        raise MalformedAnswerError(f"no chat completion: {type(error).__name__}: {error}") from error
    made["reasoning"] = "".join(texts(message, reasoning)) or None
    made["extras"] = {EXTRA: message}
    if made["usage"] and made["usage"]["cache_write_tokens"] is None:  # gateways use Anthropic's name
        made["usage"]["cache_write_tokens"] = made["usage"]["raw"].get("cache_creation_input_tokens")
    if call.api != "chat":  # OpenAI's form requires a time, so gateways make one up if the API sends none
        made["created"] = None
    made.update(_nothing(call.capabilities))
    return made


def _nothing(capabilities: Collection[str]) -> dict[str, Any]:
    """Return empty values for the fields of capabilities that the gateway does not declare."""
    made: dict[str, Any] = {}
    if "annotations" not in capabilities:
        made["annotations"] = []
    if "audio" not in capabilities:
        made["attachments"] = []
    if "raw_finish" not in capabilities:
        made["raw_finish_reason"] = None
    return made


class Fold:
    """Folds the chunks of a stream; `reasoning` are the places of the reasoning in a delta."""

    def __init__(self, call: Asked, reasoning: Sequence[str]) -> None:
        self._call, self._reasoning = call, reasoning
        self._whole: dict[str, Any] = {}
        self._message: dict[str, Any] = {}
        self._word: str | None = None
        self._ids: dict[Any, Any] = {}

    @property
    def has_ended(self) -> bool:
        """Whether a finish reason has come."""
        return self._word is not None

    def add(self, chunk: Any) -> Iterator[Event]:
        """Yield the events of a chunk. Raises MalformedAnswerError."""
        try:
            head = {key: value for key, value in chunk.items() if key != "choices" and value not in (None, "")}
            self._whole = {**head, **self._whole, **{key: head[key] for key in ("usage",) if key in head}}
            for choice in chunk.get("choices") or ():
                if choice.get("index") or not isinstance(choice, Mapping):
                    continue
                delta = choice.get("delta") or {}
                for position, piece in enumerate(delta.get("tool_calls") or ()):
                    piece.setdefault("index", position)
                accumulate(self._message, delta)
                self._word = choice.get("finish_reason") or self._word
                for text in texts(delta, self._reasoning):
                    yield {"event_type": "response.reasoning.delta", "delta": text}
                yield from map(self._identified, chat.deltas(delta, reasoning=()))
        except (AttributeError, LookupError, TypeError) as error:
            raise MalformedAnswerError(f"no chunk: {type(error).__name__}: {error}") from error

    def _identified(self, event: Event) -> Event:
        """Return a piece of a call with the id of the call's first piece."""
        if piece := event.get("tool_call"):
            piece["id"] = self._ids.setdefault(piece["index"], piece["id"])
        return event

    def end(self, places: Iterable[str]) -> Event:
        """Return the last event, with the reasoning at these places of the whole message.

        Raises MalformedAnswerError.
        """
        message = {"role": "assistant", "content": None, **self._message}
        for each in message.get("tool_calls") or ():
            each.pop("index", None)
            each.setdefault("type", "function")
        if isinstance(blocks := message.get("content_blocks"), list):
            message["content_blocks"] = list(map(_block, blocks))
        choice = {"index": 0, "message": message, "finish_reason": self._word}
        completion = {**self._whole, "object": "chat.completion", "choices": [choice]}
        return {"event_type": "response.completed", "response": whole(completion, self._call, places)}


def _block(block: Any) -> Any:
    """Return a content block in the form of a plain answer.

    This adds its type, because pieces of a stream have no type.
    """
    delta = block.get("delta") if isinstance(block, Mapping) else None
    if not isinstance(delta, Mapping):
        return block
    kinds = {"thinking": "thinking", "signature": "thinking", "data": "redacted_thinking", "text": "text"}
    kind = next((kinds[key] for key in delta if key in kinds), None)
    return {"type": kind, **delta}


def accumulate(whole: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a delta to a message as OpenAI's SDKs do: join texts, and merge list items by their index."""
    for key, value in delta.items():
        own = whole.get(key)
        if own is None or (key in ("index", "type", "role") and value is not None):
            whole[key] = _entered(value)
        elif isinstance(own, str) and isinstance(value, str):
            whole[key] = own if key == "id" else own + value
        elif isinstance(own, dict) and isinstance(value, Mapping):
            accumulate(own, value)
        elif isinstance(own, list) and isinstance(value, list):
            for each in value:
                _append(own, each)
        elif value is not None:
            whole[key] = value


def _entered(value: Any) -> Any:
    if isinstance(value, list):
        made: list[Any] = []
        for each in value:
            _append(made, each)
        return made
    return dict(value) if isinstance(value, Mapping) else value


def _append(items: list[Any], value: Any) -> None:
    index = value.get("index") if isinstance(value, Mapping) else None
    same = next((each for each in items if index is not None and each.get("index") == index), None)
    if same is None:
        items.append(_entered(value))
    else:
        accumulate(same, value)


def texts(value: Any, places: Iterable[str]) -> Iterator[str]:
    """Yield the texts at the first place that has texts.

    A place is names joined by `/`, with `*` for each item of a list.
    """
    for place in places:
        found = [each for each in _at(value, place.split("/")) if isinstance(each, str) and each]
        if found:
            yield from found
            return


def _at(value: Any, names: Sequence[str]) -> Iterator[Any]:
    if not names:
        yield value
    elif names[0] == "*" and isinstance(value, list):
        for each in value:
            yield from _at(each, names[1:])
    elif isinstance(value, Mapping) and names[0] in value:
        yield from _at(value[names[0]], names[1:])
