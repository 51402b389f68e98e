"""A server of messages on the loopback that does everything as it is documented.

A request is read as one of chat completions, for the model of the reference server. What is written is Anthropic's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from llm_conformance.server.apis.messages import VERSION
from tests.servers.reference import MODEL, Answer, Json, Reference, RefusalError, Reply, tokens_of

FINISH = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "stop_sequence": "stop_sequence"}
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 500: "api_error"}


class MessagesReference(Reference):
    """The reference server of messages."""

    api = "messages"

    def respond_to(self, headers: Mapping[str, str], content: bytes) -> Reply:
        key = headers.get("x-api-key", "") if headers.get("anthropic-version") == VERSION else ""
        return self.respond(key, content)

    # What is refused

    def refusal(self, refusal: RefusalError) -> Reply:
        return Reply(refusal.status, "application/json", [self.written(self.error(refusal)).encode()])

    def error(self, refusal: RefusalError) -> Json:
        error = {"type": _TYPES.get(refusal.status, "invalid_request_error"), "message": str(refusal)}
        return {"type": "error", "error": error, "request_id": "req_1"}

    def check(self, request: Json) -> None:
        super().check(request)
        if "max_tokens" not in request:
            raise RefusalError(400, "max_tokens: Field required")

    # What the model says

    def answers(self, request: Json) -> list[Answer]:
        given = super().answers(self.as_chat(request))
        return [replace(each, reasoning=each.reasoning if "thinking" in request else "") for each in given]

    def as_chat(self, request: Json) -> Json:
        """Return a request of chat completions that asks the model for the same."""
        choice = request.get("tool_choice", {"type": "auto"})
        named = {"function": {"name": choice["name"]}} if choice["type"] == "tool" else _CHOICES[choice["type"]]
        last = request["messages"][-1]
        content = last["content"]
        parts = content if isinstance(content, list) else []
        is_result = any(each["type"] == "tool_result" for each in parts)
        message = {"role": "tool", "content": "4 degrees, rain"} if is_result else last
        return {
            **request,
            "messages": [*request["messages"][:-1], message],
            "tool_choice": named,
            "parallel_tool_calls": not choice.get("disable_parallel_tool_use", False),
            "stop": request.get("stop_sequences"),
        }

    def stopped(self, request: Json, answer: Answer) -> Answer:
        stopped = super().stopped(request, answer)
        return stopped if stopped.text == answer.text else replace(stopped, finish="stop_sequence")

    # How it is written

    def stop(self, request: Json, answer: Answer) -> Json:
        """Return why the answer ends."""
        sequence = request["stop_sequences"][0] if answer.finish == "stop_sequence" else None
        return {"stop_reason": FINISH[answer.finish], "stop_sequence": sequence}

    def usage(self, answers: Sequence[Answer]) -> Json:
        return {
            "input_tokens": answers[0].asks,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": answers[0].tokens,
        }

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        return {
            "id": f"msg_{next(self._numbers)}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": self.blocks(answers[0]),
            **self.stop(request, answers[0]),
            "usage": self.usage(answers),
        }

    def blocks(self, answer: Answer) -> list[Json]:
        thinking = {"type": "thinking", "thinking": answer.reasoning, "signature": "c2lnbmF0dXJl"}
        return [
            *([thinking] if answer.reasoning else []),
            *([{"type": "text", "text": answer.text}] if answer.text else []),
            *(self.call(number, name, arguments) for number, (name, arguments) in enumerate(answer.calls)),
        ]

    def call(self, number: int, name: str, arguments: str) -> Json:
        return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": json.loads(arguments)}

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        return [
            self.start(request, answers),
            {"type": "ping"},
            *self.of_blocks(answers[0]),
            *self.end(request, answers),
            {"type": "message_stop"},
        ]

    def start(self, request: Json, answers: Sequence[Answer]) -> Json:
        usage = {**self.usage(answers), "output_tokens": 1}
        whole = self.completion(request, answers)
        return {
            "type": "message_start",
            "message": {**whole, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage},
        }

    def end(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        usage = {"output_tokens": max(1, self.usage(answers)["output_tokens"])}
        return [{"type": "message_delta", "delta": self.stop(request, answers[0]), "usage": usage}]

    def of_blocks(self, answer: Answer) -> Iterator[Json]:
        """Yield the events of the blocks."""
        for index, block in enumerate(self.blocks(answer)):
            begun, deltas = self.begun(block)
            yield {"type": "content_block_start", "index": index, "content_block": begun}
            yield from ({"type": "content_block_delta", "index": index, "delta": each} for each in deltas)
            yield {"type": "content_block_stop", "index": index}

    def begun(self, block: Json) -> tuple[Json, list[Json]]:
        """Return a block as it is begun, and its deltas."""
        if block["type"] == "text":
            deltas: list[Json] = [{"type": "text_delta", "text": each} for each in tokens_of(block["text"])]
            return {**block, "text": ""}, deltas
        if block["type"] == "thinking":
            deltas = [{"type": "thinking_delta", "thinking": each} for each in tokens_of(block["thinking"])]
            signature = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*deltas, signature]
        pieces = tokens_of(json.dumps(block["input"], ensure_ascii=False))
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": each} for each in pieces]

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return [self.named(each["type"], self.written(each)) for each in chunks]

    def named(self, name: str, data: str) -> bytes:
        return f"event: {name}\ndata: {data}\n\n".encode()
