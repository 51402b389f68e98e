"""Broken servers of Ollama's chat that fail SRV rules, or WIRE-13, first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from llm_conformance.server.recordings import Recording
from tests.servers.broken.base import Broken
from tests.servers.ollama import OllamaReference
from tests.servers.reference import Answer, Json, Reply


class BrokenOllama(Broken, OllamaReference):
    """The reference server of Ollama's chat with one fault."""


# SRV-1 to SRV-3


class ErrorInTheFirstLine(BrokenOllama):
    """Says in the first line of a stream with tools that there is an error."""

    fails = ("SRV-2",)
    says = "an error status for an error; got status 200"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        return [{"error": "does not support tools"}] if request.get("tools") else super().chunks(request, answers)


class RefusedInALine(BrokenOllama):
    """Refuses a request for a stream by a line, with status 200."""

    fails = ("SRV-1",)
    says = "status 200 .although"

    def respond(self, key: str, content: bytes) -> Reply:
        reply = super().respond(key, content)
        if reply.status == 200 or b'"stream": true' not in content:
            return reply
        return Reply(200, "application/x-ndjson", [reply.pieces[0] + b"\n"])


class KeyInTheError(BrokenOllama):
    """Repeats the key in errors."""

    fails = ("SRV-3",)
    says = "an answer without the key"

    def respond(self, key: str, content: bytes) -> Reply:
        reply = super().respond(key, content)
        if reply.status != 400:
            return reply
        return replace(reply, pieces=[self.written({"error": f"refused (authorization: Bearer {key})"}).encode()])


# SRV-6, SRV-7


class JsonInAFence(BrokenOllama):
    """Puts the JSON of JSON mode into a fence."""

    fails = ("SRV-6",)
    says = "expected JSON; got"

    def as_json(self, request: Json) -> Answer:
        answer = super().as_json(request)
        return replace(answer, text=f"```json\n{answer.text}\n```") if request["format"] == "json" else answer


class SchemaTakenForJson(BrokenOllama):
    """Takes a schema for JSON mode."""

    fails = ("SRV-7",)
    says = "JSON of the given schema; got"

    def as_json(self, request: Json) -> Answer:
        answer = super().as_json(request)
        return answer if request["format"] == "json" else replace(answer, text='{"town": "Paris"}')


# SRV-20, SRV-21


class OptionsForgotten(BrokenOllama):
    """Reads neither the limit nor the stop sequences, which are among the options."""

    fails = ("SRV-20", "SRV-23")
    says = "at most 4 tokens; got 12 tokens"

    def as_chat(self, request: Json) -> Json:
        return super().as_chat({**request, "options": {"num_predict": 1000}})


class CutSaysStop(BrokenOllama):
    """Says `stop` for an answer that the limit has cut off."""

    fails = ("SRV-21",)
    says = 'the finish word "length"; got "stop" after 4 of 4 tokens'

    def limited(self, request: Json, answer: Answer) -> Answer:
        return replace(super().limited(request, answer), finish=answer.finish)


# SRV-30


class CallsWithOneId(BrokenOllama):
    """Gives calls ids, which are all the same."""

    fails = ("SRV-30",)
    says = "another id for each call"

    def call(self, number: int, name: str, arguments: str) -> Json:
        return {"id": "call_0", **super().call(number, name, arguments)}


class CallsWithoutNames(BrokenOllama):
    """Gives calls of streams an empty name."""

    fails = ("SRV-30", "SRV-50")
    says = "a name for each call; got none"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        calls = tuple(("", arguments) for _, arguments in answer.calls)
        yield from super().deltas(replace(answer, calls=calls))


# SRV-41, SRV-50, SRV-52, WIRE-13


class ThinkingNotStreamed(BrokenOllama):
    """Leaves thinking out of streams."""

    fails = ("SRV-41", "SRV-50")
    says = "reasoning in its field in both modes, as in the plain answer; got none in the stream"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        yield from super().deltas(replace(answer, reasoning=""))


class CallsNotStreamed(BrokenOllama):
    """Leaves calls out of streams."""

    fails = ("SRV-50",)
    says = "calls as in the plain answer"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        yield from super().deltas(replace(answer, calls=()))


class HalfCharactersInLines(BrokenOllama):
    """Cuts a character in two at the end of a line."""

    fails = ("WIRE-13", "SRV-50")
    says = "half of a surrogate pair"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        for each in super().deltas(answer):
            before, smile, behind = each["content"].partition("🙂")
            halves = (f"{before}\ud83d", f"\ude42{behind}")
            yield from ({"content": half} for half in halves) if smile else (each,)

    def written(self, document: object) -> str:
        return json.dumps(document)


class RestOfADroppedAnswer(BrokenOllama):
    """Sends the rest of a cancelled answer before the next answer of the same conversation."""

    fails = ("SRV-52",)
    says = "the text as without the cancelled request"

    _streamed: object = None

    def answers(self, request: Json) -> list[Answer]:
        given = super().answers(request)
        after_dropped = not request["stream"] and request["messages"] == self._streamed
        self._streamed = request["messages"] if request["stream"] else None
        return [replace(each, text=f"ris{each.text}") for each in given] if after_dropped else given


# SRV-64


class PromptNotCountedAgain(BrokenOllama):
    """Leaves out the count of a prompt that is in its cache, as Ollama once did."""

    fails = ("SRV-64",)
    says = "a prompt of at least one token; got no prompt_eval_count"

    def __init__(self) -> None:
        super().__init__()
        self._seen: list[int] = []

    def counted(self, answer: Answer) -> Json:
        is_cached = answer.asks in self._seen
        self._seen.append(answer.asks)
        counted = super().counted(answer)
        return {"eval_count": counted["eval_count"]} if is_cached else counted


class AnswersNotCounted(BrokenOllama):
    """Counts no token of an answer."""

    fails = ("SRV-64",)
    says = "at least one token for the answer; got 0 tokens"

    def counted(self, answer: Answer) -> Json:
        return {**super().counted(answer), "eval_count": 0}


class CountsInEachObject(BrokenOllama):
    """Counts in each object what came so far."""

    fails = ("SRV-64",)
    says = "counts in the last object alone; got eval_count 1"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        *others, last = super().chunks(request, answers)
        return [*({**each, "eval_count": number} for number, each in enumerate(others, start=1)), last]


# SRV-65


class TimeOfDayAsDuration(BrokenOllama):
    """Gives the time since 1970 as the total duration."""

    fails = ("SRV-65",)
    says = "a total_duration of at most the [0-9]+ ns that the client waited"

    def durations(self, answer: Answer) -> Json:
        return {**super().durations(answer), "total_duration": 1_767_225_600_000_000_000}


class PartLongerThanTheWhole(BrokenOllama):
    """Gives the durations of parts in nanoseconds, and the total in milliseconds."""

    fails = ("SRV-65",)
    says = "a prompt_eval_duration of at most the total_duration 1; got 20000"

    def durations(self, answer: Answer) -> Json:
        return {**super().durations(answer), "total_duration": 1}


class DurationsInMicroseconds(BrokenOllama):
    """Takes four seconds for a stream, and gives the durations in microseconds."""

    fails = ("SRV-65",)
    says = "a total_duration of about the 4000000000 ns that the stream took; got 4000000"

    def durations(self, answer: Answer) -> Json:
        return {"total_duration": 4_000_000, "prompt_eval_duration": 1_000_000, "eval_duration": 3_000_000}

    def kept(self, recording: Recording) -> Recording:
        pieces = tuple((1, 100 + 400 * number) for number in range(11))
        return replace(recording, arrival=pieces, milliseconds=4200)
