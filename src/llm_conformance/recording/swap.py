"""Replace several files, all or none, even if the process is killed.

A journal lists the files that are being replaced. Their old contents stay beside the new files until the journal is
deleted. If the process ends before that, `undo` restores the old contents. A cassette directory is untrusted, so `undo`
accepts only journals about proposals and their target files.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from llm_conformance.scenarios.load import JOURNAL, PROPOSED
from llm_conformance.yaml_files import BadFileError, FileProblem

KEPT = "old"
_ABSENT = ".none"
_PART = re.compile(rf"\.(?:{re.escape(JOURNAL)}|.+\.yaml)-\w{{8}}\.part")
"""The name of a file that is being written (`_write_whole`)."""

Change = tuple[Path, Path]
"""(new file in a proposal, file that it replaces)"""


@contextmanager
def locked(cassette_dir: Path, wait: bool = False) -> Iterator[None]:
    """Lock a directory against other commands that change it.

    The holder may delete half-written files of other commands, because those commands no longer run (`delete_parts`).

    Raises:
        BadFileError: Another command holds the lock, and `wait` is False.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        yield
        return
    directory = os.open(cassette_dir, os.O_RDONLY)
    try:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            message = "another command is changing this directory; wait until it has finished"
            raise BadFileError(FileProblem(cassette_dir, 1, message)) from error
        yield
    finally:
        os.close(directory)


def swap(cassette_dir: Path, changes: Sequence[Change]) -> None:
    """Replace files, all of them in `cassette_dir`. If one cannot be replaced, restore all files."""
    journal = cassette_dir / JOURNAL
    entries = [[str(path.relative_to(cassette_dir)) for path in change] for change in changes]
    try:
        _write_whole(journal, json.dumps(entries).encode("utf-8"))
        for new, target in changes:
            _keep_old(new, target)
        for new, target in changes:
            _write_whole(target, new.read_bytes())
    except BaseException:
        undo(cassette_dir)
        raise
    journal.unlink()  # this commits the change


def undo(cassette_dir: Path) -> list[str]:
    """Undo a swap that was interrupted. Return the paths of the restored files.

    Raises BadFileError for a journal that `swap` cannot have written.
    """
    journal = cassette_dir / JOURNAL
    if not journal.is_file():
        return []
    changes = list(_journalled(cassette_dir, journal))
    restored: list[str] = []
    for new, target in changes:
        kept = new.parent / KEPT
        if (kept / target.name).is_file():
            os.replace(kept / target.name, target)
            restored.append(str(target))
        elif (kept / f"{target.name}{_ABSENT}").is_file():
            target.unlink(missing_ok=True)
            restored.append(str(target))
    for new, _ in changes:
        shutil.rmtree(new.parent / KEPT, ignore_errors=True)
    journal.unlink()
    return restored


def delete_parts(cassette_dir: Path) -> None:
    """Delete the half-written files of killed commands. The directory has to be locked."""
    for path in cassette_dir.rglob(".*.part"):
        if _PART.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            path.unlink()


def _journalled(cassette_dir: Path, journal: Path) -> Iterator[Change]:
    try:
        entries = json.loads(journal.read_text("utf-8"))
    except ValueError:
        return  # the journal is incomplete, so nothing was replaced
    for entry in entries if isinstance(entries, list) else [entries]:
        if not (isinstance(entry, list) and len(entry) == 2 and all(isinstance(name, str) for name in entry)):
            raise _bad_journal(journal)
        new, target = cassette_dir / entry[0], cassette_dir / entry[1]
        folder = new.parent
        is_proposal = folder.name.endswith(PROPOSED) and new.name == target.name and folder.parent == target.parent
        within = all(path.parent.resolve().is_relative_to(cassette_dir.resolve()) for path in (new, target))
        if not (is_proposal and within and new.suffix == ".yaml"):
            raise _bad_journal(journal)
        yield new, target


def _bad_journal(journal: Path) -> BadFileError:
    return BadFileError(FileProblem(journal, 1, "was not written by this suite; delete it"))


def _keep_old(new: Path, target: Path) -> None:
    kept = new.parent / KEPT
    kept.mkdir(exist_ok=True)
    if target.is_file():
        _write_whole(kept / target.name, target.read_bytes())
    else:
        (kept / f"{target.name}{_ABSENT}").touch()


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically, without following a link."""
    handle, part = tempfile.mkstemp(prefix=f".{path.name}-", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
