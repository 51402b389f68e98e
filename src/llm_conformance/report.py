"""The result of a run, and the JSON report of it (`schemas/report.schema.json`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import __version__
from llm_conformance.subject import Subject
from llm_conformance.tally import Tally


@dataclass(frozen=True)
class Result:
    """What a run came to.

    `faces` are the methods that were asked for, none for all. `scenarios` counts those that the filters admit, bare
    ones aside; `examples` is of each property.
    """

    subjects: tuple[Subject, ...]
    scenarios_digest: str
    tally: Tally
    faces: tuple[str, ...]
    scenarios: int
    examples: int
    complete: bool


def destinations(names: Iterable[str], base: Path) -> list[Path]:
    """Return where reports go. Raises UsageError for a suffix that no report has or a directory that is not there."""
    found = [base / name for name in names]
    problems = [f"--conformance-report={path}: the suffix has to be .json" for path in found if path.suffix != ".json"]
    problems += [f"--conformance-report={path}: no such directory" for path in found if not path.parent.is_dir()]
    problems += [f"--conformance-report={path}: this is a directory" for path in found if path.is_dir()]
    if problems:
        raise pytest.UsageError("\n".join(problems))
    return found


def write(path: Path, result: Result) -> None:
    """Write the report to a file."""
    path.write_text(json.dumps(document(result), indent=1) + "\n", encoding="utf-8")


def document(result: Result) -> dict[str, Any]:
    """Return the report as JSON values."""
    return {
        "suite": {
            "name": "llm-conformance",
            "version": __version__,
            "scenarios_digest": result.scenarios_digest,
        },
        "adapters": [
            {
                "spec": subject.spec,
                "name": subject.label,
                "version": subject.version,
                "providers": sorted(subject.providers),
                "capabilities": sorted(subject.capabilities),
                "not_covered": result.tally.not_covered[subject.label],
            }
            for subject in result.subjects
        ],
        "results": [verdict.to_dict() for verdict in result.tally.verdicts],
        "summary": dict(sorted(result.tally.summary.items())),
        "bare_recordings": {
            "seen": result.tally.recordings,
            "out_of_scope": dict(sorted(result.tally.out_of_scope.items())),
            "bad_files": sorted(result.tally.bad_files),
        },
        "examples": result.examples,
        "complete": result.complete,
    }
