"""Broken servers of messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tests.servers.broken.base import Broken
from tests.servers.messages import MessagesReference
from tests.servers.reference import Answer, Json, RefusalError


class BrokenMessages(Broken, MessagesReference):
    """The reference server of messages with one fault."""


# WIRE-7, WIRE-8


class NoCounts(BrokenMessages):
    """Leaves the counts of plain answers out."""

    fails = ("WIRE-7",)
    says = "`usage` is missing"

    def start(self, request: Json, answers: Sequence[Answer]) -> Json:
        event = super().start(request, answers)
        return {**event, "message": {**event["message"], "usage": {"input_tokens": 1, "output_tokens": 0}}}

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        document = super().completion(request, answers)
        return {name: value for name, value in document.items() if name != "usage"}

    def end(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        (event,) = super().end(request, answers)
        return [{**event, "usage": {**self.usage(answers)}}]


class InputAsText(BrokenMessages):
    """Gives the input of calls in plain answers as a text, as chat completions do."""

    fails = ("WIRE-7", "SRV-31", "SRV-50")
    says = "input: must be an object"

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        document = super().completion(request, answers)
        for block in document["content"]:
            if block["type"] == "tool_use":
                block["input"] = self.written(block["input"])
        return document


class NoSignature(BrokenMessages):
    """Gives thinking without a signature."""

    fails = ("WIRE-7",)
    says = "`signature` is missing"

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        document = super().completion(request, answers)
        for block in document["content"]:
            block.pop("signature", None)
        return document


class StopReasonOfChat(BrokenMessages):
    """Says `stop` at the end of plain answers."""

    fails = ("WIRE-7", "SRV-50")
    says = "stop_reason: must be"

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        document = super().completion(request, answers)
        return {**document, "stop_reason": document["stop_reason"].replace("end_turn", "stop")}


class NoCountsAtTheEnd(BrokenMessages):
    """Has no counts in `message_delta`."""

    fails = ("WIRE-8",)
    says = "`usage` is missing"

    def end(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        (event,) = super().end(request, answers)
        return [{name: value for name, value in event.items() if name != "usage"}]

    def start(self, request: Json, answers: Sequence[Answer]) -> Json:
        event = super().start(request, answers)
        return {**event, "message": {**event["message"], "usage": self.usage(answers)}}


class DeltasWithoutType(BrokenMessages):
    """Leaves the type of deltas of text out."""

    fails = ("WIRE-8",)
    says = "delta: `type` is missing"

    def begun(self, block: Json) -> tuple[Json, list[Json]]:
        begun, deltas = super().begun(block)
        return begun, [{name: value for name, value in each.items() if value != "text_delta"} for each in deltas]


class NoRole(BrokenMessages):
    """Leaves the role of the message at the start out."""

    fails = ("WIRE-8",)
    says = "message: `role` is missing"

    def start(self, request: Json, answers: Sequence[Answer]) -> Json:
        event = super().start(request, answers)
        return {**event, "message": {name: value for name, value in event["message"].items() if name != "role"}}


# WIRE-14


class EventsWithoutNames(BrokenMessages):
    """Sends data alone, as chat completions do."""

    fails = ("WIRE-14",)
    says = 'the name "message_start"; got null'

    def named(self, name: str, data: str) -> bytes:
        return f"data: {data}\n\n".encode()


class OneNameForAll(BrokenMessages):
    """Calls all events the same."""

    fails = ("WIRE-14",)
    says = 'the name "message_start"; got "message"'

    def named(self, name: str, data: str) -> bytes:
        return super().named("message", data)


# WIRE-15


class NoStart(BrokenMessages):
    """Begins with the first block."""

    fails = ("WIRE-15",)
    says = "message_start as the first event"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        return super().chunks(request, answers)[1:]

    def end(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        (event,) = super().end(request, answers)
        return [{**event, "usage": self.usage(answers)}]


class StartedTwice(BrokenMessages):
    """Starts the message again behind the first ping."""

    fails = ("WIRE-15",)
    says = "one message_start; got another"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        first, ping, *others = super().chunks(request, answers)
        return [first, ping, first, *others]


class EndBeforeTheBlocks(BrokenMessages):
    """Sends `message_delta` before the blocks."""

    fails = ("WIRE-15",)
    says = "no block behind message_delta"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        *others, end, stop = super().chunks(request, answers)
        return [*others[:2], end, *others[2:], stop]


# WIRE-16


class BlocksNotEnded(BrokenMessages):
    """Does not end blocks."""

    fails = ("WIRE-16",)
    says = "the end of block 0; got none in the whole stream"

    def of_blocks(self, answer: Answer) -> Iterator[Json]:
        yield from (each for each in super().of_blocks(answer) if each["type"] != "content_block_stop")


class BlocksNotBegun(BrokenMessages):
    """Does not begin blocks of text."""

    fails = ("WIRE-16",)
    says = "an open block; got content_block_delta of block 0, and none is open"

    def of_blocks(self, answer: Answer) -> Iterator[Json]:
        for each in super().of_blocks(answer):
            if each.get("content_block", {}).get("type") != "text":
                yield each


class IndexesFromOne(BrokenMessages):
    """Counts blocks from 1."""

    fails = ("WIRE-16",)
    says = "expected index 0; got 1"

    def of_blocks(self, answer: Answer) -> Iterator[Json]:
        yield from ({**each, "index": each["index"] + 1} for each in super().of_blocks(answer))


class CallsAtTheIndexOfTheText(BrokenMessages):
    """Gives all blocks of an answer the index 0."""

    fails = ("WIRE-16",)
    says = "expected index 1; got 0"

    def of_blocks(self, answer: Answer) -> Iterator[Json]:
        yield from ({**each, "index": 0} for each in super().of_blocks(answer))


# WIRE-17


class ThinkingAsText(BrokenMessages):
    """Sends thinking as deltas of text, within a block of thinking."""

    fails = ("WIRE-17", "SRV-41", "SRV-50")
    says = 'a delta for a block of type "thinking"; got "text_delta"'

    def begun(self, block: Json) -> tuple[Json, list[Json]]:
        begun, deltas = super().begun(block)
        if block["type"] == "thinking":
            deltas = [{"type": "text_delta", "text": each.get("thinking", "")} for each in deltas]
        return begun, deltas


# WIRE-18


class NoStopReason(BrokenMessages):
    """Has no stop reason in streams."""

    fails = ("WIRE-18",)
    says = "a stop reason; got none in the whole stream"

    def end(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        (event,) = super().end(request, answers)
        return [{**event, "delta": {"stop_reason": None, "stop_sequence": None}}]


class StopReasonAtTheStart(BrokenMessages):
    """Says at the start why the message ends."""

    fails = ("WIRE-18",)
    says = "no stop reason at the start"

    def start(self, request: Json, answers: Sequence[Answer]) -> Json:
        event = super().start(request, answers)
        return {**event, "message": {**event["message"], "stop_reason": "end_turn"}}


class ContentAtTheStart(BrokenMessages):
    """Has the whole content at the start."""

    fails = ("WIRE-18",)
    says = "an empty content at the start"

    def start(self, request: Json, answers: Sequence[Answer]) -> Json:
        event = super().start(request, answers)
        return {**event, "message": {**event["message"], "content": self.blocks(answers[0])}}


# WIRE-11, WIRE-19


class ErrorOfChat(BrokenMessages):
    """Writes errors as chat completions do."""

    fails = ("WIRE-19",)
    says = 'the type "error"; got null'

    def error(self, refusal: RefusalError) -> Json:
        return {"error": super().error(refusal)["error"]}


class ErrorAsText(BrokenMessages):
    """Gives the message alone as `error`."""

    fails = ("WIRE-11",)
    says = "a JSON object with `error`"

    def error(self, refusal: RefusalError) -> Json:
        return {"type": "error", "error": str(refusal)}


# SRV-1


class LimitNotNeeded(BrokenMessages):
    """Answers a request without `max_tokens`."""

    fails = ("SRV-1",)
    says = "although `max_tokens` is required"

    def request_of(self, key: str, content: bytes) -> Json:
        if b"max_tokens" not in content:
            content = content[:-1] + b', "max_tokens": 100}'
        return super().request_of(key, content)


# SRV-2


class ErrorEvent(BrokenMessages):
    """Says in the first event of a stream with tools that there is an error."""

    fails = ("SRV-2",)
    says = "an error status for an error; got status 200"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        if request.get("tools"):
            return [{"type": "error", "error": {"type": "api_error", "message": "no tools"}}]
        return super().chunks(request, answers)


# SRV-14, SRV-60


class CachedPromptNotCounted(BrokenMessages):
    """Counts in streams only what was not in the cache, and does not say what was."""

    fails = ("SRV-14",)
    says = "tokens of the prompt, as in the plain answer"

    def start(self, request: Json, answers: Sequence[Answer]) -> Json:
        event = super().start(request, answers)
        event["message"]["usage"]["input_tokens"] -= 2
        return event


class CountsOfPieces(BrokenMessages):
    """Counts in each `message_delta` only what came since the last one."""

    fails = ("SRV-60", "SRV-21")
    says = "at least the 9 output_tokens of before; got 1"

    def end(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        (event,) = super().end(request, answers)
        first = {**event, "delta": {"stop_reason": None, "stop_sequence": None}, "usage": {"output_tokens": 9}}
        return [first, {**event, "usage": {"output_tokens": 1}}]


class NothingCounted(BrokenMessages):
    """Counts no token of answers."""

    fails = ("SRV-60",)
    says = "at least one token for the answer; got output_tokens 0"

    def usage(self, answers: Sequence[Answer]) -> Json:
        return {**super().usage(answers), "output_tokens": 0}

    def start(self, request: Json, answers: Sequence[Answer]) -> Json:
        event = super().start(request, answers)
        event["message"]["usage"]["output_tokens"] = 0
        return event

    def end(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        (event,) = super().end(request, answers)
        return [{**event, "usage": {"output_tokens": 0}}]


# SRV-20 to SRV-23, SRV-61


class StopSequenceNotNamed(BrokenMessages):
    """Does not say which stop sequence has ended the answer."""

    fails = ("SRV-61",)
    says = '"four" as `stop_sequence`; got null'

    def stop(self, request: Json, answer: Answer) -> Json:
        return {**super().stop(request, answer), "stop_sequence": None}


class StopSequenceIsAnEnd(BrokenMessages):
    """Says that the model has ended an answer that a stop sequence has ended."""

    fails = ("SRV-23",)
    says = 'the finish word "stop_sequence"; got "end_turn"'

    def stopped(self, request: Json, answer: Answer) -> Answer:
        return replace(super().stopped(request, answer), finish=answer.finish)


class CallsEndTheTurn(BrokenMessages):
    """Ends answers with calls as those without."""

    fails = ("SRV-22",)
    says = 'the finish word "tool_use" for an answer with calls; got "end_turn"'

    def called(self, request: Json, text: str) -> Answer:
        return replace(super().called(request, text), finish="stop")


class CutIsAnEnd(BrokenMessages):
    """Says that the model has ended an answer that the limit has cut off."""

    fails = ("SRV-21",)
    says = 'the finish word "max_tokens"; got "end_turn"'

    def limited(self, request: Json, answer: Answer) -> Answer:
        return replace(super().limited(request, answer), finish=answer.finish)


# SRV-30, SRV-35


class CallsWithOneId(BrokenMessages):
    """Gives all calls of an answer the same id."""

    fails = ("SRV-30",)
    says = "another id for each call"

    def call(self, number: int, name: str, arguments: str) -> Json:
        return super().call(0, name, arguments)


class InputTwice(BrokenMessages):
    """Has the whole input at the start of a call, and its pieces behind it."""

    fails = ("SRV-35", "SRV-31", "SRV-50")
    says = "an empty input at the start of a call with pieces"

    def begun(self, block: Json) -> tuple[Json, list[Json]]:
        _, deltas = super().begun(block)
        return (block if block["type"] == "tool_use" else super().begun(block)[0]), deltas


class InputNotComplete(BrokenMessages):
    """Leaves the last piece of an input out."""

    fails = ("SRV-35", "SRV-50")
    says = "one JSON object; got"

    def begun(self, block: Json) -> tuple[Json, list[Json]]:
        begun, deltas = super().begun(block)
        return begun, deltas[:-1] if block["type"] == "tool_use" else deltas


# SRV-33, SRV-34


class AnyToolIsNone(BrokenMessages):
    """Takes `tool_choice: any` for `none`, so that the model answers with a text."""

    fails = ("SRV-33",)
    says = "expected a call; got the text"

    def as_chat(self, request: Json) -> Json:
        asked = super().as_chat(request)
        return {**asked, "tool_choice": "none"} if asked["tool_choice"] == "required" else asked


class ParallelUseNotDisabled(BrokenMessages):
    """Ignores `disable_parallel_tool_use`."""

    fails = ("SRV-34",)
    says = "at most one call; got 2 calls"

    def as_chat(self, request: Json) -> Json:
        return {**super().as_chat(request), "parallel_tool_calls": True}


# WIRE-1


class SystemInPartsRefused(BrokenMessages):
    """Has no answer to a system prompt in parts."""

    fails = ("WIRE-1",)
    says = "status 200; got status 400"

    def check(self, request: Json) -> None:
        super().check(request)
        if isinstance(request.get("system"), list):
            raise RefusalError(400, "`system` must be a text.")


# WIRE-13, SRV-5, SRV-41


class HalfCharacters(BrokenMessages):
    """Cuts a character in two at the end of a delta."""

    fails = ("WIRE-13", "SRV-50")
    says = "half of a surrogate pair"

    def begun(self, block: Json) -> tuple[Json, list[Json]]:
        begun, deltas = super().begun(block)
        return begun, [piece for each in deltas for piece in self.halves(each)]

    def halves(self, delta: Json) -> list[Json]:
        before, smile, behind = delta.get("text", "").partition("🙂")
        return [{**delta, "text": f"{before}\ud83d"}, {**delta, "text": f"\ude42{behind}"}] if smile else [delta]

    def written(self, document: Any) -> str:
        return json.dumps(document)


class OneIdForAllMessages(BrokenMessages):
    """Gives all messages the same id."""

    fails = ("SRV-5",)
    says = "an id of its own"

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        return {**super().completion(request, answers), "id": "msg_1"}


class ThinkingNotStreamed(BrokenMessages):
    """Leaves thinking out of streams."""

    fails = ("SRV-41", "SRV-50")
    says = "reasoning in its field in both modes, as in the plain answer; got none in the stream"

    def of_blocks(self, answer: Answer) -> Iterator[Json]:
        yield from super().of_blocks(replace(answer, reasoning=""))
