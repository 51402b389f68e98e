"""Tool messages in `call.messages` name their tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.contract import Call, Response
from llm_conformance.locations import CASSETTES
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.scenarios import build, load
from llm_conformance.wire.tool_names import with_tool_names

STATED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "tide", "arguments": "{}"}},
        {"id": "b", "type": "custom", "custom": {"name": "wind", "input": ""}},
    ],
}


def result(id: str | None, **more: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "3 m", **more}


def results(messages: Sequence[Any]) -> list[dict[str, Any]]:
    return [each for each in messages if isinstance(each, dict) and each["role"] == "tool"]


@pytest.mark.parametrize(
    ("messages", "answers", "names"),
    [
        (["answer", result("b"), result("a")], {0: [("a", "tide"), ("b", "wind")]}, ["wind", "tide"]),
        ([STATED, result("b"), result("a")], {}, ["wind", "tide"]),
        # Calls without ids are answered in their order.
        (["answer", result(None), result("x")], {0: [(None, "tide"), (None, "wind")]}, ["tide", "wind"]),
        # An id belongs to the last answer before it.
        (["one", result("a"), "two", result("a")], {0: [("a", "tide")], 2: [("a", "wind")]}, ["tide", "wind"]),
        ([STATED, result("a", name="own")], {}, ["own"]),
        ([STATED, result("c")], {}, [None]),
        ([result("a")], {}, [None]),
    ],
)
def test_the_name_is_that_of_the_call(messages: list[Any], answers: Mapping[int, Any], names: list[str | None]) -> None:
    named = list(with_tool_names(messages, answers))
    assert [each.get("name") for each in named if isinstance(each, dict) and each["role"] == "tool"] == names
    assert [each for each in named if not isinstance(each, dict)] == [
        each for each in messages if isinstance(each, str)
    ]


class Listening(ReferenceAdapters):
    """Keeps the conversation of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[Any, ...]] = []

    def complete(self, call: Call) -> Response:
        self.heard.append(call.messages)
        return super().complete(call)


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


def test_every_tool_message_of_every_scenario_has_a_name(runner: Runner) -> None:
    adapter = Listening()
    under_test = declarations.describe("own", adapter)
    files = [load.read(path) for path in load.find(CASSETTES)[0] if "role: tool" in path.read_text("utf-8")]
    for file in files:
        if "json" in file.modes:
            runner.run(Cell(under_test, build.build(file, CASSETTES), "json", "complete"))
    told = [
        each for messages in adapter.heard for each in messages if isinstance(each, dict) and each["role"] == "tool"
    ]
    assert len(told) > 30
    assert [each for each in told if not each.get("name")] == []
