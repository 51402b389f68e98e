"""How long the server holds back the last frame of a stream, to see whether content is shown before it (STR-7).

A short time is enough for most adapters, and costs little for those that wait for the whole stream. Before an adapter's
first failure is reported, the exchange is run once more, and the frame is held for nearly as long as a call may take. A
slow adapter, or one on a slow machine, has shown its content by then.
"""

from __future__ import annotations

from llm_conformance.replay.cell import Callee, Cell

SHORT_HOLD_S = 2.0
_PART_OF_THE_TIMEOUT = 0.8
"""The highest part of a call's time limit for which the frame is held. The adapter needs the rest."""
_MARGIN = 3.0
"""For a slow adapter, the frame is held this many times as long as the adapter once took to show content."""


class Patience:
    """What is known about the adapters of a run: how long they take to show content, and which wait for the end.

    Args:
        timeout_s: The time limit of a call, in seconds.
    """

    def __init__(self, timeout_s: float) -> None:
        self.longest_s = _PART_OF_THE_TIMEOUT * timeout_s
        self._short_s = min(SHORT_HOLD_S, self.longest_s)
        self._learned_s: dict[Callee, float] = {}
        self._confirmed: set[Callee] = set()

    def hold_s(self, cell: Cell) -> float:
        """Return for how many seconds the last frame is held back for a cell."""
        return self._learned_s.get(cell.callee, self._short_s)

    def needs_proof(self, cell: Cell) -> bool:
        """Return True if a failure after `hold_s` has to be confirmed by holding the frame for `longest_s`."""
        return cell.callee not in self._confirmed and self.hold_s(cell) < self.longest_s

    def learn(self, cell: Cell, shown_after_s: float | None) -> None:
        """Note after how many seconds content was shown while the frame was held for `longest_s`; None if none was."""
        if shown_after_s is None:
            self._confirmed.add(cell.callee)
        else:
            self._learned_s[cell.callee] = min(self.longest_s, max(self._short_s, _MARGIN * shown_after_s))
