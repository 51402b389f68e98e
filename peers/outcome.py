"""What a run has found out about a library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from llm_conformance.adapter.libraries import Library
from llm_conformance.judging.status import Status
from llm_conformance.reports.document import Document
from llm_conformance.wording import counted
from peers.faults import Judged

Evidence = Literal["written", "real"]
EVIDENCE: Mapping[Evidence, str] = {"written": "written scenarios", "real": "real traffic"}
"""What a library is judged by: the suite's scenarios, and the public corpus."""

SHOWS, MENDED = 1, 0
"""The exit codes of a reproduction: the fault shows, or no longer shows.

Any other code means that the program failed.
"""


@dataclass(frozen=True)
class Outcome:
    """A library after a run.

    Attributes:
        reports: The JSON reports with the known deviations, by evidence. The report on real traffic has no exchanges,
            and its results are only the failures and one pass of each conversation. The whole report would have
            hundreds of megabytes.
        reproductions: The exit code of each reproduction by the name of its file; None if it hung, or if a program
            such as node is missing.
        stale: The parts to remove from the known deviations, because they name no failure.
        broken: What went wrong: the library cannot be installed, or the run ended with a fault.
        not_judged: What could not be judged here through no fault of the library, and why.
        log: The output of all commands.
    """

    library: Library
    log: Path
    reports: Mapping[Evidence, Document] = field(default_factory=dict)
    reproductions: Mapping[str, int | None] = field(default_factory=dict)
    stale: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the library."""
        return self.library.name

    @property
    def judged(self) -> Judged | None:
        """The reports as the page takes them; None if there are none."""
        both = self.reports.get("written"), self.reports.get("real")
        return Judged(self.name, *both) if self.reports else None

    def troubles(self) -> Iterator[str]:
        """Yield what makes the run fail: what is broken, stale entries, new findings, reproductions without a fault."""
        yield from self.broken
        yield from (f"stale: {entry}" for entry in self.stale)
        for evidence, report in self.reports.items():
            if new := sum(each["status"] == Status.FAIL for each in report["findings"]):
                yield f"{EVIDENCE[evidence]}: {counted(new, 'finding')} {'is' if new == 1 else 'are'} not judged yet"
        for file, code in self.reproductions.items():
            if code == MENDED:
                yield f"reports/{file}: the fault does not show any more"
            elif code != SHOWS:
                why = "it hung, or its program is missing" if code is None else f"exit code {code}"
                yield f"reports/{file}: did not run ({why})"
