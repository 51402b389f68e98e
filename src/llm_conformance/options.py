"""The options of a run."""

from __future__ import annotations

TIMEOUT_S = 10.0
