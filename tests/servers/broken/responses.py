"""Broken servers of responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.servers.broken.base import Broken
from tests.servers.reference import Answer, Json, RefusalError, Reply
from tests.servers.responses import ResponsesReference


class BrokenResponses(Broken, ResponsesReference):
    """The reference server of responses with one fault."""

    def changed(self, events: list[Json]) -> list[Json]:
        """Return the events of a stream as they are sent."""
        return events

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        return self.changed(super().chunks(request, answers))


# WIRE-7, WIRE-8


class ToolsNotRepeated(BrokenResponses):
    """Does not say which tools a response had."""

    fails = ("WIRE-7", "WIRE-8")
    says = "`tools` is missing"

    def begun(self, request: Json) -> Json:
        return {name: value for name, value in super().begun(request).items() if name != "tools"}


class TextOfAnotherType(BrokenResponses):
    """Calls the text of a message `text`, as chat completions do."""

    fails = ("WIRE-7", "WIRE-8")
    says = 'content.0.type: must be "output_text" or "refusal", and is "text"'

    def items(self, answer: Answer) -> list[Json]:
        return [
            {**item, "content": [{**part, "type": "text"} for part in item["content"]]}
            if item["type"] == "message"
            else item
            for item in super().items(answer)
        ]

    def pieces_of(self, name: str, place: Json, field: str, whole: str) -> Iterator[Json]:
        return super().pieces_of(name.replace("response.text", "response.output_text"), place, field, whole)


class NoNumbers(BrokenResponses):
    """Does not number events."""

    fails = ("WIRE-8",)
    says = "`sequence_number` is missing"

    def numbered(self, events: Sequence[Json]) -> list[Json]:
        return list(events)


class NoPlaces(BrokenResponses):
    """Does not say to which item a delta belongs."""

    fails = ("WIRE-8",)
    says = "`output_index` is missing"

    def changed(self, events: list[Json]) -> list[Json]:
        return [
            {name: value for name, value in each.items() if name != "output_index" or "delta" not in each}
            for each in events
        ]


# WIRE-6


class GoesOnBehindTheEnd(BrokenResponses):
    """Sends the last event twice."""

    fails = ("WIRE-6",)
    says = "nothing behind response.completed"

    def changed(self, events: list[Json]) -> list[Json]:
        last = events[-1]
        return [*events, {**last, "sequence_number": last["sequence_number"] + 1}]


# WIRE-12


class CodeAsNumber(BrokenResponses):
    """Gives the status as the code of errors."""

    fails = ("WIRE-12",)
    says = "a text or null as `code`"

    def check(self, request: Json) -> None:
        try:
            super().check(request)
        except RefusalError as refusal:
            refusal.error["code"] = refusal.status
            raise


# WIRE-14


class NamedAsMessages(BrokenResponses):
    """Calls all events `message`."""

    fails = ("WIRE-14",)
    says = 'the name "response.created"; got "message"'

    def frames(self, chunks: Sequence[Json]) -> list[bytes]:
        return [f"event: message\ndata: {self.written(each)}\n\n".encode() for each in chunks]


# WIRE-20


class OneNumberForAll(BrokenResponses):
    """Gives all events the number 0."""

    fails = ("WIRE-20",)
    says = "a sequence_number above 0; got 0"

    def numbered(self, events: Sequence[Json]) -> list[Json]:
        return [{**each, "sequence_number": 0} for each in events]


# WIRE-21


class NotCreated(BrokenResponses):
    """Begins with `response.in_progress`."""

    fails = ("WIRE-21",)
    says = "response.created as the first event"

    def changed(self, events: list[Json]) -> list[Json]:
        return events[1:]


class ItemsNotAdded(BrokenResponses):
    """Does not add messages before their events."""

    fails = ("WIRE-21",)
    says = "an event of an item that was added"

    def changed(self, events: list[Json]) -> list[Json]:
        is_added = "response.output_item.added"
        return [each for each in events if each["type"] != is_added or each["item"]["type"] != "message"]


class ItemsNotDone(BrokenResponses):
    """Does not say that items are done."""

    fails = ("WIRE-21",)
    says = "each item done; got"

    def changed(self, events: list[Json]) -> list[Json]:
        return [each for each in events if each["type"] != "response.output_item.done"]


class OtherIdInDeltas(BrokenResponses):
    """Gives each delta of a text an id of its own."""

    fails = ("WIRE-21", "WIRE-22")
    says = "an event of an item that was added"

    def changed(self, events: list[Json]) -> list[Json]:
        return [
            {**each, "item_id": f"msg_{number}"} if each["type"] == "response.output_text.delta" else each
            for number, each in enumerate(events)
        ]


# WIRE-22


class TextNotDone(BrokenResponses):
    """Says that an empty text is done."""

    fails = ("WIRE-22",)
    says = "the deltas joined,"

    def changed(self, events: list[Json]) -> list[Json]:
        return [{**each, "text": ""} if each["type"] == "response.output_text.done" else each for each in events]


class ArgumentsTwiceDone(BrokenResponses):
    """Writes the arguments twice in the event that says that they are done."""

    fails = ("WIRE-22",)
    says = "the deltas joined,"

    def changed(self, events: list[Json]) -> list[Json]:
        done = "response.function_call_arguments.done"
        return [{**each, "arguments": each["arguments"] * 2} if each["type"] == done else each for each in events]


class ItemsDoneAsTheyBegan(BrokenResponses):
    """Says that items are done as they were when they were added: without text and arguments."""

    fails = ("WIRE-22",)
    says = "the deltas of the item, joined,"

    def events(self, index: int, item: Json) -> Iterator[Json]:
        added, *others = super().events(index, item)
        is_done = "response.output_item.done"
        yield from (added, *({**each, "item": added["item"]} if each["type"] == is_done else each for each in others))


class OtherCallWhenDone(BrokenResponses):
    """Gives a call another id when it is done."""

    fails = ("WIRE-22",)
    says = "the call as it was added,"

    def changed(self, events: list[Json]) -> list[Json]:
        return [
            {**each, "item": {**each["item"], "call_id": "call_x"}}
            if each["type"] == "response.output_item.done" and "call_id" in each["item"]
            else each
            for each in events
        ]


class PartsDoneEmpty(BrokenResponses):
    """Says that parts are done as they were when they were added: without text."""

    fails = ("WIRE-22",)
    says = "the deltas of the part, joined,"

    def changed(self, events: list[Json]) -> list[Json]:
        is_done = "response.content_part.done"
        return [{**each, "part": {**each["part"], "text": ""}} if each["type"] == is_done else each for each in events]


# WIRE-23


class EmptyAtTheEnd(BrokenResponses):
    """Has no items in the last event."""

    fails = ("WIRE-23",)
    says = "the text of the deltas,"

    def changed(self, events: list[Json]) -> list[Json]:
        last = events[-1]
        return [*events[:-1], {**last, "response": {**last["response"], "output": []}}]


class OtherCallIdAtTheEnd(BrokenResponses):
    """Gives calls another id in the last event."""

    fails = ("WIRE-23",)
    says = "the calls of the deltas"

    def changed(self, events: list[Json]) -> list[Json]:
        last = events[-1]
        items = [{**item, "call_id": "call_x"} if "call_id" in item else item for item in last["response"]["output"]]
        return [*events[:-1], {**last, "response": {**last["response"], "output": items}}]


# WIRE-27


class OtherResponseIdAtTheEnd(BrokenResponses):
    """Gives the response another id in the last event."""

    fails = ("WIRE-27",)
    says = "one response id in all events"

    def changed(self, events: list[Json]) -> list[Json]:
        last = events[-1]
        return [*events[:-1], {**last, "response": {**last["response"], "id": f"{last['response']['id']}x"}}]


class OtherItemIdsAtTheEnd(BrokenResponses):
    """Gives messages and calls other ids in the last event."""

    fails = ("WIRE-27",)
    says = 'the id of the message that was added, "msg_1"; got "msg_1x"'

    def changed(self, events: list[Json]) -> list[Json]:
        last = events[-1]
        items = [{**item, "id": f"{item['id']}x"} for item in last["response"]["output"]]
        return [*events[:-1], {**last, "response": {**last["response"], "output": items}}]


# WIRE-28


class OneOutputIndexTooFar(BrokenResponses):
    """Gives the events of an item the index of the next one."""

    fails = ("WIRE-28",)
    says = "the output_index of the item, 0; got 1 in response.content_part.added"

    def changed(self, events: list[Json]) -> list[Json]:
        return [{**each, "output_index": each["output_index"] + 1} if "item_id" in each else each for each in events]


class TextOfNoPart(BrokenResponses):
    """Counts the parts of a message from 1 in the deltas, and from 0 where they are added."""

    fails = ("WIRE-28",)
    says = r"the content_index of a part that was added, \[0\]; got 1 in response.output_text.delta"

    def changed(self, events: list[Json]) -> list[Json]:
        return [
            {**each, "content_index": each["content_index"] + 1}
            if "content_index" in each and each["type"] != "response.content_part.added"
            else each
            for each in events
        ]


# SRV-66


class ToolsLeftOut(BrokenResponses):
    """Says of each response that it had no tools."""

    fails = ("SRV-66",)
    says = "the tools of the request"

    def begun(self, request: Json) -> Json:
        return {**super().begun(request), "tools": []}


class ChoiceIsAlwaysAuto(BrokenResponses):
    """Says of each response that the model was free to call."""

    fails = ("SRV-66",)
    says = 'the tool_choice of the request, .*; got "auto"'

    def begun(self, request: Json) -> Json:
        return {**super().begun(request), "tool_choice": "auto"}


class AlwaysParallel(BrokenResponses):
    """Says of each response that calls could be made in parallel."""

    fails = ("SRV-66",)
    says = "the parallel_tool_calls of the request, false; got true"

    def begun(self, request: Json) -> Json:
        return {**super().begun(request), "parallel_tool_calls": True}


# SRV-2, SRV-5


class ErrorAtTheStart(BrokenResponses):
    """Says in the first event of a stream with tools that there is an error."""

    fails = ("SRV-2",)
    says = "an error status for an error; got status 200"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        if request.get("tools"):
            return [{"type": "error", "code": None, "message": "no tools", "param": None, "sequence_number": 0}]
        return super().chunks(request, answers)


class OneIdForAllResponses(BrokenResponses):
    """Gives all responses the same id."""

    fails = ("SRV-5",)
    says = "an id of its own"

    def begun(self, request: Json) -> Json:
        return {**super().begun(request), "id": "resp_1"}


# SRV-6, SRV-7, WIRE-1


class JsonModeInAFence(BrokenResponses):
    """Answers in JSON mode as in Markdown."""

    fails = ("SRV-6",)
    says = "JSON; got"

    def as_json(self, request: Json) -> Answer:
        answer = super().as_json(request)
        is_schema = request["text"]["format"]["type"] == "json_schema"
        return answer if is_schema else replace(answer, text=f"```json\n{answer.text}\n```")


class ResponseSchemaForgotten(BrokenResponses):
    """Gives JSON of another schema."""

    fails = ("SRV-7",)
    says = "JSON of the given schema; got"

    def as_json(self, request: Json) -> Answer:
        answer = super().as_json(request)
        is_schema = request["text"]["format"]["type"] == "json_schema"
        return replace(answer, text='{"town": "Paris"}') if is_schema else answer


class FormatOfChatOnly(BrokenResponses):
    """Knows `response_format` of chat completions alone, and so answers in prose."""

    fails = ("SRV-6", "SRV-7")
    says = 'JSON; got "It is Paris in France."'

    def as_json(self, request: Json) -> Answer:
        return super().as_json(request) if "response_format" in request else Answer("It is Paris in France.")


class FormatRefused(BrokenResponses):
    """Refuses a format of the text."""

    fails = ("WIRE-1",)
    says = "status 200; got status 400"

    def check(self, request: Json) -> None:
        super().check(request)
        if "text" in request:
            raise RefusalError(400, "`text` is not known.")


# SRV-21, SRV-62, SRV-63


class CutIsComplete(BrokenResponses):
    """Says that a response is complete that the limit has cut off."""

    fails = ("SRV-21",)
    says = 'the finish word "max_output_tokens"; got "completed" after 16 of 16 tokens'

    def ended(self, answer: Answer) -> Json:
        return {"status": "completed"}


class NoResponseCounts(BrokenResponses):
    """Has no counts."""

    fails = ("SRV-62",)
    says = "expected `usage`; got none"

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        return {**super().completion(request, answers), "usage": None}


class TotalOfTheOutput(BrokenResponses):
    """Leaves the prompt out of the total."""

    fails = ("SRV-62",)
    says = "expected total_tokens"

    def usage(self, answers: Sequence[Answer]) -> Json:
        usage = super().usage(answers)
        return {**usage, "total_tokens": usage["output_tokens"]}


class NoReasonForTheEnd(BrokenResponses):
    """Does not say why a response is incomplete."""

    fails = ("SRV-63",)
    says = "incomplete_details with a reason"

    def ended(self, answer: Answer) -> Json:
        return {**super().ended(answer), "incomplete_details": None}


class StillInProgress(BrokenResponses):
    """Has the status `in_progress` in a plain answer."""

    fails = ("SRV-63", "SRV-50")
    says = 'the status "completed" or "incomplete"; got "in_progress"'

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        whole = super().completion(request, answers)
        return whole if request.get("stream") else {**whole, "status": "in_progress", "incomplete_details": None}


# SRV-30, SRV-41, SRV-50, WIRE-13


class CallsWithOneCallId(BrokenResponses):
    """Gives all calls of a response the same id."""

    fails = ("SRV-30",)
    says = "another id for each call"

    def call(self, number: int, name: str, arguments: str) -> Json:
        return {**super().call(number, name, arguments), "call_id": "call_0"}


class TextTwice(BrokenResponses):
    """Sends the arguments and the text once more in a last delta."""

    fails = ("SRV-50", "SRV-6", "SRV-7", "SRV-31", "WIRE-22", "WIRE-23")
    says = "the text of the plain answer,"

    def pieces_of(self, name: str, place: Json, field: str, whole: str) -> Iterator[Json]:
        *deltas, done = super().pieces_of(name, place, field, whole)
        yield from [*deltas, {"type": f"{name}.delta", **place, "delta": whole}, done]


class ThoughtsNotStreamed(BrokenResponses):
    """Leaves reasoning out of streams."""

    fails = ("SRV-41", "SRV-50")
    says = "reasoning in its field in both modes, as in the plain answer; got none in the stream"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        return super().chunks(request, [replace(each, reasoning="") for each in answers])


class HalfCharactersInDeltas(BrokenResponses):
    """Cuts a character in two at the end of a delta."""

    fails = ("WIRE-13", "SRV-50", "WIRE-22", "WIRE-23")
    says = "half of a surrogate pair"

    def halves(self, event: Json) -> list[Json]:
        before, smile, behind = event.get("delta", "").partition("🙂")
        pieces = (f"{before}\ud83d", f"\ude42{behind}")
        return [{**event, "delta": each} for each in pieces] if smile else [event]

    def numbered(self, events: Sequence[Json]) -> list[Json]:
        return super().numbered([piece for each in events for piece in self.halves(each)])

    def written(self, document: object) -> str:
        return json.dumps(document)


# WIRE-1, WIRE-11, SRV-51


class OutputOfCallsRefused(BrokenResponses):
    """Does not know the output of a call."""

    fails = ("WIRE-1",)
    says = "status 200; got status 400"

    def check(self, request: Json) -> None:
        super().check(request)
        if isinstance(request["input"], list) and request["input"][-1].get("type") == "function_call_output":
            raise RefusalError(400, "`role` is missing.")


class DetailAlone(BrokenResponses):
    """Gives the message of an error alone."""

    fails = ("WIRE-11",)
    says = "a JSON object with `error`"

    def refusal(self, refusal: RefusalError) -> Reply:
        return replace(super().refusal(refusal), pieces=[b'{"detail": "no"}'])


class ResponseLeftOpen(BrokenResponses):
    """Does not end the response behind the last event."""

    fails = ("SRV-51",)
    says = "the end of the response behind response.completed"
    patience_s = 0.5

    def stream(self, request: Json, answers: Sequence[Answer]) -> Reply:
        return replace(super().stream(request, answers), ends="museum" not in str(request["input"]))
