"""One recorded conversation, with what a correct adapter returns for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios.expected import Expected
from llm_conformance.wire.interaction import MODES, Interaction, Mode
from llm_conformance.wire.providers.api import Api

FaultKind = Literal["refused", "close", "reset", "silence"]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with a connection when `after` bytes of the body have been sent.

    `refused`: nobody listens. `close`: the server closes it. `reset`: it breaks it off, as a machine does that fails.
    `silence`: it sends nothing more. Where no byte is sent, there are no headers either.
    """

    kind: FaultKind
    after: int


@dataclass(frozen=True, eq=False)
class Scenario:
    """One conversation. `id` is `<folder>/<name>`; `params`, `interactions` and `truths` are by mode.

    It is not `replayable` where the request is not known: then it can only be parsed. `cuts` are the byte offsets at
    which a stream is cut into the pieces that are handed over (None: behind each frame), and `uncut` is the scenario
    without them. An `outage` answers the first request, whatever its mode, and only the next one is answered as
    recorded. `earlier` are the scenarios whose answers stand in `messages`, by their place there. `arrival` is
    how the pieces of the stream came when it was recorded, if that is known: bytes, and milliseconds since the request;
    `pauses_s` is how long to wait before each piece is handed over. `home` is the
    directory in which it was looked for.
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
    replayable: bool = True
    cuts: tuple[int, ...] | None = None
    arrival: tuple[tuple[int, int], ...] = ()
    pauses_s: tuple[float, ...] = ()
    uncut: Scenario | None = None
    fault: Fault | None = None
    outage: Interaction | None = None
    earlier: Mapping[int, Scenario] = field(default_factory=dict)
    cassette_dir: Path = CASSETTES

    def pieces(self, interaction: Interaction) -> Iterator[bytes]:
        """Yield a stream's bytes in the pieces in which they are handed over."""
        if self.cuts is None:
            yield from interaction.frames
            return
        body = interaction.body
        for start, end in pairwise((0, *self.cuts, len(body))):
            if start < end:
                yield body[start:end]

    @property
    def connection_refused(self) -> bool:
        """Whether connections are refused, so that no request arrives."""
        return self.fault is not None and self.fault.kind == "refused"

    @property
    def over_http(self) -> bool:
        """Whether only clients can meet with it, who make requests of their own."""
        return self.fault is not None or self.outage is not None

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that were recorded, json before stream."""
        return tuple(mode for mode in MODES if mode in self.interactions)


def recut(scenario: Scenario, cuts: Iterable[int]) -> Scenario:
    """Return the scenario with its stream cut at these byte offsets instead of behind each frame."""
    return replace(scenario, cuts=tuple(cuts), uncut=scenario)
