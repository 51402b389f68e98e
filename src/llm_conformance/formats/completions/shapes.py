"""The documents of text completions in the shapes of their makers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llm_conformance.generate.answers import Answer
from llm_conformance.generate.generator import CREATED

Fields = dict[str, Any]

Whole = Callable[[Answer], Fields]
Piece = Callable[[Answer, str, Fields], Fields]
"""Returns the chunk with a piece of the text.

The fields are {`word`: finish word} for the last chunk; for other chunks, {} or {`word`: None}.
"""


def _head(answer: Answer) -> Fields:
    return {"id": answer.id, "object": "text_completion", "created": CREATED, "model": answer.model}


def _choices(answer: Answer) -> Fields:
    choice = {"index": 0, "text": answer.sent, "finish_reason": answer.word}
    usage = {"usage": answer.counts.raw} if answer.counts.usage else {}
    return {**_head(answer), "choices": [choice], **usage}


def _choice(answer: Answer, text: str, finish: Fields) -> Fields:
    return {**_head(answer), "choices": [{"index": 0, "text": text, **_as("finish_reason", finish)}]}


def _completion(answer: Answer) -> Fields:
    return _event(answer, answer.sent, {"word": answer.word})


def _event(answer: Answer, text: str, finish: Fields) -> Fields:
    fields = {"type": "completion", "completion": text, **_as("stop_reason", finish), "stop": None}
    own = {"id": answer.id, "log_id": answer.id, "model": answer.model} if answer.id else {}
    return {**fields, **own}


def _response(answer: Answer) -> Fields:
    thinking = {"thinking": answer.reasoning} if answer.reasoning else {}
    line = _line(answer, answer.sent, {"word": answer.word})
    return {**line, **thinking, **answer.counts.raw}


def _line(answer: Answer, text: str, finish: Fields) -> Fields:
    end = {"done": True, "done_reason": finish["word"], "context": [1, 2], **_DURATIONS} if finish.get("word") else {}
    return {"model": answer.model, "created_at": "2025-11-04T09:12:40.820116Z", "response": text, "done": False, **end}


_DURATIONS = dict.fromkeys(("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"), 7)


def _generation(answer: Answer) -> Fields:
    return {"generation": answer.sent, **answer.counts.raw, "stop_reason": answer.word}


def _generated(answer: Answer, text: str, finish: Fields) -> Fields:
    return {"generation": text, **_as("stop_reason", finish)}


def _results(answer: Answer) -> Fields:
    counts = dict(answer.counts.raw)
    own = {"tokenCount": counts.pop("tokenCount")} if "tokenCount" in counts else {}
    return {**counts, "results": [{**own, "outputText": answer.sent, "completionReason": answer.word}]}


def _result(answer: Answer, text: str, finish: Fields) -> Fields:
    return {"outputText": text, "index": 0, **_as("completionReason", finish)}


def _outputs(answer: Answer) -> Fields:
    return _output(answer, answer.sent, {"word": answer.word})


def _output(answer: Answer, text: str, finish: Fields) -> Fields:
    return {"outputs": [{"text": text, **_as("stop_reason", finish)}]}


def _generations(answer: Answer) -> Fields:
    generation = {"id": answer.id, "text": answer.sent, "finish_reason": answer.word}
    return {"id": answer.id, "generations": [generation], "prompt": "(generated)"}


def _part(answer: Answer, text: str, finish: Fields) -> Fields:
    """Return a chunk. The one with the finish word has no text."""
    if finish.get("word"):
        return {"is_finished": True, "index": 0, "finish_reason": finish["word"]}
    return {"is_finished": False, "index": 0, "text": text}


def _as(name: str, finish: Fields) -> Fields:
    return {name: finish["word"]} if "word" in finish else {}


SHAPES: Mapping[str, tuple[Whole, Piece]] = {
    "choices": (_choices, _choice),
    "completion": (_completion, _event),
    "response": (_response, _line),
    "generation": (_generation, _generated),
    "results": (_results, _result),
    "outputs": (_outputs, _output),
    "generations": (_generations, _part),
}
"""Maps a shape to (writer of whole answers, writer of pieces)."""
