"""Broken servers that fail rules about tool calls and reasoning first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from tests.servers.broken.base import Broken
from tests.servers.reference import Answer, Json

# SRV-30


class CallsWithoutIds(Broken):
    """Gives calls of plain answers an empty id."""

    fails = ("SRV-30",)
    says = "an id for each call; got none"

    def message(self, answer: Answer) -> Json:
        message = super().message(answer)
        for call in message.get("tool_calls", ()):
            call["id"] = ""
        return message


class OneIdForAllCalls(Broken):
    """Gives all calls of an answer the same id."""

    fails = ("SRV-30",)
    says = "another id for each call"

    def message(self, answer: Answer) -> Json:
        message = super().message(answer)
        for call in message.get("tool_calls", ()):
            call["id"] = "call_0"
        return message


class CallsWithoutType(Broken):
    """Leaves the type of calls in streams out."""

    fails = ("SRV-30",)
    says = 'type "function" for each call; got ""'

    def pieces(self, index: int, name: str, arguments: str) -> Iterator[Json]:
        for piece in super().pieces(index, name, arguments):
            yield {name: value for name, value in piece.items() if name != "type"}


# SRV-31


class ArgumentsWrittenTwice(Broken):
    """Writes the arguments of a call as text twice."""

    fails = ("SRV-31",)
    says = "a JSON object as arguments; got"

    def arguments(self, city: str) -> str:
        return json.dumps(super().arguments(city))


class ArgumentsJoined(Broken):
    """Sends the pieces of all calls under the index 0."""

    fails = ("SRV-31", "SRV-32")
    says = "one JSON object as arguments; got"

    def pieces(self, index: int, name: str, arguments: str) -> Iterator[Json]:
        yield from ({**each, "index": 0} for each in super().pieces(index, name, arguments))


class ArgumentsRepeated(Broken):
    """Sends the whole arguments once more behind their pieces."""

    fails = ("SRV-31", "SRV-50")
    says = "one JSON object as arguments; got"

    def pieces(self, index: int, name: str, arguments: str) -> Iterator[Json]:
        yield from super().pieces(index, name, arguments)
        yield {"index": index, "function": {"arguments": arguments}}


# SRV-32


class IdInEachPiece(Broken):
    """Repeats the id of a call in each of its pieces."""

    fails = ("SRV-32",)
    says = "id and name once for each call; got .call_0. again"

    def pieces(self, index: int, name: str, arguments: str) -> Iterator[Json]:
        yield from ({**each, "id": f"call_{index}"} for each in super().pieces(index, name, arguments))


class NameBehindTheArguments(Broken):
    """Sends the name of a call last."""

    fails = ("SRV-32",)
    says = "id and name in the first piece of a call"

    def pieces(self, index: int, name: str, arguments: str) -> Iterator[Json]:
        first, *others = super().pieces(index, name, arguments)
        yield {**first, "function": {"arguments": ""}}
        yield from others
        yield {"index": index, "function": {"name": name}}


class CallsCountedFromOne(Broken):
    """Counts calls from 1."""

    fails = ("SRV-32",)
    says = "calls with the indexes 0, 1, ...; got .1"

    def pieces(self, index: int, name: str, arguments: str) -> Iterator[Json]:
        yield from ({**each, "index": index + 1} for each in super().pieces(index, name, arguments))


# SRV-33, SRV-34


class ForcedCallForgotten(Broken):
    """Does not know `tool_choice: required`."""

    fails = ("SRV-33",)
    says = "expected a call; got the text"

    def called(self, request: Json, text: str) -> Answer:
        return Answer("It rains.") if request.get("tool_choice") == "required" else super().called(request, text)


class OtherToolCalled(Broken):
    """Calls the first tool, whichever is named."""

    fails = ("SRV-33",)
    says = 'a call of "local_time"; got calls of'

    def called(self, request: Json, text: str) -> Answer:
        return super().called({**request, "tool_choice": "auto"}, text)


class ForbiddenCallMade(Broken):
    """Does not know `tool_choice: none`."""

    fails = ("SRV-33",)
    says = "no call; got calls of"

    def said(self, request: Json) -> Answer:
        answer = super().said(request)
        return super().called({}, "Oslo") if request.get("tool_choice") == "none" else answer

    def limited(self, request: Json, answer: Answer) -> Answer:
        return (
            replace(answer, finish="stop") if request.get("tool_choice") == "none" else super().limited(request, answer)
        )


class SeveralCallsAllTheSame(Broken):
    """Does not know `parallel_tool_calls: false`."""

    fails = ("SRV-34",)
    says = "at most one call; got 2 calls"

    def called(self, request: Json, text: str) -> Answer:
        return super().called({**request, "parallel_tool_calls": True}, text)


# SRV-40, SRV-41


class ReasoningInTheText(Broken):
    """Leaves the reasoning between its tags in the text."""

    fails = ("SRV-40",)
    says = "a text without tags of reasoning; got"

    def thought(self, request: Json) -> Answer:
        answer = super().thought(request)
        return Answer(f"<think>\n{answer.reasoning}\n</think>\n\n{answer.text}")


class EndTagInStreams(Broken):
    """Leaves the closing tag in the text of streams."""

    fails = ("SRV-40", "SRV-50")
    says = "a text without tags of reasoning; got .</think>"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        yield from super().deltas(replace(answer, text=f"</think>{answer.text}") if answer.reasoning else answer)


class ReasoningLostInStreams(Broken):
    """Leaves the reasoning out of streams."""

    fails = ("SRV-41", "SRV-50")
    says = "reasoning in its field in both modes, as in the plain answer; got none in the stream"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        yield from super().deltas(replace(answer, reasoning=""))


class ReasoningAsTextInStreams(Broken):
    """Sends the reasoning of streams as text, without tags."""

    fails = ("SRV-41", "SRV-50")
    says = "reasoning in its field in both modes, as in the plain answer; got none in the stream"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        yield from super().deltas(replace(answer, reasoning="", text=answer.reasoning + answer.text))


class ReasoningOnlyInStreams(Broken):
    """Leaves the reasoning out of plain answers."""

    fails = ("SRV-41", "SRV-50")
    says = "as in the stream; got none in the plain answer"

    def message(self, answer: Answer) -> Json:
        return super().message(replace(answer, reasoning=""))
