"""The lint's checks of one recording: is the truth true to the bytes, and the call to the recorded request?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from llm_conformance import schema
from llm_conformance.compare import first_difference, same
from llm_conformance.contract import ERROR_TYPES, Annotation, error_for_status
from llm_conformance.pointers import at_pointer
from llm_conformance.scenarios import expectation, load
from llm_conformance.scenarios.citations import pair
from llm_conformance.scenarios.expectation import Expectation
from llm_conformance.scenarios.expected import Expected, ExpectedAnnotation, read_expected
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.scenarios.round_trip import holds, leaks, uncalled, unsaid
from llm_conformance.wire import answers
from llm_conformance.wire.answers import WireFacts
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import COUNTS, Api

_ALWAYS_STATED = ("id", "model", "message", "finish_reason", "raw_finish_reason", "usage")

Problems = Iterable[tuple[str, tuple[str | int, ...]]]
Check = Callable[["Recording"], Problems]


class Recording:
    """One mode of a scenario file, with all that a check looks at."""

    def __init__(self, file: ScenarioFile, mode: Mode) -> None:
        self.file = file
        self.mode: Mode = mode
        self.interaction: Interaction = file.interaction(mode)
        self.api: Api = file.api
        self.expected: Expected = read_expected(file.document["expected"], mode)
        speaks = self.interaction.status < 400 and not self.expected.fault
        self.facts: WireFacts = answers.derive(self.interaction, self.api) if speaks else WireFacts()
        self.derived: Expectation = expectation.expect(self.facts, self.api, file.document.get("think_profile", "off"))

    def where(self, key: str, *more: str | int) -> tuple[str | int, ...]:
        """Return the path of a truth key: under its mode if it stands there."""
        own = key in self.file.document["expected"].get(self.mode, {})
        return ("expected", self.mode, key, *more) if own else ("expected", key, *more)


def problems(recording: Recording) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Yield everything that is wrong, each with its path in the scenario file."""
    checks = _CHECKS if recording.expected.error is None else _CHECKS_OF_ERRORS
    for check in checks:
        yield from check(recording)


def _fault_is_possible(recording: Recording) -> Problems:
    document, expected = recording.file.document, recording.expected
    fault = document.get("fault")
    if (fault is not None) != (expected.fault == "connection"):
        yield "a fault of the connection stands both under fault and in the truth, or in neither", ("expected",)
    if fault is None:
        return
    wanted = "TimeoutError" if fault["kind"] == "silence" else "ServiceUnavailableError"
    if expected.error != wanted:
        yield f"who meets with {fault['kind']!r} raises {wanted}", recording.where("error")
    most = 0 if fault["kind"] == "refused" else len(recording.interaction.body) - 1
    if fault["after"] > most:
        yield f"nothing goes wrong any more behind byte {most}", ("fault", "after")
    if recording.file.outage is not None:
        yield "an outage and a fault of the connection cannot be had together", ("fault",)


def _is_that_call(recording: Recording) -> Problems:
    interaction, document, api = recording.interaction, recording.file.document, recording.api
    model, streams = document["call"]["model"], recording.mode == "stream"
    place = api.place(interaction.uri)
    if place is None:
        yield f"recorded from {interaction.uri}, which is no call of {api} in the provider table", ("provider",)
    elif api.path != api.stream_path and (place.template == api.stream_path) != streams:
        yield "the recorded request's path says the other mode", ("recordings", recording.mode)
    if interaction.status != 200 and recording.expected.error is None:
        yield f"recorded status {interaction.status}; an answer has 200", ("recordings", recording.mode)
    recorded_model = (place and place.model) or interaction.request.get("model")
    if recorded_model != model:
        yield f"call.model is not the recorded request's {recorded_model!r}", ("call", "model")
    if api.path == api.stream_path and api.asks_for_stream(interaction.request) != streams:
        yield "the recorded request's `stream` says the other mode", ("recordings", recording.mode)
    # A spoilt list cannot be told from a plain answer: both are application/json.
    undecided = api.framing == "array" and recording.expected.fault
    if interaction.streamed != streams and interaction.status < 400 and not undecided:
        yield "the recorded answer's content type says the other mode", ("recordings", recording.mode)
    outage = recording.file.outage
    if outage is not None and (outage.status < 500 or api.place(outage.uri) is None):
        yield "that is no failure (a status of 500 or more) of this API", ("recordings", "outage")
    if api.read_request(interaction.request) != interaction.request:
        yield "the recorded request has fields under other names than they are read by", ("recordings", recording.mode)
    for pointer in document.get("match", ()):
        # What only streams are asked for (`stream_options`) is matched in their requests alone.
        only_in_streams = pointer.split("/")[1] in document["call"].get("stream_params", {})
        if at_pointer(interaction.request, pointer) is None and (streams or not only_in_streams):
            yield f"the recorded request has no {pointer}", ("match",)


def _cuts_lie_in_the_body(recording: Recording) -> Problems:
    cuts = recording.file.document["recordings"].get("cuts", ())
    if cuts and recording.mode == "stream":
        edges = (0, *cuts, len(recording.interaction.body))
        if any(start >= end for start, end in pairwise(edges)):
            yield f"the cuts do not rise, or lie outside the stream of {edges[-1]} bytes", ("recordings", "cuts")
    elif cuts and "stream" not in recording.file.modes:
        yield "there is no stream to be cut", ("recordings", "cuts")


def _keeps_the_wire_schema(recording: Recording) -> Problems:
    if recording.expected.unknown:
        return
    part = "chunk" if recording.interaction.streamed else "response"
    found: dict[tuple[str, str], list[int]] = {}
    for number, document in enumerate(answers.documents(recording.interaction)):
        for where, message in schema.problems(f"wire/{recording.api.wire}#/$defs/{part}", document):
            found.setdefault(("/".join(map(str, where)), message), []).append(number)
    for (field, message), numbers in found.items():
        more = f" (and of {len(numbers) - 1} more)" if len(numbers) > 1 else ""
        yield f"document {numbers[0]} of the body{more}, at /{field}: {message}", ("recordings", recording.mode)


def _states_enough(recording: Recording) -> Problems:
    expected = recording.expected
    missing = [key for key in _ALWAYS_STATED if key not in expected.stated]
    if missing:
        yield f"the truth of {recording.mode} does not state {', '.join(missing)}", ("expected",)
    both = recording.file.document["recordings"]
    if both.get("same_content") and len(recording.file.modes) < 2:
        yield "same_content needs both recordings", ("recordings",)


def _names_errors_of_the_contract(recording: Recording) -> Problems:
    for name in (recording.expected.error, *recording.expected.may_raise):
        if name is not None and name not in ERROR_TYPES:
            yield f"{name!r} is no error class of the contract", ("expected",)


def _is_an_error(recording: Recording) -> Problems:
    facts, status = recording.facts, recording.interaction.status
    named = error_for_status(status).__name__ if status >= 400 else recording.expected.error
    if recording.expected.error != named:
        yield f"a status of {status} is {named}", recording.where("error")
    if not (facts.error or (facts.finish is None and not facts.ended)):
        yield "the truth says error, but the bytes show none and end properly", recording.where("error")


def _says_where_it_comes_from(recording: Recording) -> Problems:
    expected, facts = recording.expected, recording.facts
    if set(expected.ids) - {None} != set(facts.ids):
        yield f"id {list(expected.ids)} contradicts the bytes, which say {facts.ids}", recording.where("id")
    times = recording.derived.times
    if "created" in expected.stated and set(expected.times) - {None} != set(times):
        yield (
            f"created {list(expected.times)} contradicts the bytes, which say {list(times)}",
            recording.where("created"),
        )
    model = facts.model or recording.file.document["call"]["model"]
    if "model" in expected.stated and expected.model != model:
        yield f"model {expected.model!r} contradicts the bytes, which say {model!r}", recording.where("model")


def _has_the_text(recording: Recording) -> Problems:
    expected, derived = recording.expected, recording.derived
    if expected.message_is_json != derived.message_is_json:
        yield "message_is_json contradicts the bytes", recording.where("message_is_json")
    if (expected.reasoning_source == "tag") != derived.by_tag:
        yield "reasoning_source contradicts the bytes and the think_profile", recording.where("reasoning_source")
    for key, said, shown in (
        ("message", expected.message, derived.message),
        ("reasoning", expected.reasoning or "", derived.reasoning or ""),
        ("refusal", expected.refusal, derived.refusal),
    ):
        as_json = key == "message" and expected.message_is_json and derived.message_is_json
        if as_json and same(json.loads(said), json.loads(shown)):
            continue
        if said != shown and not (key == "message" and expected.unknown):
            yield f"{key} contradicts the bytes, {_difference(said, shown)}", recording.where(key)


def _difference(said: str, shown: str) -> str:
    at = first_difference(said, shown)
    return f"at code point {at}: {said[at : at + 20]!r} is stated, {shown[at : at + 20]!r} is there"


def _segments_join(recording: Recording) -> Problems:
    expected = recording.expected
    if "segments" not in expected.stated:
        return
    text = "".join(segment.content for segment in expected.segments if segment.type == "text")
    if text != expected.message:
        yield "the text segments do not join to the message", recording.where("segments")
    reasoning = "".join(segment.content for segment in expected.segments if segment.type == "reasoning")
    if reasoning != (expected.reasoning or ""):
        yield "the reasoning segments do not join to the reasoning", recording.where("segments")
    for number, segment in enumerate(expected.segments):
        for key in ("signature", "redacted", "encrypted"):
            value = segment.metadata.get(key)
            if isinstance(value, str) and value not in recording.facts.opaque:
                yield f"the {key} is not in the bytes", recording.where("segments", number)


def _spans_lie_in_the_message(recording: Recording) -> Problems:
    expected = recording.expected
    for number, annotation in enumerate(expected.annotations):
        where = recording.where("annotations", number)
        start, end = annotation.start, annotation.end
        if (start is None) != (end is None) or (start is None) != (annotation.text is None):
            yield "start, end and text are all given or all null", where
        elif start is not None and end is not None:
            if not 0 <= start <= end <= len(expected.message):
                yield f"({start}, {end}) lies outside the message of {len(expected.message)} code points", where
            elif expected.message[start:end] != annotation.text:
                yield f"message[{start}:{end}] is {expected.message[start:end]!r}, not the stated text", where


def _annotations_are_there(recording: Recording) -> Problems:
    """Compare with the wire's own: as many, at the same places, with all of their data."""
    expected, shown = recording.expected, recording.derived.annotations
    if "annotations" not in expected.stated and (not shown or recording.facts.found):
        return  # what the search of the provider found beside them may be annotations, or not
    if len(expected.annotations) != len(shown):
        yield (
            f"the truth has {len(expected.annotations)} annotations, the bytes {len(shown)}",
            recording.where("annotations"),
        )
        return
    leaves = set(_leaves(list(answers.documents(recording.interaction)))) if shown else set()
    wanted = [ExpectedAnnotation(start, end, None, facts.data) for start, end, facts in shown]
    given = [Annotation(each.start, each.end, each.data) for each in expected.annotations]
    for matched, (_, _, facts) in zip(pair(wanted, given), shown, strict=True):
        if matched.actual is None:
            yield f"the bytes show an annotation with {matched.expected.data}", recording.where("annotations")
            continue
        where = recording.where("annotations", given.index(matched.actual))
        span = matched.expected.start, matched.expected.end
        stated = matched.actual.start, matched.actual.end
        if span != stated:
            yield f"the bytes put it at {span}, the truth at {stated}", where
        if (
            stated[0] is not None
            and facts.annotated is not None
            and facts.annotated != expected.annotations[given.index(matched.actual)].text
        ):
            yield f"the wire says that {facts.annotated!r} is annotated", where
        for key, value in matched.expected.data.items():
            if not same(matched.actual.data.get(key), value):
                yield f"data.{key} is {value!r} in the bytes, not {matched.actual.data.get(key)!r}", where
        if not set(_leaves(matched.actual.data)) <= leaves:
            yield "data has something that the bytes do not show", where


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _attachments_are_there(recording: Recording) -> Problems:
    said = [(each.get("data") or "", each.get("transcript") or "") for each in recording.expected.attachments]
    shown = [(each.get("data") or "", each.get("transcript") or "") for each in recording.facts.media]
    if said != shown:
        yield (
            f"the bytes show {len(shown)} pieces of media, of other data or transcript than the truth's {len(said)}",
            recording.where("attachments"),
        )


def _tool_calls_are_there(recording: Recording) -> Problems:
    said = [(call.id, call.name, _arguments(recording, call.arguments)) for call in recording.expected.tool_calls]
    shown = [(call.id, call.name, _arguments(recording, call.arguments)) for call in recording.derived.tool_calls]
    if not same(said, shown):
        yield f"the bytes show the tool calls {shown}, the truth {said}", recording.where("tool_calls")


def _arguments(recording: Recording, text: str) -> Any:
    """Return arguments as they compare: as text where the provider sends text, else as JSON values."""
    return text if recording.api.tool_arguments == "text" else json.loads(text)


def _usage_follows_the_algebra(recording: Recording) -> Problems:
    expected, derived = recording.expected, recording.derived.usage
    if "usage" not in expected.stated:
        return
    if (expected.usage is None) != (derived is None):
        yield f"usage is {expected.usage!r}, but the bytes and the algebra give {derived!r}", recording.where("usage")
    if expected.usage is None or derived is None:
        return
    for count in COUNTS:
        said, shown = getattr(expected.usage, count), getattr(derived, count)
        if said != shown:
            yield f"{count} is {said}, but the bytes and the algebra give {shown}", recording.where("usage", count)


def _finish_follows_the_table(recording: Recording) -> Problems:
    expected, facts = recording.expected, recording.facts
    words = {facts.finish, facts.finish_also or facts.finish}
    if "raw_finish_reason" in expected.stated and set(expected.raw_finish_reasons) != words:
        yield f"the bytes say {' and '.join(map(repr, words))}", recording.where("raw_finish_reason")
    if set(expected.finish_reasons) != set(recording.derived.finish_reasons):
        right = " or ".join(map(repr, recording.derived.finish_reasons))
        yield f"by the provider table, {facts.finish!r} means {right}", recording.where("finish_reason")


def _replays_as_demanded(recording: Recording) -> Problems:
    """The recorded request is one that the provider took."""
    document, request = recording.file.document, recording.interaction.request
    earlier = recording.file.earlier
    for number, each in earlier.items():
        if recording.mode not in each.modes:
            yield f"{each.path.name} has no {recording.mode} recording", ("call", "messages", number)
    yield from _results_are_of_calls(recording)
    if "round_trip" not in document:
        return
    if not earlier:
        yield "no message of the call is an answer_of", ("round_trip",)
    for pointer, wanted in document["round_trip"].get("sent", {}).items():
        if not holds(at_pointer(request, pointer), wanted):
            yield f"the recorded request has something else at {pointer}", ("round_trip", "sent", pointer)
    round_trip = load.round_trip(recording.file, recording.mode)
    if round_trip is not None:
        for pointer, _ in leaks(round_trip, request):
            yield f"the recorded request has earlier reasoning in {pointer}", ("round_trip",)
        # What is generated has of its request no more than what the wire writer knows of it.
        is_whole = recording.file.cassette.metadata["provenance"] != "generated"
        lacks = unsaid(round_trip, request) or uncalled(round_trip, request)
        if is_whole and lacks is not None:
            yield f"the recorded request lacks, or has out of its order: {lacks}", ("call", "messages")
    for number, pointer in enumerate(document["round_trip"].get("absent", ())):
        if at_pointer(request, pointer) is not None:
            yield f"the recorded request has {pointer}", ("round_trip", "absent", number)


def _results_are_of_calls(recording: Recording) -> Problems:
    """A tool's result answers a call that was made: of an answer that is replayed, or that stands there as it is."""
    file = recording.file
    if not file.earlier:
        return
    made: set[Any] = set()
    for number, message in enumerate(file.document["call"]["messages"]):
        if number in file.earlier:
            expected = read_expected(file.earlier[number].document["expected"], recording.mode)
            made |= {call.id for call in expected.tool_calls}
        made |= {call.get("id") for call in message.get("tool_calls") or ()}
        answers = message.get("tool_call_id")
        if answers is not None and None not in made and answers not in made:
            yield f"no call before this has the id {answers!r}", ("call", "messages", number)


_CHECKS: tuple[Check, ...] = (
    _is_that_call,
    _fault_is_possible,
    _replays_as_demanded,
    _cuts_lie_in_the_body,
    _keeps_the_wire_schema,
    _states_enough,
    _names_errors_of_the_contract,
    _says_where_it_comes_from,
    _has_the_text,
    _segments_join,
    _spans_lie_in_the_message,
    _annotations_are_there,
    _attachments_are_there,
    _tool_calls_are_there,
    _usage_follows_the_algebra,
    _finish_follows_the_table,
)
_CHECKS_OF_ERRORS: tuple[Check, ...] = (
    _is_that_call,
    _fault_is_possible,
    _replays_as_demanded,
    _cuts_lie_in_the_body,
    _names_errors_of_the_contract,
    _is_an_error,
)
