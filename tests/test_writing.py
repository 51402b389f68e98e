"""How documents become bytes: escapes, line ends, comments, names of events and white space are the provider's."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from llm_conformance.generate.writing import COMMAS, EVENT_NAMES, ways_of_bytes
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.framings.base import Escapes, Frame, Writing, json_text
from llm_conformance.wire.framings.registry import named
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.table import table
from tests.draws import drawn

JSON, EVENTS = "application/json", "text/event-stream"
FRAMES = [Frame({"type": "message_start"}, "message_start"), Frame({"a": "\nevent: b"}, "two", ends=True)]


def ways_of(content_type: str, body: str) -> set[str]:
    interaction = Interaction("https://example.org", {}, 200, {"content-type": content_type}, body.encode())
    return {f"{variation.name}: {way}" for variation, way in ways_of_bytes(interaction)}


@pytest.mark.parametrize("escapes", ["none", "markup", "markup and controls", "beyond ASCII"])
def test_escaped_text_is_the_same_text(escapes: Escapes) -> None:
    value = {"a": 'é<b>&"\\u003c\u2028\x85😀'}
    assert json.loads(json_text(value, escapes)) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "x"}', set()),
        ('{"a": "é"}', set()),  # those who escape markup write it so, too
        ('{"a": "é<"}', {"escapes: none"}),
        ('{"a": "é&"}', set()),  # those who escape markup may leave it
        ('{"a": "\x85"}', {"control characters: as they are"}),
        (r'{"a": "é\u0085"}', {"control characters: escaped"}),
        (r'{"a": "é\u003c"}', {"escapes: markup"}),
        (r'{"a": "\u2028"}', set()),  # either of the two
        (r'{"a": "\u2028<"}', {"escapes: beyond ASCII"}),
        (r'{"a": "\u00e9<"}', {"escapes: beyond ASCII"}),
        (r'{"a": "{\"b\": \"\\u00e9\"}"}', set()),  # escaped in a text
    ],
)
def test_escapes_are_recognised(text: str, expected: set[str]) -> None:
    assert ways_of(JSON, text) == expected | {"before a document: none"}


def test_what_is_around_documents_is_recognised() -> None:
    assert ways_of(JSON, "\n  {}") == {"before a document: blank lines"}
    assert ways_of(EVENTS, ": ping 12\n\ndata: {}\n\n") == {
        *("line ends: LF", "space behind data:: one", "comments: : ping 00")
    }
    assert ways_of(EVENTS, "data:{}\r\n\r\n") == {"line ends: CRLF", "space behind data:: none", "comments: none"}


def test_a_server_written_in_go_never_sends_a_line_separator_as_it_is() -> None:
    api = table()["ollama", "chat"]

    @settings(max_examples=60, derandomize=True, deadline=None, database=None)
    @given(THEMES[0].scenarios(api, "stream"))
    def check(scenario: Scenario) -> None:
        assert not set("<>&\u2028\u2029") & set(scenario.interactions["stream"].body.decode())

    check()
    assert json_text("\x85\u2028", "markup") == '"\x85\\u2028"', "what splits its lines for careless readers is U+0085"


@pytest.mark.parametrize("way", EVENT_NAMES.ways)
def test_names_of_events_are_where_they_are_drawn(way: str) -> None:
    assert ways("server-sent events", Writing(names=way))[EVENT_NAMES.name] == {way}


@pytest.mark.parametrize(("comma", "way"), [(",\n", "behind the comma"), ("\n,\r\n", "around the comma")])
def test_lines_of_a_list_end_where_they_are_drawn(comma: str, way: str) -> None:
    assert ways("array", Writing(comma=comma))[COMMAS.name] == {way}


def ways(framing: str, writing: Writing) -> dict[str, set[str]]:
    body = b"".join(named(framing).write(FRAMES, writing, lambda *each: each[0]))
    assert list(named(framing).documents(body)) == [frame.data for frame in FRAMES]
    interaction = Interaction("", {}, 200, {"content-type": named(framing).content_type}, body)
    found: dict[str, set[str]] = {}
    for variation, way in ways_of_bytes(interaction):
        found.setdefault(variation.name, set()).add(way)
    return found


@pytest.mark.usefixtures("same_draw")
def test_google_sends_neither_markup_nor_control_characters_as_they_are() -> None:
    """Clients that split lines with Python's `str.splitlines` cut a frame at U+0085. Protobuf escapes it."""
    text = "a < b & c\x85\u2028"
    assert json_text(text, "markup and controls") == r'"a \u003c b \u0026 c\u0085\u2028"'
    assert "\x85" in json_text(text, "markup")

    scenarios = drawn("answers", table()["gemini", "generate"], "stream", 150)
    found = [each.body for scenario in scenarios for each in scenario.interactions.values()]
    assert any(rb"\u0085" in body or rb"\u2028" in body for body in found)
    assert not any(raw.encode() in body for body in found for raw in "<>\x85\u2028")
