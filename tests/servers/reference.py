"""A server of chat completions on the loopback that does everything as it is documented.

Its model knows the conversations of the suite, and a token is a word with the space behind it. A broken
server replaces the methods that its fault is in.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

KEY = "reference-key-7Qx2LmN94t"
MODEL = "reference"
CONTEXT = 1500
"""In tokens."""
NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
_TOKEN = re.compile(r"\S+\s*|\s+")

STREAMS = ("text/event-stream", "application/x-ndjson")
"""The content types of what is sent piece by piece."""

Json = dict[str, Any]


class RefusalError(Exception):
    """A request that is refused."""

    def __init__(self, status: int, message: str, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error: Json = {"message": message, "type": "invalid_request_error", "param": param, "code": code}


@dataclass(frozen=True)
class Answer:
    """What the model says. A call has a name and arguments; `asks` is how many tokens the prompt has."""

    text: str
    reasoning: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str = "stop"
    asks: int = 1

    @property
    def tokens(self) -> int:
        parts = (self.reasoning, self.text, *(arguments for _, arguments in self.calls))
        return sum(len(tokens_of(each)) for each in parts)


@dataclass(frozen=True)
class Reply:
    """A response. `ends` is whether it is ended; a response without an end is left open until the client goes."""

    status: int
    content_type: str
    pieces: Sequence[bytes]
    ends: bool = True
    breaks: bool = False
    length: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text."""
    return _TOKEN.findall(text)


class Reference:
    """The reference server.

    Attributes:
        api: The wire format that it speaks.
    """

    api = "chat"

    def __init__(self) -> None:
        self._numbers = count(1)

    def respond_to(self, headers: Mapping[str, str], content: bytes) -> Reply:
        """Return the response to a request."""
        return self.respond(headers.get("authorization", "").removeprefix("Bearer "), content)

    def respond(self, key: str, content: bytes) -> Reply:
        """Return the response to a request with this key."""
        try:
            request = self.request_of(key, content)
            answers = self.answers(request)
            if request.get("stream"):
                return self.stream(request, answers)
            document = self.completion(request, answers)
            return Reply(200, "application/json", [self.written(document).encode()])
        except RefusalError as refusal:
            return self.refusal(refusal)

    # What is refused

    def refusal(self, refusal: RefusalError) -> Reply:
        return Reply(refusal.status, "application/json", [self.written({"error": refusal.error}).encode()])

    def request_of(self, key: str, content: bytes) -> Json:
        if key != KEY:
            raise RefusalError(401, "The key is wrong.", "invalid_api_key")
        try:
            request: Json = json.loads(content)
        except ValueError:
            raise RefusalError(400, "The body is not JSON.") from None
        self.check(request)
        return request

    def check(self, request: Json) -> None:
        if "messages" not in request:
            raise RefusalError(400, "`messages` is missing.", "missing_required_parameter", "messages")
        if not isinstance(request["messages"], list) or not request["messages"]:
            raise RefusalError(400, "`messages` must be a list of messages.", "invalid_type", "messages")
        if request["model"] != MODEL:
            raise RefusalError(404, "There is no such model.", "model_not_found", "model")
        if self.prompt_tokens(request) > CONTEXT:
            raise RefusalError(400, "The prompt is too long.", "context_length_exceeded", "messages")

    # What the model says

    def prompt_tokens(self, request: Json) -> int:
        return len(tokens_of(json.dumps(request["messages"]))) + 3

    def answers(self, request: Json) -> list[Answer]:
        answer = replace(self.said(request), asks=self.prompt_tokens(request))
        return [self.limited(request, self.stopped(request, answer))] * self.choices(request)

    def choices(self, request: Json) -> int:
        return int(request.get("n", 1))

    def said(self, request: Json) -> Answer:
        last = request["messages"][-1]
        content = last["content"]
        text = content if isinstance(content, str) else " ".join(part["text"] for part in content)
        if last["role"] == "user" and request.get("tools") and request.get("tool_choice") != "none":
            return self.called(request, text)
        if "Repeat" in text:
            return Answer(text.partition(": ")[2])
        known = {
            "France": "Paris",
            "Italy": "Rome",
            "museum": "It opens at ten, madam.",
            "second item": "pear",
            "Count": NUMBERS,
            "JSON": '{"city": "Paris", "country": "France"}',
        }
        if "city Paris" in text:
            return self.as_json(request)
        if "train" in text or "late" in text:
            return self.thought(request)
        return Answer(next((said for word, said in known.items() if word in text), "It rains."))

    def as_json(self, request: Json) -> Answer:
        return Answer('{"city": "Paris", "country": "France"}')

    def thought(self, request: Json) -> Answer:
        return Answer("At five past eleven.", "85 minutes after 9:40 it is 11:05.")

    def called(self, request: Json, text: str) -> Answer:
        choice = request.get("tool_choice", "auto")
        name = choice["function"]["name"] if isinstance(choice, dict) else "weather"
        cities = [each for each in ("Oslo", "Rome") if each in text]
        if request.get("parallel_tool_calls") is False:
            cities = cities[:1]
        return Answer("", calls=tuple((name, self.arguments(each)) for each in cities), finish="tool_calls")

    def arguments(self, city: str) -> str:
        return json.dumps({"city": city})

    def stopped(self, request: Json, answer: Answer) -> Answer:
        for word in request.get("stop") or ():
            answer = replace(answer, text=answer.text.partition(word)[0])
        return answer

    def limited(self, request: Json, answer: Answer) -> Answer:
        limit = request["max_tokens"]
        if answer.tokens <= limit:
            return answer
        return replace(answer, text="".join(tokens_of(answer.text)[:limit]), finish="length")

    # How it is written

    def head(self, kind: str) -> Json:
        return {"id": f"chatcmpl-{next(self._numbers)}", "object": kind, "created": 1767225600, "model": MODEL}

    def usage(self, answers: Sequence[Answer]) -> Json:
        prompt, completion = answers[0].asks, sum(each.tokens for each in answers)
        thought = sum(len(tokens_of(each.reasoning)) for each in answers)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "completion_tokens_details": {"reasoning_tokens": thought},
        }

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        choices = [
            {
                "index": index,
                "message": self.message(answer),
                "finish_reason": answer.finish,
                "logprobs": self.logprobs(request, tokens_of(answer.text)),
            }
            for index, answer in enumerate(answers)
        ]
        return {**self.head("chat.completion"), "choices": choices, "usage": self.usage(answers)}

    def message(self, answer: Answer) -> Json:
        reasoning = {"reasoning_content": answer.reasoning} if answer.reasoning else {}
        calls = [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(answer.calls)
        ]
        return {
            "role": "assistant",
            "content": answer.text or None,
            **reasoning,
            **({"tool_calls": calls} if calls else {}),
        }

    def logprobs(self, request: Json, tokens: Sequence[str]) -> Json | None:
        if not request.get("logprobs"):
            return None
        alternatives = [{"token": each, "logprob": -1.5, "bytes": None} for each in ("a", "b")]
        return {
            "content": [
                {"token": each, "logprob": -0.25, "bytes": list(each.encode()), "top_logprobs": alternatives}
                for each in tokens
            ]
        }

    def stream(self, request: Json, answers: Sequence[Answer]) -> Reply:
        return Reply(200, "text/event-stream", self.frames(self.chunks(request, answers)))

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        head = self.head("chat.completion.chunk")
        asked = bool((request.get("stream_options") or {}).get("include_usage"))
        empty: Json = {"usage": None} if asked else {}
        entries = [entry for index, each in enumerate(answers) for entry in self.entries(request, index, each)]
        found = [{**head, "choices": [entry], **empty} for entry in entries]
        return [*found, {**head, "choices": [], "usage": self.usage(answers)}] if asked else found

    def entries(self, request: Json, index: int, answer: Answer) -> Iterator[Json]:
        """Yield the choices of the chunks of one answer."""
        for delta in self.deltas(answer):
            tokens = [delta["content"]] if delta.get("content") else []
            logprobs = self.logprobs(request, tokens)
            yield {"index": index, "delta": delta, "finish_reason": None, "logprobs": logprobs}
        yield {"index": index, "delta": {}, "finish_reason": answer.finish, "logprobs": None}

    def deltas(self, answer: Answer) -> Iterator[Json]:
        yield {"role": "assistant", "content": ""}
        yield from ({"reasoning_content": token} for token in tokens_of(answer.reasoning))
        yield from ({"content": token} for token in tokens_of(answer.text))
        for index, (name, arguments) in enumerate(answer.calls):
            yield from ({"tool_calls": [piece]} for piece in self.pieces(index, name, arguments))

    def pieces(self, index: int, name: str, arguments: str) -> Iterator[Json]:
        """Yield the pieces of a call."""
        function = {"name": name, "arguments": ""}
        yield {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        yield from ({"index": index, "function": {"arguments": each}} for each in tokens_of(arguments))

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return [*(self.frame(self.written(each)) for each in chunks), self.frame("[DONE]")]

    def frame(self, data: str) -> bytes:
        return f"data: {data}\n\n".encode()

    def written(self, document: Any) -> str:
        return json.dumps(document, ensure_ascii=False)


@contextmanager
def running(server: Reference) -> Iterator[str]:
    """Run a server on the loopback within the context; yield its base URL."""
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            reply = server.respond_to({name.lower(): value for name, value in self.headers.items()}, content)
            self.send_response(reply.status)
            self.send_header("content-type", reply.content_type)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            is_stream = reply.content_type in STREAMS
            if is_stream:
                self.send_header("transfer-encoding", "chunked")
            else:
                self.send_header("content-length", str(reply.length or sum(map(len, reply.pieces))))
            self.end_headers()
            for piece in reply.pieces:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if is_stream else piece)
                self.wfile.flush()
            if not reply.ends:
                stopped.wait()
            if reply.breaks or not reply.ends:
                self.close_connection = True
            elif is_stream:
                self.wfile.write(b"0\r\n\r\n")

        def handle(self) -> None:
            try:
                super().handle()
            except (ConnectionError, TimeoutError):
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        http.block_on_close = False
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_address[1]}/v1"
        finally:
            stopped.set()
            http.shutdown()
            thread.join()
