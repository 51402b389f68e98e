"""What generated inputs find: each of these faults, within the default effort, shrunk to something to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from llm_conformance import subject
from llm_conformance.findings import Findings, Witness
from llm_conformance.generate.themes import THEMES
from llm_conformance.plan import Cell
from llm_conformance.providers import table
from llm_conformance.runner import Runner
from llm_conformance.search import QUICK, Effort, search
from llm_conformance.server import ReplayServer
from llm_conformance.subject import Face
from llm_conformance.truths import Mode
from tests.broken import citations, content, facts, replay, splitters, streams
from tests.broken.kinds import Broken
from tests.test_broken import INVARIANTS


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


@dataclass(frozen=True)
class Fault:
    """A broken adapter, where it must be found, and by which rule."""

    adapter: type[Broken]
    where: str
    rule: str

    def __str__(self) -> str:
        return self.adapter.__name__


SMALL = 24
"""How many code points message and reasoning of a shrunk example have at most; a tag has eight."""

FAULTS = (
    Fault(splitters.TagsComparedWithWholeChunks, "local/generated-chat-think-blocks", "MSG-1"),
    Fault(splitters.TagHeldBackACharacterTooFew, "local/generated-chat-think-blocks", "RSN-1"),
    Fault(splitters.TagInAnyCaseOfUnicode, "local/generated-chat-think-blocks", "MSG-2"),
    Fault(content.TrimmedMessage, "zai/generated-chat-answers", "MSG-2"),
    Fault(citations.Utf16Offsets, "openai/generated-chat-citations", "ANN-2"),
    Fault(citations.ByteOffsets, "openai/generated-chat-citations", "ANN-2"),
    Fault(citations.InclusiveEnd, "openai/generated-chat-citations", "ANN-2"),
    Fault(citations.NotRebasedBehindThinkPrefix, "local/generated-chat-citations", "ANN-5"),
    Fault(facts.UsageSummed, "anthropic/generated-messages-usage", "USE-5"),
    Fault(streams.LastDeltaLost, "zai/generated-chat-answers", "STR-1"),
    Fault(streams.NoneTextForNullDeltas, "deepseek/generated-chat-answers", "MSG-2"),
    Fault(replay.TraceTrimmed, "deepseek/generated-chat-second-turns", "RPL-1"),
    Fault(replay.BlocksInAnotherOrder, "anthropic/generated-messages-second-turns", "RPL-1"),
)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_is_found_and_shrunk(fault: Fault, runner: Runner) -> None:
    witness = found(fault, runner)
    assert witness is not None
    truth = witness.exchange.truth
    assert len(truth.message) <= SMALL, truth.message
    assert len(truth.reasoning or "") <= SMALL, truth.reasoning


def found(fault: Fault, runner: Runner) -> Witness | None:
    """Return the smallest example that the default effort finds."""
    judged = subject.describe("broken", fault.adapter())
    faces: tuple[Face, ...] = ("parse_stream", "parse", "complete")
    face = next(face for face in faces if face in judged.faces)
    mode: Mode = "stream" if face == "parse_stream" else "json"
    row, theme = next((r, t) for r in table().values() for t in THEMES if t.scenario_id(r) == fault.where)
    (rule,) = (rule for rule in INVARIANTS if rule.id == fault.rule)
    findings = Findings(runner, [rule])
    effort = Effort(QUICK, reproducible=True).times(theme.effort)
    search(
        str(fault),
        theme.scenarios(row, mode),
        lambda scenario: findings.breaks_a_rule(Cell(judged, scenario, mode, face)),
        effort,
    )
    return findings.by_rule[rule].witness
