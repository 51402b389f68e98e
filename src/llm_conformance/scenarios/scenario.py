"""One recorded conversation, with the expected values of each mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Literal

from llm_conformance import editions
from llm_conformance.contract.call import ThinkProfile
from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import MODES, Interaction, Mode
from llm_conformance.wire.providers.api import Api

LONGEST_REPLAY_S = 2.0
"""The longest that a replay at the recorded pace may take, in seconds. A slower stream is sped up."""

FaultKind = Literal["refused", "close", "reset", "silence"]


@dataclass(frozen=True)
class Fault:
    """A failure of the connection after `after` bytes of the body were sent.

    The kinds are `refused` (the server refuses connections), `close` (the server closes the connection), `reset` (the
    server resets the connection, like a machine that crashes) and `silence` (the server sends nothing more). With
    `after` 0, the server does not even send headers.
    """

    kind: FaultKind
    after: int


@dataclass(frozen=True, eq=False)
class Scenario:
    """One recorded conversation.

    Attributes:
        id: `<folder>/<name>`.
        params: Maps each mode to the parameters of the call.
        match: JSON pointers to the values of a request that must be as in the recording.
        interactions: The recordings, by mode.
        same_content: Whether both recordings hold the same answer.
        expected: The expected values, by mode.
        grounds: The strongest evidence that the provider sends such bytes (docs/scenarios.md); for a generated
            scenario, `probe` or None.
        fidelity: What the recorder altered (`llm_conformance.scenarios.bare_expected`).
        cannot_be_asked: Why no call can make the request of a bare recording, so that only `parse` and `parse_stream`
            are judged; "" if a call can.
        is_bare: Whether it is a bare recording, which has no scenario file.
        cuts: Byte offsets at which the stream is cut into pieces; None if it is cut after each frame.
        arrival: (bytes, milliseconds since the request) of each piece as recorded; () if unknown.
        pauses_s: How long the server waits before each piece, in seconds.
        uncut: The scenario without `cuts`.
        unbroken: For a generated scenario with a fault, the whole answer to the request. The server sends only a part
            of this answer, or something else.
        outage: A failure that answers the first request, in any mode. The next request gets the recorded answer.
        earlier: Maps the index of a message to a scenario, if the message is the answer of that scenario.
        cassette_dir: The cassette directory that the scenario is from.
        since: The edition that introduced the scenario (`llm_conformance.editions`).
        has_core_faults: Whether the core faults of its API may be made from this scenario (`core_faults`).
        is_core_fault: Whether it was made from another scenario by adding a core fault.
    """

    id: str
    path: Path
    title: str
    api: Api
    think_profile: ThinkProfile
    model: str
    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...]
    params: Mapping[Mode, Mapping[str, Any]]
    match: tuple[str, ...]
    interactions: Mapping[Mode, Interaction]
    same_content: bool
    expected: Mapping[Mode, Expected]
    provenance: str
    grounds: str | None = None
    fidelity: str = "raw"
    cannot_be_asked: str = ""
    is_bare: bool = False
    cuts: tuple[int, ...] | None = None
    arrival: tuple[tuple[int, int], ...] = ()
    pauses_s: tuple[float, ...] = ()
    uncut: Scenario | None = None
    fault: Fault | None = None
    unbroken: Interaction | None = None
    outage: Interaction | None = None
    earlier: Mapping[int, Scenario] = field(default_factory=dict)
    cassette_dir: Path = CASSETTES
    since: str = editions.FIRST
    has_core_faults: bool = False
    is_core_fault: bool = False

    def pieces(self, interaction: Interaction) -> Iterator[bytes]:
        """Yield the bytes of a stream in the pieces in which the server sends them."""
        if self.cuts is None:
            yield from interaction.frames
            return
        body = interaction.body
        for start, end in pairwise((0, *self.cuts, len(body))):
            if start < end:
                yield body[start:end]

    @property
    def connection_refused(self) -> bool:
        """Whether the server refuses connections."""
        return self.fault is not None and self.fault.kind == "refused"

    @property
    def over_http(self) -> bool:
        """Whether this scenario can judge only methods that send requests themselves."""
        return self.fault is not None or self.outage is not None

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that were recorded, json before stream."""
        return tuple(mode for mode in MODES if mode in self.interactions)


def recut(scenario: Scenario, cuts: Iterable[int]) -> Scenario:
    """Return the scenario with its stream cut at these byte offsets instead of after each frame."""
    return replace(scenario, cuts=tuple(cuts), uncut=scenario)


def as_it_arrived(scenario: Scenario) -> Scenario:
    """Return the scenario with the pieces and the pauses of its recording. If these are unknown, it is unchanged."""
    if not scenario.arrival:
        return scenario
    ends = list(accumulate(size for size, _ in scenario.arrival))
    times = [milliseconds / 1000 for _, milliseconds in scenario.arrival]
    duration = times[-1] - times[0]
    factor = min(1.0, LONGEST_REPLAY_S / duration) if duration > 0 else 1.0
    pauses = (0.0, *((after - before) * factor for before, after in pairwise(times)))
    return replace(recut(scenario, ends[:-1]), pauses_s=pauses)
