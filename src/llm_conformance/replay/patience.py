"""How long the server holds back the last frame of a stream, to see whether content is shown before it (STR-7).

A short time is enough for most adapters, and costs little for those that wait for the whole stream. Before the first
of them is accused, its exchange is run once more, and the frame is held for nearly as long as a call may take: a slow
machine, or an adapter that is slow but streams, shows its content by then.
"""

from __future__ import annotations

from llm_conformance.replay.cell import Callee, Cell

SHORT_HOLD_S = 2.0
_PART_OF_THE_TIMEOUT = 0.8
"""How much of a call's time limit the frame may be held at most; the adapter needs the rest."""
_MARGIN = 3.0
"""How much longer than it took once the frame is held for an adapter that is slow."""


class Patience:
    """What is known of the adapters of a run: how long they need, and which ones do wait for the end.

    Args:
        timeout_s: The time limit of a call, in seconds.
    """

    def __init__(self, timeout_s: float) -> None:
        self.longest_s = _PART_OF_THE_TIMEOUT * timeout_s
        self._short_s = min(SHORT_HOLD_S, self.longest_s)
        self._learned_s: dict[Callee, float] = {}
        self._confirmed: set[Callee] = set()

    def hold_s(self, cell: Cell) -> float:
        """Return how long the last frame is held back for a cell."""
        return self._learned_s.get(cell.callee, self._short_s)

    def needs_proof(self, cell: Cell) -> bool:
        """Return True if an accusation after `hold_s` has to be confirmed with `longest_s`."""
        return cell.callee not in self._confirmed and self.hold_s(cell) < self.longest_s

    def learn(self, cell: Cell, shown_after_s: float | None) -> None:
        """Note when content was shown while the frame was held for `longest_s`; None if it was not."""
        if shown_after_s is None:
            self._confirmed.add(cell.callee)
        else:
            self._learned_s[cell.callee] = min(self.longest_s, max(self._short_s, _MARGIN * shown_after_s))
