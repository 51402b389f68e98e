"""A server of Ollama's chat on the loopback that does everything as it is documented.

A request is read as one of chat completions, for the model of the reference server. What is written is Ollama's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.servers.reference import MODEL, Answer, Json, Reference, RefusalError, Reply, tokens_of

CREATED = "2026-11-24T08:00:00.123456789Z"


class OllamaReference(Reference):
    """The reference server of Ollama's chat."""

    api = "ollama"

    # What is refused

    def refusal(self, refusal: RefusalError) -> Reply:
        content_type = "application/json; charset=utf-8"
        return Reply(refusal.status, content_type, [self.written(self.error(refusal)).encode()])

    def error(self, refusal: RefusalError) -> Json:
        return {"error": str(refusal)}

    def request_of(self, key: str, content: bytes) -> Json:
        request = super().request_of(key, content)
        return {"stream": True, **request}

    # What the model says

    def answers(self, request: Json) -> list[Answer]:
        given = super().answers(self.as_chat(request))
        return [replace(each, reasoning=each.reasoning if request.get("think") else "") for each in given]

    def as_chat(self, request: Json) -> Json:
        """Return a request of chat completions that asks the model for the same."""
        options = request.get("options", {})
        return {**request, "max_tokens": options["num_predict"], "stop": options.get("stop")}

    def called(self, request: Json, text: str) -> Answer:
        return replace(super().called(request, text), finish="stop")

    # How it is written

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        return {**self.object(self.message(answers[0])), **self.end(answers[0])}

    def object(self, message: Json) -> Json:
        return {"model": MODEL, "created_at": CREATED, "message": {"role": "assistant", **message}, "done": False}

    def end(self, answer: Answer) -> Json:
        """Return what the last object says besides a message."""
        return {"done": True, "done_reason": answer.finish, **self.durations(answer), **self.counted(answer)}

    def durations(self, answer: Answer) -> Json:
        parts = {"load_duration": 10_000, "prompt_eval_duration": 20_000, "eval_duration": 60_000}
        return {"total_duration": 100_000, **parts}

    def counted(self, answer: Answer) -> Json:
        return {"prompt_eval_count": answer.asks, "eval_count": answer.tokens}

    def message(self, answer: Answer) -> Json:
        thinking = {"thinking": answer.reasoning} if answer.reasoning else {}
        calls = [self.call(number, name, arguments) for number, (name, arguments) in enumerate(answer.calls)]
        return {"content": answer.text, **thinking, **({"tool_calls": calls} if calls else {})}

    def call(self, number: int, name: str, arguments: str) -> Json:
        return {"function": {"index": number, "name": name, "arguments": json.loads(arguments)}}

    def stream(self, request: Json, answers: Sequence[Answer]) -> Reply:
        return Reply(200, "application/x-ndjson", self.frames(self.chunks(request, answers)))

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        objects = [self.object(each) for each in self.deltas(answers[0])]
        return [*objects, {**self.object({"content": ""}), **self.end(answers[0])}]

    def deltas(self, answer: Answer) -> Iterator[Json]:
        yield from ({"content": "", "thinking": each} for each in tokens_of(answer.reasoning))
        yield from ({"content": each} for each in tokens_of(answer.text))
        for number, (name, arguments) in enumerate(answer.calls):
            yield {"content": "", "tool_calls": [self.call(number, name, arguments)]}

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return [self.frame(self.written(each)) for each in chunks]

    def frame(self, data: str) -> bytes:
        return f"{data}\n".encode()
