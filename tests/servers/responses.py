"""A server of responses on the loopback that does everything as it is documented.

A request is read as one of chat completions, for the model of the reference server. What is written is OpenAI's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.servers.reference import CONTEXT, MODEL, NUMBERS, Answer, Json, Reference, RefusalError, tokens_of


class ResponsesReference(Reference):
    """The reference server of responses."""

    api = "responses"

    # What is refused

    def check(self, request: Json) -> None:
        if not isinstance(request.get("input"), str | list) or not request["input"]:
            raise RefusalError(400, "`input` must be a text or a list.", "invalid_type", "input")
        if request["model"] != MODEL:
            raise RefusalError(404, "There is no such model.", "model_not_found", "model")
        if self.prompt_tokens(self.as_chat(request)) > CONTEXT:
            raise RefusalError(400, "The prompt is too long.", "context_length_exceeded", "input")

    # What the model says

    def answers(self, request: Json) -> list[Answer]:
        return super().answers(self.as_chat(request))

    def as_chat(self, request: Json) -> Json:
        """Return a request of chat completions that asks the model for the same."""
        given = request["input"]
        messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
        if messages[-1].get("type") == "function_call_output":
            messages = [*messages[:-1], {"role": "tool", "content": messages[-1]["output"]}]
        choice = request.get("tool_choice", "auto")
        named = {"function": {"name": choice["name"]}} if isinstance(choice, Mapping) else choice
        return {
            **request,
            "messages": messages,
            "tool_choice": named,
            "max_tokens": request["max_output_tokens"],
        }

    def said(self, request: Json) -> Answer:
        answer = super().said(request)
        return Answer(" ".join([NUMBERS] * 3)) if answer.text == NUMBERS else answer

    # How it is written

    def usage(self, answers: Sequence[Answer]) -> Json:
        answer = answers[0]
        return {
            "input_tokens": answer.asks,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": answer.tokens,
            "output_tokens_details": {"reasoning_tokens": len(tokens_of(answer.reasoning))},
            "total_tokens": answer.asks + answer.tokens,
        }

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        return {
            **self.begun(request),
            **self.ended(answers[0]),
            "output": self.items(answers[0]),
            "usage": self.usage(answers),
        }

    def begun(self, request: Json) -> Json:
        """Return a response as it is begun."""
        return {
            "id": f"resp_{next(self._numbers)}",
            "object": "response",
            "created_at": 1767225600,
            "model": MODEL,
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "output": [],
            "parallel_tool_calls": request.get("parallel_tool_calls", True),
            "tool_choice": request.get("tool_choice", "auto"),
            "tools": request.get("tools", []),
        }

    def ended(self, answer: Answer) -> Json:
        """Return how a response has ended."""
        if answer.finish == "length":
            return {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        return {"status": "completed"}

    def items(self, answer: Answer) -> list[Json]:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
        thought = [{"type": "reasoning_text", "text": answer.reasoning}]
        return [
            *([{"id": "rs_1", "type": "reasoning", "summary": [], "content": thought}] if answer.reasoning else []),
            *([message] if answer.text else []),
            *(self.call(number, name, arguments) for number, (name, arguments) in enumerate(answer.calls)),
        ]

    def call(self, number: int, name: str, arguments: str) -> Json:
        ids = {"id": f"fc_{number}", "call_id": f"call_{number}"}
        return {**ids, "type": "function_call", "name": name, "arguments": arguments, "status": "completed"}

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        whole = self.completion(request, answers)
        begun = {**self.begun(request), "id": whole["id"]}
        last = {"type": f"response.{whole['status']}", "response": whole}
        items = [event for index, item in enumerate(self.items(answers[0])) for event in self.events(index, item)]
        first = [{"type": f"response.{name}", "response": begun} for name in ("created", "in_progress")]
        return self.numbered([*first, *items, last])

    def numbered(self, events: Sequence[Json]) -> list[Json]:
        return [{**each, "sequence_number": number} for number, each in enumerate(events)]

    def events(self, index: int, item: Json) -> Iterator[Json]:
        """Yield the events of an item."""
        place = {"item_id": item["id"], "output_index": index}
        empty: Json = {"arguments": ""} if "arguments" in item else {"content": []}
        yield {"type": "response.output_item.added", "output_index": index, "item": {**item, **empty}}
        for number, part in enumerate(item.get("content", ())):
            at = {**place, "content_index": number}
            yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
            yield from self.pieces_of(f"response.{part['type']}", at, "text", part["text"])
            yield {"type": "response.content_part.done", **at, "part": part}
        if "arguments" in item:
            yield from self.pieces_of("response.function_call_arguments", place, "arguments", item["arguments"])
        yield {"type": "response.output_item.done", "output_index": index, "item": item}

    def pieces_of(self, name: str, place: Json, field: str, whole: str) -> Iterator[Json]:
        """Yield the deltas of a text, and the event with all of it."""
        yield from ({"type": f"{name}.delta", **place, "delta": each} for each in tokens_of(whole))
        yield {"type": f"{name}.done", **place, field: whole}

    def frames(self, chunks: Sequence[Any]) -> list[bytes]:
        return [f"event: {each['type']}\ndata: {self.written(each)}\n\n".encode() for each in chunks]
