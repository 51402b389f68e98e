"""Running exchanges: the call is made, the adapter is asked, and what it shows is noted down."""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from llm_conformance.adapter.certificates import cheap_certificates
from llm_conformance.adapter.under_test import METHODS, Method
from llm_conformance.contract import Call, HttpResponse
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.pointers import without
from llm_conformance.replay.attempt import Attempt
from llm_conformance.replay.cell import PURE, Cell
from llm_conformance.replay.log_watch import watched_for
from llm_conformance.replay.matching import Transport
from llm_conformance.replay.network_guard import Guard
from llm_conformance.replay.server import PATIENCE_S
from llm_conformance.replay.worker import HungError, Worker
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.outcome import Outcome
from llm_conformance.scenarios import canary
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import MODES, Mode

VAIN_S = 1.0
"""How long a call may take, in seconds, that the server does not answer; of generated ones there are many."""
VAIN_GENERATED_S = 0.3

HANGS_UNTIL_GIVEN_UP = 3
_REMEMBERED = 256


class Runner:
    """Runs each cell's exchange once and remembers the last ones. Owns transport, guard and worker thread.

    `options` are those of the command line that made it as it is.
    """

    def __init__(self, timeout_s: float, transport: Transport, options: tuple[str, ...] = ()) -> None:
        self.options = options
        self._timeout_s = timeout_s
        self._worker = Worker()
        self._transport = transport
        self._guard = Guard(transport.ports)
        self._gave_up = False
        self._hangs: Counter[tuple[str, Method, str]] = Counter()
        self.exchange = functools.lru_cache(maxsize=_REMEMBERED)(self.run)

    def close(self) -> None:
        """Stop the worker thread and the transport."""
        self._worker.close()
        self._transport.shutdown()

    def _limit_s(self, scenario: Scenario) -> float:
        """Return how long a call may take; one that is to wait in vain, not as long as others."""
        waits = scenario.fault is not None and scenario.fault.kind == "silence"
        vain_s = VAIN_GENERATED_S if scenario.provenance == "generated" else VAIN_S
        return min(self._timeout_s, vain_s) if waits else self._timeout_s

    def hands_over_pieces(self, method: Method) -> bool:
        """Whether it makes a difference to a method how a stream is cut."""
        return method in PURE or self._transport.hands_over_pieces

    def run(self, cell: Cell) -> Exchange:
        """Run a cell's exchange; `exchange` does the same and remembers the last ones."""
        adapter, scenario, method = cell.adapter, cell.scenario, cell.method
        interaction = scenario.interactions[cell.mode]
        before = {
            number: self.exchange(replace(cell, scenario=earlier)) for number, earlier in scenario.earlier.items()
        }
        if method in ("complete", "stream"):
            serving = self._transport.open(scenario, holds=cell.holds_last_frame)
            base_url = serving.base_url
        else:
            serving = None
            place = scenario.api.place(interaction.uri)
            base_url = place.base_url if place else scenario.api.base_urls[0]
        http = HttpResponse(interaction.status, dict(interaction.headers))
        call = Call(
            provider=scenario.api.provider,
            api=scenario.api.name,
            model=scenario.model,
            messages=tuple(
                before[number].outcome.returned if number in before else copy.deepcopy(message)
                for number, message in enumerate(scenario.messages)
            ),
            tools=copy.deepcopy(scenario.tools),
            params=copy.deepcopy(scenario.params[cell.mode]),
            request=_told(interaction.request, scenario.expected[cell.mode]),
            base_url=base_url,
            path=scenario.api.path_for(cell.mode == "stream", scenario.model),
            api_key=CANARY_KEY,
            stream=cell.mode == "stream",
            timeout_s=self._limit_s(scenario),
            correlation_id=f"llm-conformance/{scenario.id}/{method}",
            think_profile=scenario.think_profile,
            http=http if method == "parse_stream" else None,
        )
        lacking = next((each for each in before.values() if each.outcome.returned is None), None)
        attempt = Attempt(cell, call, http, serving)
        outcome = _cannot_follow(lacking) if lacking else self._ask(attempt, scenario.expected)
        mode = serving.mode or cell.mode if serving else cell.mode
        return Exchange(adapter, scenario, method, mode, call, outcome, _Others(self, cell))

    def _ask(self, attempt: Attempt, expected_by_mode: Mapping[Mode, Expected]) -> Outcome:
        if attempt.scenario.over_http and attempt.serving and not self._transport.hands_over_pieces:
            self._transport.close(attempt.serving)
            return Outcome(unsupported="no connection and no attempt can fail in this transport")
        method = (attempt.adapter.label, attempt.method, str(attempt.scenario.api))
        if self._hangs[method] >= HANGS_UNTIL_GIVEN_UP:
            return Outcome(fault=f"not asked any more: {HANGS_UNTIL_GIVEN_UP} calls before this one hung", hung=True)
        limit_s = self._limit_s(attempt.scenario)
        before = attempt.inputs()
        raised: BaseException | None = None
        with self._guard.watching() as connections, cheap_certificates(), watched_for(CANARY_KEY) as leaks:
            try:
                raised = self._worker.run(attempt.run, limit_s + PATIENCE_S)
            except HungError as hung:
                self._gave_up = True
                self._hangs[method] += all(expected.error is None for expected in expected_by_mode.values())
                self._guard.ignore_thread(hung.thread)
                self._transport.give_up(hung.thread)
                attempt.hung = True
                attempt.fault = (
                    f"did not come back within {limit_s + PATIENCE_S:g} s; "
                    f"call.timeout_s was {limit_s:g}, which has to do for all attempts"
                )
            finally:
                if attempt.serving:
                    self._transport.close(attempt.serving)
        after = attempt.inputs()
        strays = attempt.serving.strays if attempt.serving else ()
        return attempt.outcome(
            raised,
            expected_by_mode,
            connections=(*connections, *strays),
            logs=tuple(leaks),
            mutations=tuple(key for key in before if before[key] != after.get(key)),
        )

    @property
    def gave_up(self) -> bool:
        """Whether a call is still running that nobody waits for any more."""
        return self._gave_up


def _told(request: Mapping[str, Any], expected: Expected) -> dict[str, Any]:
    """Return the recorded request as an adapter is told it: without what it has to put there itself."""
    return without(request, list(expected.round_trip.sent) if expected.round_trip else ())


def _cannot_follow(before: Exchange) -> Outcome:
    """Return the outcome of a turn after one that gave nothing to go on from, which is judged where it is."""
    why = before.outcome.fault or before.outcome.raised or before.outcome.unsupported or "no response came back"
    return Outcome(unsupported=f"in the turn before, {before.scenario.id}: {why}")


@dataclass(frozen=True)
class _Others:
    """The exchanges that a rule may want to compare one with; each is run when it is asked for."""

    runner: Runner
    cell: Cell

    def other_mode(self) -> Exchange | None:
        cell, modes = self.cell, MODES
        other = modes[cell.mode == "json"]
        method = METHODS[other][METHODS[cell.mode].index(cell.method)]
        if other not in cell.scenario.modes or method not in cell.adapter.methods:
            return None
        return self._run(replace(cell, mode=other, method=method))

    def whole_frames(self) -> Exchange | None:
        whole = self.cell.scenario.uncut
        return None if whole is None else self._run(replace(self.cell, scenario=whole))

    def with_canary(self) -> Exchange | None:
        swapped = canary.swapped(self.cell.scenario, self.cell.mode)
        return None if swapped is None else self._run(replace(self.cell, scenario=swapped))

    def _run(self, cell: Cell) -> Exchange:
        exchange: Exchange = self.runner.exchange(cell)
        return exchange
