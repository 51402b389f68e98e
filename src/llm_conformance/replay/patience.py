"""How long the last frame of a stream is held back, to see if the adapter shows content before it (STR-7).

A short time is enough for most adapters. It also costs little if an adapter waits for the whole stream. Before the
suite reports an adapter's first failure, it runs the exchange once more, and holds the frame for nearly as long as a
call may take. By then, even a slow adapter on a slow machine has shown its content.
"""

from __future__ import annotations

from llm_conformance.replay.cell import Callee, Cell

SHORT_HOLD_S = 2.0
_PART_OF_THE_TIMEOUT = 0.8
"""The largest part of a call's time limit for which the frame is held. The adapter needs the rest."""
_MARGIN = 3.0
"""For a slow adapter, the frame is held for this multiple of the time that the adapter once took to show content."""


class Patience:
    """What is known about a run's adapters: how long they take to show content, and which of them wait for the end.

    Args:
        timeout_s: The time limit of a call, in seconds.
    """

    def __init__(self, timeout_s: float) -> None:
        self.longest_s = _PART_OF_THE_TIMEOUT * timeout_s
        self._short_s = min(SHORT_HOLD_S, self.longest_s)
        self._learned_s: dict[Callee, float] = {}
        self._confirmed: set[Callee] = set()

    def hold_s(self, cell: Cell) -> float:
        """Return how many seconds the last frame is held back for a cell."""
        return self._learned_s.get(cell.callee, self._short_s)

    def needs_proof(self, cell: Cell) -> bool:
        """Return True if a failure after `hold_s` has to be confirmed with `longest_s`."""
        return cell.callee not in self._confirmed and self.hold_s(cell) < self.longest_s

    def learn(self, cell: Cell, shown_after_s: float | None) -> None:
        """Note after how many seconds an adapter showed content with `longest_s`; None if it showed none."""
        if shown_after_s is None:
            self._confirmed.add(cell.callee)
        else:
            self._learned_s[cell.callee] = min(self.longest_s, max(self._short_s, _MARGIN * shown_after_s))
