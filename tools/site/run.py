"""The run that pages are made from: a report on the reference adapters, and the scenarios."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance.reports import files
from llm_conformance.reports.document import Document

Seen = Mapping[str, frozenset[str]]
"""Maps each rule id to the scenarios in which the rule has passed."""


@dataclass(frozen=True)
class Run:
    """A run of the reference adapters.

    Attributes:
        report: Its JSON report.
        seen: The scenarios in which each rule has passed. Generated inputs do not count, because they differ between
            runs.
        scenarios: The ids of all scenarios that were judged, core faults among them.
    """

    report: Document
    seen: Seen
    scenarios: tuple[str, ...]


def read_run(path: Path) -> Run:
    """Read a JSON report of the reference adapters. Raises SystemExit if the pages cannot be made from it."""
    report = files.read(path)
    if report.get("probes") != "judge":
        sys.exit(
            f"{path}: in this report probes are apart, so no rule passes in them; make it with "
            "--conformance-probes=judge"
        )
    return of_report(report)


def of_report(report: Document) -> Run:
    """Return the run that a report describes."""
    recorded = [each for each in report["results"] if each["provenance"] != "generated"]
    return Run(report, passed(report), tuple(sorted({each["scenario"] for each in recorded})))


def passed(report: Mapping[str, Any]) -> Seen:
    """Map each rule id to the scenarios in which the rule has passed, without generated inputs."""
    seen = defaultdict(set)
    for result in report["results"]:
        if result["status"] == "pass" and result["provenance"] != "generated":
            seen[result["rule"]].add(result["scenario"])
    return {rule: frozenset(scenarios) for rule, scenarios in seen.items()}
