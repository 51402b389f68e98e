"""Check and write the report files of `llm-conformance server`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from llm_conformance.cli.command import UsageError
from llm_conformance.reports.document import Document
from llm_conformance.reports.files import BADGE, BadDestinationError, destinations
from llm_conformance.server.reports import files, markdown

_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def checked(names: Sequence[str]) -> list[Path]:
    """Return the paths of reports. Raises UsageError if one cannot be written. Call this before sending requests."""
    try:
        return destinations(names, Path(), "--report")
    except BadDestinationError as error:
        raise UsageError(str(error)) from error


def remove_badges(paths: Sequence[Path]) -> None:
    """Remove the badges of an earlier run, so that none is left if this one dies. Raises UsageError."""
    for path in paths:
        if path.suffix == BADGE:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise UsageError(f"--report={path}: cannot be removed: {error.strerror}") from error


def write(paths: Sequence[Path], document: Document) -> None:
    """Write the reports and, in a GitHub workflow, the step summary. Raises UsageError."""
    for path in paths:
        try:
            files.write(path, document)
        except OSError as error:
            raise UsageError(f"--report={path}: cannot be written: {error.strerror}") from error
    if step_summary := os.environ.get(_STEP_SUMMARY):
        try:
            with Path(step_summary).open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(markdown.render([document]))
        except OSError as error:  # the verdict does not depend on it
            print(f"llm-conformance: cannot write the step summary {step_summary}: {error}", file=sys.stderr)
