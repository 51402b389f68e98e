"""Find the recording that shows a scenario, or most of it."""

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
        reference: The recording; None if the API has no recording in this mode.
        missing: The claims that this recording does not show. Empty if it shows the scenario.
        kept: The claims that the recording named by the scenario does not show; None if the scenario names none, or
            names one that is not here.
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

    A scenario about streams needs a match in the mode `stream`; a recording of a plain answer does not show its point.
    """
    found: dict[str, list[Match]] = {}
    for match in matches:
        if match.is_shown:
            found.setdefault(match.claimed.id, []).append(match)
    return {id: each for id, each in found.items() if {match.claimed.mode for match in each} >= _modes(each[0].claimed)}


def _modes(claimed: Claimed) -> set[Mode]:
    return {claimed.is_about} if claimed.is_about else set()


def best(claimed: Iterable[Claimed], recordings: Iterable[Recording]) -> list[Match]:
    """Return the best match of each scenario. `recordings` is read once.

    If the recording that a scenario names still shows the scenario, it stays the match. If several recordings are
    equally good, the first one is taken.
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
