"""One exchange: an adapter, a scenario and a method, called once; every invariant judges what it showed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract import Call
from llm_conformance.judgement import Vacuous, Violation
from llm_conformance.outcome import Outcome, Returned
from llm_conformance.scenarios import Mode, Scenario, Truth
from llm_conformance.subject import Face, Subject


@dataclass(frozen=True)
class Exchange:
    """What the rules look at.

    Attributes:
        face: The method that was called.
        mode: The mode of the recording that was replayed: that of the method, unless a client asked for the other.
        counterpart: Runs, or finds, the same adapter's exchange in the other mode; None where there is none.
    """

    subject: Subject
    scenario: Scenario
    face: Face
    mode: Mode
    call: Call
    outcome: Outcome
    counterpart: Callable[[], Exchange | None]

    @property
    def truth(self) -> Truth:
        """What a correct adapter returns for the recording that was replayed."""
        return self.scenario.truths[self.mode]

    @property
    def streamed(self) -> bool:
        """Whether the adapter gave events."""
        return self.face in ("stream", "parse_stream")

    @property
    def events(self) -> tuple[Mapping[str, Any], ...]:
        """The stream's events."""
        return self.outcome.events

    @property
    def refused_rightly(self) -> bool:
        """Whether the adapter raised an error that the truth allows instead of an answer."""
        raised = self.outcome.raised
        return raised is not None and raised.contract_type in self.truth.may_raise

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
