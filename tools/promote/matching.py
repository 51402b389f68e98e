"""The recording that shows a scenario, or shows most of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from llm_conformance.scenarios.checks.references import Reference
from llm_conformance.wire.interaction import Mode
from tools.promote.evidence import Claimed, Recording


@dataclass(frozen=True)
class Match:
    """The best recording for a scenario in one mode.

    Attributes:
        claimed: The scenario.
        reference: The recording; None if there is none of this API in this mode.
        missing: What it does not show; empty if it shows the scenario.
        kept: What the recording that the scenario names does not show; None if it names none that is here.
    """

    claimed: Claimed
    reference: Reference | None = None
    missing: tuple[str, ...] = ()
    kept: tuple[str, ...] | None = None

    @property
    def is_shown(self) -> bool:
        """Whether the recording shows all that the scenario claims."""
        return self.reference is not None and not self.missing


def shown(matches: Iterable[Match]) -> Mapping[str, Sequence[Match]]:
    """Return the matches that show their scenarios, by the id of the scenario.

    A scenario about streams is shown by a stream; what a recording of the other mode has is not its point.
    """
    found: dict[str, list[Match]] = {}
    for match in matches:
        if match.is_shown:
            found.setdefault(match.claimed.id, []).append(match)
    return {id: each for id, each in found.items() if {match.claimed.mode for match in each} >= _modes(each[0].claimed)}


def _modes(claimed: Claimed) -> set[Mode]:
    return {claimed.is_about} if claimed.is_about else set()


def best(claimed: Iterable[Claimed], recordings: Iterable[Recording]) -> list[Match]:
    """Return the best match of each scenario. The recordings are gone through once.

    A reference that still holds stays. Of several recordings that show as much, the first one counts.
    """
    found = [Match(each) for each in claimed]
    by_api: dict[tuple[str, str], list[int]] = {}
    for number, match in enumerate(found):
        by_api.setdefault((str(match.claimed.api), match.claimed.mode), []).append(number)
    for recording in recordings:
        for number in by_api.get((str(recording.api), recording.mode), ()):
            found[number] = _better(found[number], recording)
    return found


def _better(match: Match, recording: Recording) -> Match:
    is_named = recording.reference == match.claimed.reference
    if match.is_shown and not is_named:
        return match
    missing = tuple(recording.shown.missing(match.claimed.point))
    if is_named:
        match = replace(match, kept=missing)
    is_better = match.reference is None or len(missing) < len(match.missing) or (is_named and not missing)
    return replace(match, reference=recording.reference, missing=missing) if is_better else match
