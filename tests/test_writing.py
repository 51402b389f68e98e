"""Where events have their names, and where the lines of a list end, is written as drawn and read back."""

from __future__ import annotations

import pytest

from llm_conformance.generate.writing import COMMAS, EVENT_NAMES, ways_of_bytes
from llm_conformance.wire.framings.base import Frame, Writing
from llm_conformance.wire.framings.registry import named
from llm_conformance.wire.interaction import Interaction

FRAMES = [Frame({"type": "message_start"}, "message_start"), Frame({"a": "\nevent: b"}, "two", ends=True)]


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
