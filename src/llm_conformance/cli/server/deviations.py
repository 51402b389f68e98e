"""Read and write the files of known deviations of `llm-conformance server`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from llm_conformance.cli.command import UsageError
from llm_conformance.judging.deviations import Deviation
from llm_conformance.server import known as known_file
from llm_conformance.server.judge import Judgement
from llm_conformance.server.plan import Target

_OPTION = "--write-deviations"


def known(path: Path | None, target: Target) -> Sequence[Deviation]:
    """Return the known deviations of a file. Raises BadFileError."""
    return () if path is None else known_file.load(path, target.api)


def check(path: Path | None) -> None:
    """Raise UsageError if a new file cannot be written. Call this before sending requests."""
    if path is not None and path.exists():
        raise UsageError(f"{_OPTION}={path}: exists already and is not overwritten; name another file")
    if path is not None and not path.parent.is_dir():
        raise UsageError(f"{_OPTION}={path}: no such directory: {path.parent}")


def written(path: Path, target: Target, judgement: Judgement) -> str:
    """Write the failures of a run to a new file; return a message that says what is left to do. Raises UsageError."""
    try:
        count = known_file.write(path, target, judgement)
    except OSError as error:
        raise UsageError(f"{_OPTION}={path}: cannot be written: {error.strerror}") from error
    return f"{path}: written; fill in reason and link of {_entries(count)}" if count else f"{path}: written"


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"
