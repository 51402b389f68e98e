"""Checks of the lint: the scenario fits the recorded request, and a replay can do what the scenario says."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from llm_conformance.pointers import at_pointer
from llm_conformance.scenarios import build
from llm_conformance.scenarios.checks.earlier_answers import requests_send_what_answers_have
from llm_conformance.scenarios.checks.recording import Check, Problems, Recording
from llm_conformance.scenarios.expected import read_expected
from llm_conformance.scenarios.round_trip import first_missing_call, first_missing_text, leaks, matches


def _call_is_the_recorded_one(recording: Recording) -> Problems:
    interaction, document, api = recording.interaction, recording.file.document, recording.api
    model, streams = document["call"]["model"], recording.mode == "stream"
    place = api.place(interaction.uri)
    if place is None:
        yield f"recorded from {interaction.uri}, which is no call of {api} in the provider table", ("provider",)
    elif api.path != api.stream_path and (place.template == api.stream_path) != streams:
        yield "the path of the recorded request is of the other mode", ("recordings", recording.mode)
    if interaction.status != 200 and recording.expected.error is None:
        yield f"recorded status {interaction.status}; an answer has 200", ("recordings", recording.mode)
    recorded_model = (place and place.model) or interaction.request.get("model")
    if recorded_model != model:
        yield f"call.model is not the recorded request's {recorded_model!r}", ("call", "model")
    if api.path == api.stream_path and api.asks_for_stream(interaction.request) != streams:
        yield "`stream` in the recorded request is of the other mode", ("recordings", recording.mode)
    # A spoilt stream may look like a plain answer, or it may be the page of a proxy.
    undecided = recording.expected.fault and (api.framing.is_like_plain or not interaction.streamed)
    if interaction.streamed != streams and interaction.status < 400 and not undecided:
        yield "the content type of the recorded answer is of the other mode", ("recordings", recording.mode)
    if api.read_request(interaction.request) != interaction.request:
        yield "the recorded request has a field under an alias of its name", ("recordings", recording.mode)
    for pointer in document.get("match", ()):
        # A field of `stream_params` (such as `stream_options`) is only in streamed requests.
        only_in_streams = pointer.split("/")[1] in document["call"].get("stream_params", {})
        if at_pointer(interaction.request, pointer) is None and (streams or not only_in_streams):
            yield f"the recorded request has no {pointer}", ("match",)


def _outage_is_a_failure(recording: Recording) -> Problems:
    outage = recording.file.outage
    if outage is not None and (outage.status < 500 or recording.api.place(outage.uri) is None):
        yield "the outage is no failure of this API (a status of 500 or more)", ("recordings", "outage")


def _fault_is_possible(recording: Recording) -> Problems:
    document, expected = recording.file.document, recording.expected
    fault = document.get("fault")
    if (fault is not None) != (expected.fault == "connection"):
        yield "`fault` needs `fault: connection` in `expected`, and the reverse", ("expected",)
    if fault is None:
        return
    error = "TimeoutError" if fault["kind"] == "silence" else "ServiceUnavailableError"
    if expected.error != error:
        yield f"the fault {fault['kind']!r} must be expected as {error}", recording.where("error")
    last = 0 if fault["kind"] == "refused" else len(recording.interaction.body) - 1
    if fault["after"] > last:
        yield f"the fault has to come after byte {last} at the latest", ("fault", "after")
    if recording.file.outage is not None:
        yield "a scenario cannot have both an outage and a fault", ("fault",)


def _core_faults_spoil_an_answer(recording: Recording) -> Problems:
    file = recording.file
    if file.document.get("core_faults") and (recording.expected.error or file.outage or file.earlier):
        yield "core faults need the answer to a first request, without an outage", ("core_faults",)


def _cuts_are_in_the_body(recording: Recording) -> Problems:
    cuts = recording.file.document["recordings"].get("cuts", ())
    if cuts and recording.mode == "stream":
        edges = (0, *cuts, len(recording.interaction.body))
        if any(start >= end for start, end in pairwise(edges)):
            yield f"the cuts have to rise, within the stream of {edges[-1]} bytes", ("recordings", "cuts")
    elif cuts and "stream" not in recording.file.modes:
        yield "cuts need a stream", ("recordings", "cuts")


def _keeps_the_round_trip(recording: Recording) -> Problems:
    """Check that the recorded request, which the provider accepted, meets `round_trip`."""
    document, request = recording.file.document, recording.interaction.request
    earlier = recording.file.earlier
    for number, file in earlier.items():
        if recording.mode not in file.modes:
            yield f"{file.path.name} has no {recording.mode} recording", ("call", "messages", number)
    yield from _results_are_of_calls(recording)
    if "round_trip" not in document:
        return
    if not earlier:
        yield "no message of the call is an answer_of", ("round_trip",)
    for pointer, value in document["round_trip"].get("sent", {}).items():
        if not matches(at_pointer(request, pointer), value):
            yield f"the recorded request has something else at {pointer}", ("round_trip", "sent", pointer)
    round_trip = build.round_trip(recording.file, recording.mode)
    if round_trip is not None:
        for pointer, _ in leaks(round_trip, request):
            yield f"the recorded request has earlier reasoning in {pointer}", ("round_trip",)
        missing = first_missing_text(round_trip, request) or first_missing_call(round_trip, request)
        if missing is not None:
            yield f"the recorded request lacks, or has in another order: {missing}", ("call", "messages")
    for number, pointer in enumerate(document["round_trip"].get("absent", ())):
        if at_pointer(request, pointer) is not None:
            yield f"the recorded request has {pointer}", ("round_trip", "absent", number)


def _results_are_of_calls(recording: Recording) -> Problems:
    """Check that every tool result has the id of an earlier call. The call may be in an `answer_of` or in a message."""
    file = recording.file
    if not file.earlier:
        return
    call_ids: set[Any] = set()
    for number, message in enumerate(file.document["call"]["messages"]):
        if number in file.earlier:
            expected = read_expected(file.earlier[number].document["expected"], recording.mode)
            call_ids |= {call.id for call in expected.tool_calls}
        call_ids |= {call.get("id") for call in message.get("tool_calls") or ()}
        answered = message.get("tool_call_id")
        if answered is not None and None not in call_ids and answered not in call_ids:
            yield f"no call before this has the id {answered!r}", ("call", "messages", number)


CHECKS: tuple[Check, ...] = (
    _call_is_the_recorded_one,
    _outage_is_a_failure,
    _fault_is_possible,
    _keeps_the_round_trip,
    requests_send_what_answers_have,
    _core_faults_spoil_an_answer,
    _cuts_are_in_the_body,
)
