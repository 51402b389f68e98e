"""One exchange: an adapter's method, called once for a scenario, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from llm_conformance.adapter.declarations import AdapterUnderTest, Method
from llm_conformance.contract import Call
from llm_conformance.formats.differences import Difference
from llm_conformance.rules.outcome import Outcome, Returned
from llm_conformance.rules.violation import Blocked, Vacuous, Violation
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.round_trip import RoundTripRequirement
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode
from llm_conformance.wording import names_of_unseen

_LINE_SEPARATORS = "\u2028\u2029\x85"
"""`str.splitlines` cuts at these, the framings of providers do not, and JSON allows them within texts."""


@contextmanager
def beside(partner: str) -> Iterator[None]:
    """Let what keeps a rule from reading the exchange that it compares with name that exchange, as `partner`."""
    try:
        yield
    except Blocked as blocked:
        raise Blocked(f"{partner}, to compare with: {blocked}") from blocked
    except Vacuous as vacuous:
        raise Vacuous(f"{partner}, to compare with: {vacuous}") from vacuous


class RelatedExchanges(Protocol):
    """Exchanges of the same adapter to compare one with; they are run when a rule asks for them.

    A rule reads them within `beside`: what they lack is no failure of the exchange that is judged.
    """

    def other_mode(self) -> Exchange | None:
        """The same scenario in the other mode; None if it has no other, or the adapter no method for it."""

    def whole_frames(self) -> Exchange | None:
        """The same stream, sent frame by frame; None if this one was."""

    def with_canary(self) -> Exchange | None:
        """The same recording with canary tokens in place of its reasoning; None if it has no reasoning."""


@dataclass(frozen=True)
class Exchange:
    """What rules judge.

    Attributes:
        method: The method that was called.
        mode: The mode of the recording that was replayed: the method's, unless the adapter requested the other.
        call: What the method was given.
        outcome: What came of it.
        related: Exchanges to compare this one with.
    """

    adapter: AdapterUnderTest
    scenario: Scenario
    method: Method
    mode: Mode
    call: Call
    outcome: Outcome
    related: RelatedExchanges

    @property
    def expected(self) -> Expected:
        """What a correct adapter returns for the recording that was replayed."""
        return self.scenario.expected[self.mode]

    @property
    def streamed(self) -> bool:
        """Whether the method returns events."""
        return self.method in ("stream", "parse_stream")

    @property
    def judged_as_stream(self) -> bool:
        """Whether the rules about streams judge the exchange: it has events, or should have."""
        return self.streamed and ("streaming" in self.adapter.capabilities or bool(self.events))

    @property
    def events(self) -> tuple[Mapping[str, Any], ...]:
        """The events that the method returned."""
        return self.outcome.events

    @property
    def round_trip(self) -> RoundTripRequirement:
        """What the request has to carry of earlier answers. Raises Vacuous if there are none."""
        if self.expected.round_trip is None:
            raise Vacuous("no answer comes before this one")
        return self.expected.round_trip

    @property
    def request(self) -> Mapping[str, Any]:
        """The request body that the adapter sent.

        Raises Blocked if the adapter sent none, and Vacuous if the scenario refuses connections.
        """
        return self._expect_a_request()

    def _expect_a_request(self) -> Mapping[str, Any]:
        if self.scenario.connection_refused:
            raise Vacuous("the connection is refused, so no request is seen")
        if self.outcome.request is None:
            raise Blocked(f"there was no request that was answered: {self.outcome.fault}")
        return self.outcome.request

    @property
    def difference(self) -> Difference | None:
        """What the request asks otherwise than the call; None if nothing. Without a request it raises as `request`."""
        if self.outcome.difference is None:
            self._expect_a_request()
        return self.outcome.difference

    @property
    def raised_allowed_error(self) -> bool:
        """Whether the adapter raised an error where the expected values allow one instead of an answer."""
        raised = self.outcome.raised
        return raised is not None and self.expected.allows(raised.contract_type)

    @property
    def response(self) -> Returned:
        """The response. Raises Vacuous if the adapter raised an allowed error, Blocked if there is no response."""
        if self.raised_allowed_error:
            raise Vacuous(f"the adapter raised {self.outcome.raised}, which is allowed here")
        outcome = self.outcome
        if outcome.fault is not None:
            raise Blocked(f"the call failed: {outcome.fault}")
        # Rules are not asked to judge an exchange with one of these, but may compare one with it.
        if outcome.blocked is not None or outcome.unsupported is not None:
            raise Blocked(outcome.blocked or outcome.unsupported)
        if outcome.difference is not None:
            raise Blocked(f"the request asks something else; RPL-4 reports that: {outcome.difference}")
        if outcome.response is None:
            raise Blocked("the stream ended without response.completed; STR-2 reports that")
        return outcome.response

    def expect_no_fault(self, expected: str) -> None:
        """Raise Violation if the call failed; `expected` says what should have come of it.

        Of all rules that judge an exchange, one asks for this: a call that failed is one failure.
        """
        outcome = self.outcome
        if outcome.fault is not None:
            hint = self._line_separators if outcome.traceback else ""
            raise Violation(expected, outcome.fault, hint=hint, cause=outcome.cause, traceback=outcome.traceback)

    @property
    def _line_separators(self) -> str:
        """A hint at what is no end of a line in a stream, although line splitters may take it for one; "" for none."""
        if self.mode != "stream":
            return ""
        try:
            text = self.scenario.interactions[self.mode].body.decode()
        except UnicodeDecodeError:  # frames of bytes, which nobody splits into lines
            return ""
        names = names_of_unseen("".join(each for each in _LINE_SEPARATORS if each in text))
        return names and f"the body has {names}, at which some line splitters cut"
