"""One call to be made: an adapter, a scenario, a mode and a method."""

from __future__ import annotations

from dataclasses import dataclass

from llm_conformance.adapter.under_test import AdapterUnderTest, Method
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode

PURE = frozenset[Method]({"parse", "parse_stream"})
"""The methods that send no request, so that none has to be known."""


@dataclass(frozen=True)
class Cell:
    """One exchange to be run, judged by many invariants. `face` is the method; it is missing if not `runnable`."""

    adapter: AdapterUnderTest
    scenario: Scenario
    mode: Mode
    method: Method

    @property
    def runnable(self) -> bool:
        """Whether the adapter has the method."""
        return self.method in self.adapter.methods

    @property
    def holds_last_frame(self) -> bool:
        """Whether the end of the stream waits until there was content: where there is some before, and no other cut."""
        whole = self.scenario.cuts is None and self.scenario.fault is None
        return whole and bool(self.scenario.expected[self.mode].shows_early)

    def __str__(self) -> str:
        """Return the id used in the names of test items."""
        return f"{self.adapter.label}-{self.scenario.id}-{self.method}"
