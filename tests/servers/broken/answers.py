"""Broken servers that fail WIRE-7 to WIRE-13, or SRV rules about the content of answers, first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.servers.broken.base import Broken
from tests.servers.reference import Answer, Json, RefusalError, Reply, tokens_of

# WIRE-7


class NoFinishReason(Broken):
    """Leaves the finish reason of plain answers out."""

    fails = ("WIRE-7",)
    says = "`finish_reason` is missing"

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        document = super().completion(request, answers)
        for choice in document["choices"]:
            del choice["finish_reason"]
        return document


class OtherObject(Broken):
    """Calls plain answers something else."""

    fails = ("WIRE-7",)
    says = 'object: must be "chat.completion"'

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        return {**super().completion(request, answers), "object": "text_completion"}


class TimeAsFloat(Broken):
    """Gives the time with fractions of a second."""

    fails = ("WIRE-7", "WIRE-8")
    says = "created: must be an integer"

    def head(self, kind: str) -> Json:
        return {**super().head(kind), "created": 1767225600.25}


class ArgumentsAsObject(Broken):
    """Gives the arguments of calls as an object."""

    fails = ("WIRE-7", "SRV-50")
    says = "arguments: must be a string"

    def message(self, answer: Answer) -> Json:
        message = super().message(answer)
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        return message


# WIRE-8


class ChunksNamedAsAnswers(Broken):
    """Calls chunks `chat.completion`."""

    fails = ("WIRE-8",)
    says = 'object: must be "chat.completion.chunk"'

    def head(self, kind: str) -> Json:
        return super().head("chat.completion")


class ChunksWithMessages(Broken):
    """Has `message` instead of `delta` in chunks."""

    fails = ("WIRE-8",)
    says = "`delta` is missing"

    def entries(self, request: Json, index: int, answer: Answer) -> Iterator[Json]:
        for entry in super().entries(request, index, answer):
            yield {**{name: value for name, value in entry.items() if name != "delta"}, "message": entry["delta"]}


class OwnFinishWord(Broken):
    """Ends streams with a finish word of its own."""

    fails = ("WIRE-8", "SRV-50")
    says = "finish_reason: must be .* and is .eos."

    def entries(self, request: Json, index: int, answer: Answer) -> Iterator[Json]:
        finish = "eos" if answer.finish == "stop" and not request.get("stop") else answer.finish
        yield from super().entries(request, index, replace(answer, finish=finish))


class CallsWithoutIndex(Broken):
    """Leaves the index of calls out."""

    fails = ("WIRE-8", "SRV-31", "SRV-32")
    says = "tool_calls.0: `index` is missing"

    def pieces(self, index: int, name: str, arguments: str) -> Iterator[Json]:
        for piece in super().pieces(index, name, arguments):
            yield {name: value for name, value in piece.items() if name != "index"}


# WIRE-9


class IdOfEachChunk(Broken):
    """Gives each chunk an id of its own."""

    fails = ("WIRE-9",)
    says = "the same `id` in all chunks"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        found = super().chunks(request, answers)
        return [{**each, "id": f"{each['id']}-{number}"} for number, each in enumerate(found)]


class TimeOfEachChunk(Broken):
    """Gives each chunk the time at which it is made."""

    fails = ("WIRE-9",)
    says = "the same `created` in all chunks"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        found = super().chunks(request, answers)
        return [{**each, "created": each["created"] + number} for number, each in enumerate(found)]


# WIRE-10


class StreamWithoutFinishReason(Broken):
    """Ends streams without a finish reason."""

    fails = ("WIRE-10",)
    says = "a finish reason; got none"

    def entries(self, request: Json, index: int, answer: Answer) -> Iterator[Json]:
        yield from ({**each, "finish_reason": None} for each in super().entries(request, index, answer))


class FinishReasonInEachChunk(Broken):
    """Repeats the finish reason in each chunk."""

    fails = ("WIRE-10",)
    says = "one finish reason; got"

    def entries(self, request: Json, index: int, answer: Answer) -> Iterator[Json]:
        yield from ({**each, "finish_reason": answer.finish} for each in super().entries(request, index, answer))


class TextBehindTheFinishReason(Broken):
    """Sends the last token behind the finish reason."""

    fails = ("WIRE-10",)
    says = "nothing behind the finish reason; got"

    def entries(self, request: Json, index: int, answer: Answer) -> Iterator[Json]:
        *others, last, end = super().entries(request, index, answer)
        yield from (*others, end, last)


# WIRE-11


class ErrorAsText(Broken):
    """Refuses with a text."""

    fails = ("WIRE-11",)
    says = 'content type "application/json"; got "text/plain"'

    def refusal(self, refusal: RefusalError) -> Reply:
        return Reply(refusal.status, "text/plain", [str(refusal).encode()])


class ErrorAsDetail(Broken):
    """Refuses in the form of FastAPI."""

    fails = ("WIRE-11",)
    says = "a JSON object with `error`; got"

    def refusal(self, refusal: RefusalError) -> Reply:
        return Reply(refusal.status, "application/json", [self.written({"detail": str(refusal)}).encode()])


class ErrorWithoutType(Broken):
    """Leaves the type of errors out."""

    fails = ("WIRE-11",)
    says = "error.type: expected a text as `type`"

    def refusal(self, refusal: RefusalError) -> Reply:
        del refusal.error["type"]
        return super().refusal(refusal)


# WIRE-12


class StatusAsCode(Broken):
    """Gives the status as the code of errors."""

    fails = ("WIRE-12",)
    says = "a text or null as `code`; got 40"

    def refusal(self, refusal: RefusalError) -> Reply:
        refusal.error["code"] = refusal.status
        return super().refusal(refusal)


# WIRE-13


class CharactersCut(Broken):
    """Cuts characters of several bytes in two, and replaces the parts."""

    fails = ("WIRE-13", "SRV-50")
    says = "whole characters in each chunk"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        for delta in super().deltas(answer):
            text = delta.get("content") or ""
            if "🙂" in text:
                yield {"content": text.replace("🙂", "\ufffd\ufffd").rstrip()}
                yield {"content": "\ufffd\ufffd "}
            else:
                yield delta


class SurrogatesCut(Broken):
    """Cuts surrogate pairs in two."""

    fails = ("WIRE-13", "SRV-50")
    says = "half of a surrogate pair"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        for delta in super().deltas(answer):
            if "🙂" in (delta.get("content") or ""):
                yield from ({"content": each} for each in ("\ud83d", "\ude42 "))
            else:
                yield delta

    def written(self, document: object) -> str:
        return json.dumps(document)


# SRV-4


class OneChoiceOnly(Broken):
    """Gives one choice however many are asked for."""

    fails = ("SRV-4",)
    says = "choices with the indexes .0, 1.; got .0."

    def choices(self, request: Json) -> int:
        return 1


class ChoicesWithoutNumbers(Broken):
    """Gives all choices the index 0."""

    fails = ("SRV-4",)
    says = "choices with the indexes .0, 1.; got .0"

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        document = super().completion(request, answers)
        return {**document, "choices": [{**each, "index": 0} for each in document["choices"]]}


# SRV-5


class OneId(Broken):
    """Gives all answers the same id."""

    fails = ("SRV-5",)
    says = "an id of its own"

    def head(self, kind: str) -> Json:
        return {**super().head(kind), "id": "chatcmpl-0"}


# SRV-6, SRV-7, SRV-8


class FencedJson(Broken):
    """Puts the JSON of JSON mode into a fence."""

    fails = ("SRV-6",)
    says = "expected JSON; got"

    def as_json(self, request: Json) -> Answer:
        answer = super().as_json(request)
        is_schema = request["response_format"]["type"] == "json_schema"
        return answer if is_schema else replace(answer, text=f"```json\n{answer.text}\n```")


class SchemaForgotten(Broken):
    """Gives JSON of another schema."""

    fails = ("SRV-7",)
    says = "JSON of the given schema; got"

    def as_json(self, request: Json) -> Answer:
        answer = super().as_json(request)
        is_schema = request["response_format"]["type"] == "json_schema"
        return replace(answer, text='{"town": "Paris"}') if is_schema else answer


class LogprobsForgotten(Broken):
    """Does not give the probabilities in streams."""

    fails = ("SRV-8",)
    says = "`logprobs` with a list"

    def entries(self, request: Json, index: int, answer: Answer) -> Iterator[Json]:
        yield from super().entries({**request, "logprobs": False}, index, answer)


class LogprobsOfOtherTokens(Broken):
    """Gives probabilities of other tokens than those of the text."""

    fails = ("SRV-8",)
    says = "the tokens of"

    def logprobs(self, request: Json, tokens: Sequence[str]) -> Json | None:
        return super().logprobs(request, [each.lower() for each in tokens])


class TooManyAlternatives(Broken):
    """Gives more alternatives than asked for."""

    fails = ("SRV-8",)
    says = "at most 2 alternatives; got 4"

    def logprobs(self, request: Json, tokens: Sequence[str]) -> Json | None:
        found = super().logprobs(request, tokens)
        for entry in (found or {}).get("content", ()):
            entry["top_logprobs"] *= 2
        return found


class Probabilities(Broken):
    """Gives probabilities instead of their logarithms."""

    fails = ("SRV-8",)
    says = "a logarithm of at most 0; got 0.7788"

    def logprobs(self, request: Json, tokens: Sequence[str]) -> Json | None:
        found = super().logprobs(request, tokens)
        for entry in (found or {}).get("content", ()):
            entry["logprob"] = 0.7788
        return found


# SRV-10 to SRV-14


class TotalWithoutThePrompt(Broken):
    """Gives the completion as the total."""

    fails = ("SRV-10",)
    says = "total_tokens"

    def usage(self, answers: Sequence[Answer]) -> Json:
        usage = super().usage(answers)
        return {**usage, "total_tokens": usage["completion_tokens"]}


class ReasoningCountedBeside(Broken):
    """Does not count reasoning as a part of the completion."""

    fails = ("SRV-10",)
    says = "reasoning tokens, which are a part of the completion"

    def usage(self, answers: Sequence[Answer]) -> Json:
        usage = super().usage(answers)
        thought = usage["completion_tokens_details"]["reasoning_tokens"]
        completion = usage["completion_tokens"] - thought
        return {**usage, "completion_tokens": completion, "total_tokens": usage["prompt_tokens"] + completion}


class NothingCounted(Broken):
    """Counts no token of an answer."""

    fails = ("SRV-10",)
    says = "at least one token for the answer"

    def usage(self, answers: Sequence[Answer]) -> Json:
        usage = super().usage(answers)
        return {"prompt_tokens": usage["prompt_tokens"], "completion_tokens": 0, "total_tokens": usage["prompt_tokens"]}


class PlainAnswerWithoutCounts(Broken):
    """Does not count plain answers."""

    fails = ("SRV-11",)
    says = "expected `usage`; got none"

    def completion(self, request: Json, answers: Sequence[Answer]) -> Json:
        return {name: value for name, value in super().completion(request, answers).items() if name != "usage"}


class StreamWithoutCounts(Broken):
    """Does not count streams."""

    fails = ("SRV-12",)
    says = "a chunk with `usage`; got none"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        return super().chunks({**request, "stream_options": None}, answers)


class CountsInEachChunk(Broken):
    """Gives the counts in each chunk."""

    fails = ("SRV-12",)
    says = "counts in one chunk; got counts in"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        found = super().chunks(request, answers)
        return [{**each, "usage": self.usage(answers)} if "usage" in each else each for each in found]


class CountsBesideTheFinishReason(Broken):
    """Gives the counts in the chunk with the finish reason."""

    fails = ("SRV-12",)
    says = "an empty list of choices beside `usage`"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        found = super().chunks(request, answers)
        if not found[-1].get("usage"):
            return found
        *others, end, counts = found
        return [*others, {**end, "usage": counts["usage"]}]


class CountsUnasked(Broken):
    """Counts every stream."""

    fails = ("SRV-13",)
    says = "no `usage`, for which nobody asks"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        return super().chunks({**request, "stream_options": {"include_usage": True}}, answers)


class PromptOfStreamsNotCounted(Broken):
    """Counts one token for the prompt of each stream."""

    fails = ("SRV-14",)
    says = "tokens of the prompt, as in the plain answer"

    def chunks(self, request: Json, answers: Sequence[Answer]) -> list[Json]:
        return super().chunks(request, [replace(each, asks=1) for each in answers])


# SRV-20 to SRV-23


class LimitForgotten(Broken):
    """Does not obey the limit on tokens."""

    fails = ("SRV-20",)
    says = "at most 4 tokens; got 12 tokens"

    def limited(self, request: Json, answer: Answer) -> Answer:
        return answer


class CutAnswerStops(Broken):
    """Ends an answer that the limit has cut off with `stop`."""

    fails = ("SRV-21",)
    says = 'the finish word "length"; got "stop" after 4 of 4 tokens'

    def limited(self, request: Json, answer: Answer) -> Answer:
        limited = super().limited(request, answer)
        return replace(limited, finish="stop") if limited.finish == "length" else limited


class WholeAnswerCut(Broken):
    """Ends each answer with `length`."""

    fails = ("SRV-21",)
    says = "another finish word than length"

    def limited(self, request: Json, answer: Answer) -> Answer:
        return replace(super().limited(request, answer), finish="length")


class CallsStop(Broken):
    """Ends answers with calls with `stop`."""

    fails = ("SRV-22",)
    says = 'the finish word "tool_calls" for an answer with calls; got "stop"'

    def called(self, request: Json, text: str) -> Answer:
        return replace(super().called(request, text), finish="stop")


class CallsWithoutCalls(Broken):
    """Ends answers to requests with tools with `tool_calls`, whether there are calls or not."""

    fails = ("SRV-22",)
    says = "a call with the finish word tool_calls; got none"

    def said(self, request: Json) -> Answer:
        answer = super().said(request)
        return replace(answer, finish="tool_calls") if request.get("tools") else answer


class StopSequenceInTheText(Broken):
    """Ends the text behind the stop sequence."""

    fails = ("SRV-23",)
    says = 'a text without "four"'

    def stopped(self, request: Json, answer: Answer) -> Answer:
        for word in request.get("stop") or ():
            before, found, _ = answer.text.partition(word)
            answer = replace(answer, text=before + found)
        return answer


class StopSequenceInStreams(Broken):
    """Looks for stop sequences in plain answers only."""

    fails = ("SRV-23",)
    says = 'a text without "four"'

    def stopped(self, request: Json, answer: Answer) -> Answer:
        return answer if request.get("stream") else super().stopped(request, answer)


# SRV-50


class SpacesLost(Broken):
    """Strips each token of a stream."""

    fails = ("SRV-50",)
    says = "the text of the plain answer"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        for delta in super().deltas(answer):
            yield {**delta, "content": delta["content"].strip()} if delta.get("content") else delta

    def logprobs(self, request: Json, tokens: Sequence[str]) -> Json | None:
        return super().logprobs(request, [each for token in tokens for each in tokens_of(token)])


class FirstTokenLost(Broken):
    """Leaves the first token of a stream out."""

    fails = ("SRV-50", "SRV-6", "SRV-7")
    says = "the text of the plain answer"

    def deltas(self, answer: Answer) -> Iterator[Json]:
        first = True
        for delta in super().deltas(answer):
            if first and delta.get("content"):
                first = False
            else:
                yield delta
