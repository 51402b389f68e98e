"""One exchange: an adapter, a scenario and a method, called once; every invariant judges what it showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from llm_conformance.adapter.under_test import AdapterUnderTest, Method
from llm_conformance.contract import Call
from llm_conformance.rules.outcome import Outcome, Returned
from llm_conformance.rules.violation import Vacuous, Violation
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.round_trip import RoundTripRequirement
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode


class Others(Protocol):
    """Further exchanges of the same adapter; None where there is none."""

    def counterpart(self) -> Exchange | None:
        """The same recording in the other mode."""

    def uncut(self) -> Exchange | None:
        """The same stream, frame by frame."""

    def canary(self) -> Exchange | None:
        """The same recording with its reasoning replaced by tokens that stand nowhere else."""


@dataclass(frozen=True)
class Exchange:
    """What the rules look at.

    Attributes:
        face: The method that was called.
        mode: The mode of the recording that was replayed: that of the method, unless a client asked for the other.
        others: Runs, or finds, the exchanges to compare this one with.
    """

    adapter: AdapterUnderTest
    scenario: Scenario
    method: Method
    mode: Mode
    call: Call
    outcome: Outcome
    others: Others

    @property
    def expected(self) -> Expected:
        """What a correct adapter returns for the recording that was replayed."""
        return self.scenario.expected[self.mode]

    @property
    def streamed(self) -> bool:
        """Whether the adapter gave events."""
        return self.method in ("stream", "parse_stream")

    @property
    def events(self) -> tuple[Mapping[str, Any], ...]:
        """The stream's events."""
        return self.outcome.events

    @property
    def round_trip(self) -> RoundTripRequirement:
        """What the request has to carry. Raises Vacuous where that is nothing."""
        if self.expected.round_trip is None:
            raise Vacuous("no answer comes before this one")
        return self.expected.round_trip

    @property
    def request(self) -> Mapping[str, Any]:
        """The request that the adapter sent. Raises Violation where there was none, Vacuous where nobody sees any."""
        if self.scenario.connection_refused:
            raise Vacuous("nobody listens, so nobody sees a request")
        if self.outcome.request is None:
            raise Violation("a request to call.base_url", "none")
        return self.outcome.request

    @property
    def refused_rightly(self) -> bool:
        """Whether the adapter raised an error that the truth allows instead of an answer."""
        raised = self.outcome.raised
        return raised is not None and raised.contract_type in self.expected.may_raise

    @property
    def response(self) -> Returned:
        """The response. Raises Vacuous where the adapter refused, as it may, and Violation where there is none."""
        if self.refused_rightly:
            raise Vacuous(f"the adapter raised {self.outcome.raised}, as it may here")
        if self.outcome.raised is not None and self.outcome.response is None:
            raise Violation("a response", f"raised {self.outcome.raised}")
        if self.outcome.response is None:
            raise Violation("a response", "the stream ended without response.completed")
        return self.outcome.response
