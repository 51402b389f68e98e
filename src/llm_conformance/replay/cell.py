"""One call to make: an adapter, a scenario, a mode and a method."""

from __future__ import annotations

from dataclasses import dataclass

from llm_conformance.adapter.declarations import AdapterUnderTest, Method
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction, Mode

PURE = frozenset[Method]({"parse", "parse_stream"})
"""The methods that receive the response and send no request."""


def a_parser_gets_the_bytes(adapter: AdapterUnderTest, mode: Mode, method: Method) -> bool:
    """Return True if a method sends requests, and the adapter also has a method that only receives the response."""
    return method not in PURE and not PURE.isdisjoint(adapter.methods_for(mode))


Callee = tuple[str, str, str]
"""(label of the adapter, provider:api, method)"""


@dataclass(frozen=True)
class Cell:
    """One exchange to run; many rules judge it."""

    adapter: AdapterUnderTest
    scenario: Scenario
    mode: Mode
    method: Method

    @property
    def callee(self) -> Callee:
        """What is called. Many cells have the same callee."""
        return self.adapter.label, str(self.scenario.api), self.method

    @property
    def interaction(self) -> Interaction:
        """The recorded request and response."""
        return self.scenario.interactions[self.mode]

    @property
    def runnable(self) -> bool:
        """Whether the adapter has the method."""
        return self.method in self.adapter.methods

    @property
    def asks_nothing(self) -> bool:
        """Whether the method only parses the answer of a bare recording. Then earlier answers are not needed."""
        return self.method in PURE and self.scenario.is_bare

    @property
    def holds_last_frame(self) -> bool:
        """Whether the server holds back the last frame.

        It does so for a complete stream with content before that frame.
        """
        if self.method in PURE:
            return False
        whole = self.scenario.cuts is None and self.scenario.fault is None
        return whole and bool(self.scenario.expected[self.mode].shows_early)

    def __str__(self) -> str:
        """Return the id in the names of test items."""
        return f"{self.adapter.label}-{self.scenario.id}-{self.method}"
