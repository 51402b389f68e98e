"""Generated inputs alone find the faults of think splitters within the effort `ci`, and say nothing of a right one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from llm_conformance.judging.effort import Effort
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from tests.broken import splitters
from tests.broken.message import TrimmedMessage
from tools import found_by_search

CI = Effort.named("ci")


class RightSplitter(splitters.SplitsWholeTexts):
    """Splits whole texts with the regular expression that the others alter."""

    splitter = splitters.RegexSplitter


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


ONE_OF_EACH_KIND = (
    splitters.KelvinSignTakenForK,
    splitters.AttributesInTags,
    splitters.UnclosedBlockIsText,
    splitters.NestedTagsCounted,
    splitters.HeldBackAtTheEndLost,
    splitters.NearMissesOfAnotherTag,
    *(each for each in splitters.SPLIT_TAGS if each.__name__.endswith("Behind3")),
)
"""The others take a minute more; the tool has them all."""


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize("adapter", ONE_OF_EACH_KIND, ids=lambda adapter: adapter.__name__)
def test_a_fault_of_a_splitter_is_found(adapter: type[splitters.FaultySplitter], runner: Runner) -> None:
    found = found_by_search.find(adapter, CI, runner, shrinks=False)
    assert found is not None
    assert found.effort in ("quick", "ci")


def test_a_right_splitter_is_not_found(runner: Runner) -> None:
    assert found_by_search.find(RightSplitter, Effort.named("quick"), runner) is None


def test_a_row_says_what_was_found(runner: Runner) -> None:
    found = found_by_search.find(TrimmedMessage, Effort(20, reproducible=True), runner)
    assert found is not None
    assert found.rules == ("MSG-2",)
    assert found_by_search.row(TrimmedMessage, found).startswith("| `TrimmedMessage` | quick | MSG-2 | ")
    assert found_by_search.row(TrimmedMessage, None).startswith("| `TrimmedMessage` | - | ")
