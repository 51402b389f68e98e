"""Changes of good answers of servers: what is changed, and whether a rule notices it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llm_conformance.server.apis.known import APIS
from llm_conformance.server.recordings import Recording
from tests.servers import asking
from tests.servers.ollama import OllamaReference
from tools.server_changes.__main__ import explanation, noticed
from tools.server_changes.changes import Change, changed, changes

LINES = b'{"message": {"content": "a"}}\n{"message": {"content": "b"}}\n{"done": true}\n'


def recorded(body: bytes, mode: Any = "stream", status: int = 200) -> Recording:
    """Return a recording with this body."""
    return Recording("plain", mode, 1, "", {}, status, {}, body, (), "closed", 1)


def documents(body: bytes) -> list[Any]:
    """Return the JSON document of each line."""
    return [json.loads(line) for line in body.splitlines()]


def test_a_field_is_changed_in_all_events_that_have_it() -> None:
    path = ("message", "content")
    after = changed(recorded(LINES), Change("change a value", "stream", "", path), APIS["ollama"])
    assert documents(after.body) == [{"message": {"content": "ax"}}, {"message": {"content": "bx"}}, {"done": True}]

    without = changed(recorded(LINES), Change("drop a field", "stream", "", path), APIS["ollama"])
    assert documents(without.body) == [{"message": {}}, {"message": {}}, {"done": True}]


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("drop the first event", "bc"),
        ("drop the last event", "ab"),
        ("drop an event in the middle", "ac"),
        ("repeat the first event", "aabc"),
        ("repeat the last event", "abcc"),
        ("repeat an event in the middle", "abbc"),
        ("swap the first two events", "bac"),
        ("swap the last two events", "acb"),
    ],
)
def test_events_are_dropped_repeated_and_swapped(kind: str, left: str) -> None:
    lines = b"".join(b'{"is": "%c"}\n' % name for name in b"abc")

    after = changed(recorded(lines), Change(kind, "stream"), APIS["ollama"])

    assert "".join(each["is"] for each in documents(after.body)) == left


def test_the_end_mark_of_server_sent_events_is_kept() -> None:
    body = b'data: {"id": "1"}\n\ndata: [DONE]\n\n'

    after = changed(recorded(body), Change("change a type", "stream", "", ("id",)), APIS["chat"])

    assert after.body == b'data: {"id": 7}\n\ndata: [DONE]\n\n'


def test_an_error_is_changed_apart_from_answers() -> None:
    error, answer = recorded(b'{"error": "no"}', "json", 400), recorded(b'{"done": true}', "json")

    found = changes([error, answer], APIS["ollama"])

    assert {str(each) for each in found if each.kind == "drop a field"} == {
        "error: drop a field: error",
        "answer: drop a field: done",
    }
    assert changed(answer, Change("drop a field", "error", "", ("error",)), APIS["ollama"]) is answer


def test_a_survivor_is_explained_and_a_change_that_a_rule_notices_is_none() -> None:
    target, kept = asking.recordings_of(OllamaReference())
    survivor = Change("change a value", "answer", "", ("model",))

    assert noticed(target, kept, survivor) is False
    assert "alias" in str(explanation("ollama", survivor))
    assert noticed(target, kept, Change("drop a field", "answer", "", ("done_reason",))) is True
    assert noticed(target, kept, Change("drop the last event", "stream")) is True
    assert noticed(target, kept, Change("drop a field", "answer", "", ("no_such_field",))) is None
