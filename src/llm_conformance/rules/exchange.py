"""One exchange: one call of an adapter's method for a scenario, and its outcome."""

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
"""Characters at which `str.splitlines` cuts, but no framing of a provider. JSON allows them in texts."""


IS_UNMAPPED = "neither its class nor a status attribute maps it to an error of the contract"
"""What all messages about an error say whose class of the contract is unknown. Findings are grouped by it."""
UNMAPPED = (
    f"{IS_UNMAPPED}; if users of the library are to catch this class, map it, alone or with a status, in the adapter's "
    "`errors` (docs/adapters.md#errors)"
)
"""The hint for such an error."""


@contextmanager
def beside(partner: str) -> Iterator[None]:
    """Put `partner` in front of the message of a Blocked or Vacuous that is raised within the `with` block.

    `partner` names the related exchange that the rule reads in the block. Without this name, readers would take the
    message for one about the judged exchange.
    """
    try:
        yield
    except Blocked as blocked:
        raise Blocked(f"{partner}, to compare with: {blocked}") from blocked
    except Vacuous as vacuous:
        raise Vacuous(f"{partner}, to compare with: {vacuous}") from vacuous


class RelatedExchanges(Protocol):
    """Further exchanges of the same adapter, for rules that compare. Each one runs when a rule asks for it.

    A rule reads them within `beside`, because their faults are no failures of the judged exchange.
    """

    def other_mode(self) -> Exchange | None:
        """The same scenario in the other mode; None if the scenario or the adapter does not have that mode."""

    def whole_frames(self) -> Exchange | None:
        """The same stream, sent frame by frame; None if the judged stream was sent in this way."""

    def with_canary(self) -> Exchange | None:
        """The same recording with canary tokens in place of its reasoning; None if it has no reasoning."""


@dataclass(frozen=True)
class Exchange:
    """What rules judge.

    Attributes:
        method: The method that was called.
        mode: The mode of the replayed recording. It is the method's mode, unless the adapter requested the other one.
        call: What the method was given.
        outcome: What the call returned or raised, and what was observed.
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
    def callers_notice_the_end(self) -> bool:
        """Whether a stream ends too early, and an adapter of this kind leaves it to its callers to notice that."""
        is_incomplete = self.streamed and self.expected.fault == "incomplete"
        return is_incomplete and "incomplete_streams" not in self.adapter.capabilities

    @property
    def events(self) -> tuple[Mapping[str, Any], ...]:
        """The events that the method returned."""
        return self.outcome.events

    @property
    def round_trip(self) -> RoundTripRequirement:
        """What the request has to repeat from earlier answers. Raises Vacuous if there are no earlier answers."""
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
        """Where the request differs from the call; None if nowhere. Raises like `request` if there is no request."""
        if self.outcome.difference is None:
            self._expect_a_request()
        return self.outcome.difference

    @property
    def raised_allowed_error(self) -> bool:
        """Whether the adapter raised an error that the expected values allow instead of an answer."""
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
        # No rule judges such an exchange, but a rule may compare the judged exchange with it.
        if outcome.blocked is not None or outcome.unsupported is not None:
            raise Blocked(outcome.blocked or outcome.unsupported)
        if outcome.difference is not None:
            raise Blocked(f"the request asks something else; RPL-4 reports that: {outcome.difference}")
        if outcome.response is None:
            raise Blocked("the stream ended without response.completed; STR-2 reports that")
        return outcome.response

    def expect_no_fault(self, expected: str) -> None:
        """Raise Violation if the call failed; `expected` says what it should have given.

        Only one of the rules that judge an exchange calls this method, so a failed call counts as one failure.
        """
        outcome = self.outcome
        if outcome.fault is not None:
            hint = self._line_separators if outcome.traceback else ""
            hint = ", ".join(filter(None, (self._unmapped(outcome), hint)))
            # Most faults have no subject: "raised KeyError: 'x'".
            lead = "" if outcome.fault.startswith("the ") else "it"
            raise Violation(
                expected, outcome.fault, hint=hint, cause=outcome.cause, traceback=outcome.traceback, lead=lead
            )

    def _unmapped(self, outcome: Outcome) -> str:
        """A hint that an error status was answered with an exception of unknown class; "" if that is not so."""
        is_unknown = outcome.raised is not None and outcome.raised.contract_type is None
        return UNMAPPED if self.scenario.outage is not None and outcome.attempts == 1 and is_unknown else ""

    @property
    def _line_separators(self) -> str:
        """A hint that names characters of the stream at which some libraries wrongly end a line; "" if it has none."""
        if self.mode != "stream":
            return ""
        try:
            text = self.scenario.interactions[self.mode].body.decode()
        except UnicodeDecodeError:  # frames of bytes, which nobody splits into lines
            return ""
        names = names_of_unseen("".join(each for each in _LINE_SEPARATORS if each in text))
        return names and f"the body has {names}, at which some line splitters cut"
