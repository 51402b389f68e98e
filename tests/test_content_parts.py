"""Content that is a list of unnumbered parts: a segment per part is right, and so is one per contiguous run (RSN-3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from llm_conformance.contract import Call, HttpResponse, Response, Segment
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.segments import joined_at, part_ends
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction
from tests.broken.base import Broken
from tests.calls import chunk, sse
from tests.test_broken import failures


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


class Splitting(Broken):
    """Has a segment for each piece of text that `split` makes of a part."""

    fails = ("RSN-3",)
    apis = ("mistral:chat",)

    def __init__(self, split: Callable[[str], list[str]]) -> None:
        super().__init__()
        self._split = split

    complete = stream = parse_stream = None  # type: ignore[assignment]

    def parse(self, http: HttpResponse, call: Call) -> Response:
        response = super().parse(http, call)
        content = json.loads(http.body)["choices"][0]["message"]["content"]
        parts = [each["text"] for each in content if each["type"] == "text"]
        text = [Segment("text", piece) for part in parts for piece in self._split(part)]
        return replace(response, segments=(*text, *(each for each in response.segments if each.type != "text")))


def between(scenarios: list[Scenario]) -> list[Scenario]:
    return [each for each in scenarios if each.id == "mistral/references-between-texts"]


def test_a_segment_for_each_part_is_right(scenarios: list[Scenario], runner: Runner) -> None:
    assert failures(Splitting(lambda part: [part]), between(scenarios), runner) == {}


def test_a_segment_for_half_a_part_is_wrong(scenarios: list[Scenario], runner: Runner) -> None:
    halves = Splitting(lambda part: [part[:3], part[3:]])
    assert set(failures(halves, between(scenarios), runner)) == {"RSN-3"}


def sent(body: bytes, kind: str = "application/json") -> Interaction:
    return Interaction("https://api.mistral.ai/v1/chat/completions", {}, 200, {"content-type": kind}, body)


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def thought(*values: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [text(value) for value in values]}


def test_parts_end_where_the_next_begins() -> None:
    body = {
        "choices": [{"index": 0, "message": {"content": [thought("ab", "c"), thought("d"), text("xy"), text("z")]}}]
    }
    assert part_ends(sent(json.dumps(body).encode())) == {"reasoning": {3, 4}, "text": {0, 2}}
    plain = {"choices": [{"index": 0, "message": {"content": "xyz"}}]}
    assert part_ends(sent(json.dumps(plain).encode())) == {"reasoning": set(), "text": set()}


def test_parts_of_a_stream_go_on_until_another_part_comes() -> None:
    chunks = [chunk(content=[text("a")]), chunk(content=[text("b")]), chunk(content="c")]
    reference = chunk(content=[{"type": "reference", "reference_ids": [0]}])
    body = sse(*chunks, reference, chunk(content=[text("d")]), "[DONE]")
    assert part_ends(sent(body, "text/event-stream")) == {"reasoning": {0}, "text": {3}}


def test_neighbours_are_joined_only_where_a_part_ends() -> None:
    outline = [("reasoning", "a"), ("text", "ab"), ("text", "c"), ("tool_call", None), ("text", "d"), ("text", "e")]
    ends = {"reasoning": {1}, "text": {2}}
    assert joined_at(outline, ends) == [
        ("reasoning", "a"),
        ("text", "abc"),
        ("tool_call", None),
        ("text", "d"),
        ("text", "e"),
    ]
    assert joined_at(outline)[-1] == ("text", "de")
