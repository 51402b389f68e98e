"""Generated inputs find each of these faults within the default effort, and shrink the example to a small one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from llm_conformance.adapter import declarations
from llm_conformance.adapter.declarations import Method
from llm_conformance.judging.effort import QUICK, Effort
from llm_conformance.judging.example_judge import ExampleJudge
from llm_conformance.judging.search import find_failures
from llm_conformance.judging.shown.counterexamples import Counterexample
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.table import table
from tests.broken.annotation_spans import ByteOffsets, InclusiveEnd, Utf16Offsets
from tests.broken.base import Broken
from tests.broken.errors import (
    ErrorGivenOutAsAnAnswer,
    ErrorOfAChoiceOverlooked,
    ErrorOfAnotherProvider,
    EveryErrorOfTheBaseClass,
    ExceptionsAmongTheMessagesIgnored,
    HalfABodyIsAnAnswer,
    MalformedBodyEscapes,
    RawExceptionEscapes,
    RetryAfterLost,
    StatusBesideTheErrorOverlooked,
    StatusInsideA200Overlooked,
)
from tests.broken.message import NoneTextForNullDeltas, TagInAnyCaseOfUnicode, TrimmedMessage
from tests.broken.message_leaks import TagsComparedWithWholeChunks
from tests.broken.reasoning import TagHeldBackACharacterTooFew
from tests.broken.round_trip import BlocksInAnotherOrder, TraceTrimmed
from tests.broken.streaming import CompletedAfterTheError, LastDeltaLost
from tests.broken.usage_streams import UsageSummed
from tests.test_broken import ALL_RULES


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


@dataclass(frozen=True)
class Fault:
    """A broken adapter, and the generated scenarios and the rule that have to find it."""

    adapter: type[Broken]
    where: str
    rule: str

    def __str__(self) -> str:
        return self.adapter.__name__


SMALL = 48
"""The most code points in the message or the reasoning of a shrunk example. A search has few calls to shrink it."""

FAULTS = (
    Fault(TagsComparedWithWholeChunks, "local/generated-chat-think-blocks", "MSG-1"),
    Fault(TagHeldBackACharacterTooFew, "local/generated-chat-think-blocks", "RSN-1"),
    Fault(TagInAnyCaseOfUnicode, "local/generated-chat-think-blocks", "MSG-2"),
    Fault(TrimmedMessage, "zai/generated-chat-answers", "MSG-2"),
    Fault(Utf16Offsets, "openai/generated-chat-citations", "ANN-2"),
    Fault(ByteOffsets, "openai/generated-chat-citations", "ANN-2"),
    Fault(InclusiveEnd, "openai/generated-chat-citations", "ANN-2"),
    Fault(UsageSummed, "anthropic/generated-messages-usage", "USE-3"),
    Fault(LastDeltaLost, "zai/generated-chat-answers", "STR-1"),
    Fault(NoneTextForNullDeltas, "deepseek/generated-chat-answers", "MSG-2"),
    Fault(TraceTrimmed, "deepseek/generated-chat-second-turns", "RPL-1"),
    Fault(TraceTrimmed, "mistral/generated-chat-second-turns", "RPL-1"),
    Fault(BlocksInAnotherOrder, "anthropic/generated-messages-second-turns", "RPL-1"),
    Fault(EveryErrorOfTheBaseClass, "groq/generated-chat-broken-streams", "ERR-1"),
    Fault(StatusInsideA200Overlooked, "minimax/generated-chat-broken-streams", "ERR-1"),
    Fault(StatusBesideTheErrorOverlooked, "cerebras/generated-chat-broken-streams", "ERR-1"),
    Fault(ExceptionsAmongTheMessagesIgnored, "bedrock/generated-invoke-broken-streams", "ERR-1"),
    Fault(ErrorGivenOutAsAnAnswer, "openai/generated-chat-broken-streams", "STR-6"),
    Fault(CompletedAfterTheError, "deepseek/generated-chat-broken-streams", "STR-2"),
    Fault(ErrorOfAChoiceOverlooked, "openrouter/generated-chat-statuses", "ERR-8"),
    Fault(RetryAfterLost, "anthropic/generated-messages-statuses", "ERR-7"),
    Fault(ErrorOfAnotherProvider, "ollama/generated-chat-statuses", "ERR-5"),
    Fault(MalformedBodyEscapes, "openai/generated-chat-malformed", "ERR-2"),
    Fault(HalfABodyIsAnAnswer, "openai/generated-chat-malformed", "ERR-8"),
    Fault(RawExceptionEscapes, "openai/generated-responses-mistyped", "ERR-2"),
)


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_is_found_and_shrunk(fault: Fault, runner: Runner) -> None:
    counterexample = found(fault, runner)
    assert counterexample is not None
    expected = counterexample.exchange.expected
    assert len(expected.message) <= SMALL, expected.message
    assert len(expected.reasoning or "") <= SMALL, expected.reasoning


def found(fault: Fault, runner: Runner) -> Counterexample | None:
    """Return the smallest counterexample that the default effort finds, None if it finds none."""
    judged = declarations.describe("broken", fault.adapter())
    methods: tuple[Method, ...] = ("parse_stream", "parse", "complete")
    method = next(method for method in methods if method in judged.methods)
    mode: Mode = "stream" if method == "parse_stream" else "json"
    api, theme = next((r, t) for r in table().values() for t in THEMES if t.scenario_id(r) == fault.where)
    (rule,) = (rule for rule in ALL_RULES if rule.id == fault.rule)
    effort = Effort(QUICK, reproducible=True).times(theme.effort)
    # A search draws by chance: some miss a fault that most find. The second one draws other scenarios.
    judge = ExampleJudge(runner, [rule])
    for name in (f"{fault}", f"{fault} once more"):
        find_failures(
            judge,
            name,
            theme.scenarios(api, mode),
            lambda scenario: Cell(judged, scenario, mode, method),
            effort,
            listed=lambda: theme.all_listed(api, mode),
        )
        if judge.results[rule].counterexample is not None:
            break
    return judge.results[rule].counterexample
