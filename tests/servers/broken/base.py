"""The base class of the broken servers."""

from __future__ import annotations

from typing import ClassVar

from llm_conformance.server.recordings import Recording
from tests.servers.reference import Reference


class Broken(Reference):
    """The reference server with one fault.

    Attributes:
        fails: The ids of exactly the rules that it must fail, its main rule first.
        says: A regular expression that matches one of the messages of the main rule.
        patience_s: The time limit of an answer, in seconds.
    """

    fails: ClassVar[tuple[str, ...]]
    says: ClassVar[str]
    patience_s: ClassVar[float] = 20.0

    def kept(self, recording: Recording) -> Recording:
        """Return the recording to be judged. A fault about time changes its times, so that no test has to wait."""
        return recording
