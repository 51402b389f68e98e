"""Broken servers that fail WIRE-1 to WIRE-6, WIRE-29, or SRV rules about errors and connections, first."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from llm_conformance.server.recordings import Recording
from tests.servers.broken.base import Broken
from tests.servers.reference import KEY, Answer, Json, RefusalError, Reply

# WIRE-1


class PartsRefused(Broken):
    """Does not know a content of several parts."""

    fails = ("WIRE-1",)
    says = "expected status 200; got status 400"

    def check(self, request: Json) -> None:
        super().check(request)
        if any(isinstance(each["content"], list) for each in request["messages"]):
            raise RefusalError(400, "The content must be a text.")


class FailsOnToolResults(Broken):
    """Answers the result of a call with an error of its own."""

    fails = ("WIRE-1",)
    says = "status 500"

    def check(self, request: Json) -> None:
        super().check(request)
        if request["messages"][-1]["role"] == "tool":
            raise RefusalError(500, "KeyError: 'tool_call_id'")


class ReasoningRefused(Broken):
    """Does not take its own reasoning back."""

    fails = ("WIRE-1",)
    says = "status 422"

    def check(self, request: Json) -> None:
        super().check(request)
        if any("reasoning_content" in each for each in request["messages"]):
            raise RefusalError(422, "Extra inputs are not permitted: reasoning_content")


# WIRE-29


class AlwaysCompressed(Broken):
    """Compresses all bodies, whatever the request accepts."""

    fails = ("WIRE-29",)
    says = "expected no content encoding; got gzip"

    def respond_to(self, headers: Mapping[str, str], content: bytes) -> Reply:
        reply = super().respond_to(headers, content)
        whole = gzip.compress(b"".join(reply.pieces), compresslevel=1)
        return replace(reply, pieces=[whole], headers={**reply.headers, "content-encoding": "gzip"})


# WIRE-2


class PlainAnswerBreaksOff(Broken):
    """Announces a longer body than it sends."""

    fails = ("WIRE-2",)
    says = "a complete body; got broken"

    def respond(self, key: str, content: bytes) -> Reply:
        reply = super().respond(key, content)
        if reply.status != 200 or len(reply.pieces) > 1 or b"museum" not in content:
            return reply
        return replace(reply, length=len(reply.pieces[0]) + 7, breaks=True)


class StreamBreaksOff(Broken):
    """Closes the connection in the middle of a stream."""

    fails = ("WIRE-2",)
    says = "a complete body; got broken"

    def stream(self, request: Json, answers: Sequence[Answer]) -> Reply:
        reply = super().stream(request, answers)
        return replace(reply, pieces=reply.pieces[:-3], breaks=True)


# WIRE-3


class StreamCalledJson(Broken):
    """Sends events as `application/json`."""

    fails = ("WIRE-3",)
    says = 'content type "text/event-stream"; got "application/json"'

    def stream(self, request: Json, answers: Sequence[Answer]) -> Reply:
        return replace(super().stream(request, answers), content_type="application/json")


class PlainAnswerCalledText(Broken):
    """Sends JSON as text."""

    fails = ("WIRE-3",)
    says = 'content type "application/json"; got "text/plain"'

    def respond(self, key: str, content: bytes) -> Reply:
        reply = super().respond(key, content)
        is_plain = reply.status == 200 and reply.content_type == "application/json"
        return replace(reply, content_type="text/plain; charset=utf-8") if is_plain else reply


class StreamIgnored(Broken):
    """Answers a request for a stream with one document."""

    fails = ("WIRE-3", "WIRE-5")
    says = 'content type "text/event-stream"; got "application/json"'

    def stream(self, request: Json, answers: Sequence[Answer]) -> Reply:
        document = self.completion(request, answers)
        return Reply(200, "application/json", [self.written(document).encode()])


# WIRE-4


class NotANumber(Broken):
    """Writes NaN, which Python's json does unasked."""

    fails = ("WIRE-4",)
    says = "NaN is not JSON"

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        return {**super().completion(request, answers), "timings": {"per_second": float("nan")}}


class Latin1(Broken):
    """Writes JSON in Latin-1."""

    fails = ("WIRE-4",)
    says = "one JSON object in UTF-8"

    def respond(self, key: str, content: bytes) -> Reply:
        reply = super().respond(key, content)
        if len(reply.pieces) > 1:
            return reply
        return replace(reply, pieces=[each.decode().encode("latin-1", "replace") for each in reply.pieces])


class AnswerInAList(Broken):
    """Puts the answer into a list."""

    fails = ("WIRE-4",)
    says = "one JSON object"

    def respond(self, key: str, content: bytes) -> Reply:
        reply = super().respond(key, content)
        if len(reply.pieces) > 1 or reply.status != 200:
            return reply
        return replace(reply, pieces=[b"[" + reply.pieces[0] + b"]"])


# WIRE-5


class PythonDictionaries(Broken):
    """Writes Python's repr instead of JSON."""

    fails = ("WIRE-5",)
    says = "a JSON object or .DONE. in each event"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return [*(self.frame(str(each)) for each in chunks), self.frame("[DONE]")]


class LinesOfJson(Broken):
    """Sends a document on each line, without `data:`."""

    fails = ("WIRE-5",)
    says = "lines of server-sent events; got the line"

    def frame(self, data: str) -> bytes:
        return f"{data}\n".encode()


class OneLineBreak(Broken):
    """Ends events with one line break instead of two."""

    fails = ("WIRE-5", "WIRE-6")
    says = "a JSON object or .DONE. in each event"

    def frame(self, data: str) -> bytes:
        return f"data: {data}\n".encode()


class LastEventNotEnded(Broken):
    """Leaves out the blank line behind the last event."""

    fails = ("WIRE-5",)
    says = "a blank line behind each event"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        *others, last = super().frames(chunks)
        return [*others, last.rstrip()]


class CharactersCutByBytes(Broken):
    """Cuts the bytes of a character between two events, so that neither is UTF-8."""

    fails = ("WIRE-5",)
    says = "text in UTF-8"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        frames = super().frames(chunks)
        return [each.replace("ü".encode(), b'\xc3"}}]}\n\ndata: {"x": "\xbc') for each in frames]


class StreamWithoutEvents(Broken):
    """Ends each stream at once."""

    fails = ("WIRE-5",)
    says = "expected events; got .: ping"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return [b": ping\n", b"\n"]


# WIRE-6


class WithoutDone(Broken):
    """Ends a stream without `[DONE]`."""

    fails = ("WIRE-6",)
    says = "expected .DONE. at the end"

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return super().frames(chunks)[:-1]


class DoneTwice(Broken):
    """Sends `[DONE]` twice."""

    fails = ("WIRE-6",)
    says = "nothing behind .DONE."

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return [*super().frames(chunks), self.frame("[DONE]")]


class CountsBehindDone(Broken):
    """Sends the counts behind `[DONE]`."""

    fails = ("WIRE-6", "SRV-12")
    says = "nothing behind .DONE."

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        frames = super().frames(chunks)
        return [*frames[:-2], frames[-1], frames[-2]] if chunks[-1].get("usage") else frames


# SRV-1


class MalformedJsonIsTheServersFault(Broken):
    """Answers a body that is not JSON with status 500."""

    fails = ("SRV-1",)
    says = "status 500 .although its body is not JSON"

    def request_of(self, key: str, content: bytes) -> Json:
        try:
            json.loads(content)
        except ValueError as error:
            raise RefusalError(500, str(error)) from None
        return super().request_of(key, content)


class MissingMessagesAnswered(Broken):
    """Answers a request without messages."""

    fails = ("SRV-1",)
    says = "status 200 .although `messages` is required"

    def check(self, request: Json) -> None:
        if "messages" not in request:
            request["messages"] = [{"role": "user", "content": ""}]
        super().check(request)


class AnyModel(Broken):
    """Answers for any model."""

    fails = ("SRV-1",)
    says = "status 200 .although there is no such model"

    def check(self, request: Json) -> None:
        super().check({**request, "model": "reference"})


class AnyKey(Broken):
    """Answers with any key."""

    fails = ("SRV-1",)
    says = "status 200 .although the key is wrong"

    def request_of(self, key: str, content: bytes) -> Json:
        return super().request_of("reference-key-7Qx2LmN94t", content)


class WrongKeyNotFound(Broken):
    """Answers a wrong key with status 404."""

    fails = ("SRV-1",)
    says = "status 401 or 403; got status 404"

    def refusal(self, refusal: RefusalError) -> Reply:
        reply = super().refusal(refusal)
        return replace(reply, status=404) if reply.status == 401 else reply


class PromptCutSilently(Broken):
    """Answers what is longer than its context."""

    fails = ("SRV-1",)
    says = "status 200 .although the message is longer"

    def check(self, request: Json) -> None:
        short = request.get("messages")
        if isinstance(short, list):
            short = [{**each, "content": ""} for each in short]
        super().check({**request, "messages": short} if short is not None else request)


class RefusalInsideOfAStream(Broken):
    """Refuses a request for a stream by an event, with status 200."""

    fails = ("SRV-1",)
    says = "status 200 .although"

    def respond(self, key: str, content: bytes) -> Reply:
        reply = super().respond(key, content)
        if reply.status == 200 or b'"stream"' not in content:
            return reply
        return Reply(200, "text/event-stream", [b"data: " + reply.pieces[0] + b"\n\n", self.frame("[DONE]")])


class TryAgainLater(Broken):
    """Answers what is too long with status 429, so that clients send it again."""

    fails = ("SRV-1",)
    says = "status 429 .although the message is longer"

    def refusal(self, refusal: RefusalError) -> Reply:
        reply = super().refusal(refusal)
        too_long = refusal.error["code"] == "context_length_exceeded"
        return replace(reply, status=429) if too_long else reply


# SRV-2


class ErrorWithStatus200(Broken):
    """Answers a question that it cannot answer with an error and status 200."""

    fails = ("SRV-2",)
    says = "an error status for an error; got status 200"

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        if "museum" in str(request["messages"]):
            return {"error": {"message": "The model has crashed.", "type": "server_error", "param": None, "code": None}}
        return super().completion(request, answers)


class ErrorAsTheFirstEvent(Broken):
    """Begins the stream of a question that it cannot answer with an error."""

    fails = ("SRV-2",)
    says = "an error status for an error; got status 200"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        if "museum" in str(request["messages"]):
            return [{"error": {"message": "The model has crashed.", "type": "server_error"}}]
        return super().chunks(request, answers)


# SRV-3


class KeyRepeated(Broken):
    """Repeats a request that it refuses, with its key."""

    fails = ("SRV-3",)
    says = "an answer without the key"

    def respond(self, key: str, content: bytes) -> Reply:
        reply = super().respond(key, content)
        if reply.status != 400:
            return reply
        document = json.loads(reply.pieces[0])
        document["error"]["message"] += f" (authorization: Bearer {key})"
        return replace(reply, pieces=[self.written(document).encode()])


class KeyInPieces(Broken):
    """Says the key, in two pieces of a stream."""

    fails = ("SRV-3",)
    says = "an answer without the key; got the response has the key in pieces"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        if "madam" in answer.text:
            yield from ({"content": each} for each in (KEY[:14], KEY[14:]))
        else:
            yield from super().deltas(answer)


# SRV-51


class StreamLeftOpen(Broken):
    """Does not end the response behind `[DONE]`."""

    fails = ("SRV-51",)
    says = "the end of the response behind .DONE."
    patience_s = 0.5

    def stream(self, request: Json, answers: Sequence[Answer]) -> Reply:
        is_one = "museum" in str(request["messages"])
        return replace(super().stream(request, answers), ends=not is_one)


# SRV-53


class SentAtTheEnd(Broken):
    """Makes answers for some seconds, and sends each stream at its end."""

    fails = ("SRV-53",)
    says = "pieces that come as they are made; got .* pieces in 1 read"

    def kept(self, recording: Recording) -> Recording:
        return replace(recording, arrival=((len(recording.body), 4000),), milliseconds=4000)


# SRV-52


class RestOfACancelledAnswer(Broken):
    """Sends the rest of a cancelled answer before the next answer."""

    fails = ("SRV-52",)
    says = "the text as without the cancelled request"

    _dropped: object = None

    def said(self, request: Json) -> Answer:
        answer = super().said(request)
        question = request.get("messages", request.get("input"))
        after_dropped = not request.get("stream") and question == self._dropped
        # Of the streams without `stream_options`, only the one that is dropped is followed by the same question.
        self._dropped = question if request.get("stream") and "stream_options" not in request else None
        return replace(answer, text=f"ris{answer.text}") if after_dropped else answer
