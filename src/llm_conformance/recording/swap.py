"""Files put in the place of others, all of them or none, whatever breaks off in between.

A journal names what is being replaced, and copies of it are kept beside the new files until the journal is gone.
Whatever is interrupted before that is undone by `recover`. What a journal says is believed only as far as it is about
proposals and the files that they are for: a directory of cassettes may be a stranger's.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from llm_conformance.scenarios.load import JOURNAL, PROPOSED
from llm_conformance.yaml_files import BadFileError, FileProblem

KEPT = "old"
_ABSENT = ".none"

Change = tuple[Path, Path]
"""A new file, which stands in a proposal, and the one that it is for."""


@contextmanager
def alone(cassette_dir: Path) -> Iterator[None]:
    """Keep other commands from changing a directory. Raises BadFileError where one is changing it now."""
    try:
        import fcntl
    except ImportError:  # not on Windows, where two commands at once are the user's own care
        yield
        return
    directory = os.open(cassette_dir, os.O_RDONLY)
    try:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            what = "another command is accepting recordings here; wait for it"
            raise BadFileError(FileProblem(cassette_dir, 1, what)) from error
        yield
    finally:
        os.close(directory)


def swap(cassette_dir: Path, changes: Sequence[Change]) -> None:
    """Replace files, or undo all that was done. What is to be replaced has to lie in `home`."""
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
    journal.unlink()  # from here on it has happened


def undo(cassette_dir: Path) -> list[str]:
    """Undo a swap that was interrupted; return what was put back.

    Raises BadFileError for a journal that no swap of ours has written.
    """
    journal = cassette_dir / JOURNAL
    if not journal.is_file():
        return []
    changes = list(_journalled(cassette_dir, journal))
    put_back: list[str] = []
    for new, target in changes:
        kept = new.parent / KEPT
        if (kept / target.name).is_file():
            os.replace(kept / target.name, target)
            put_back.append(str(target))
        elif (kept / f"{target.name}{_ABSENT}").is_file():
            target.unlink(missing_ok=True)
            put_back.append(str(target))
    for new, _ in changes:
        shutil.rmtree(new.parent / KEPT, ignore_errors=True)
    journal.unlink()
    return put_back


def _journalled(cassette_dir: Path, journal: Path) -> Iterator[Change]:
    try:
        entries = json.loads(journal.read_text("utf-8"))
    except ValueError:
        return  # not even the journal was whole: nothing had begun
    for entry in entries if isinstance(entries, list) else [entries]:
        if not (isinstance(entry, list) and len(entry) == 2 and all(isinstance(name, str) for name in entry)):
            raise _refused(journal)
        new, target = cassette_dir / entry[0], cassette_dir / entry[1]
        folder = new.parent
        is_proposal = folder.name.endswith(PROPOSED) and new.name == target.name and folder.parent == target.parent
        within = all(path.parent.resolve().is_relative_to(cassette_dir.resolve()) for path in (new, target))
        if not (is_proposal and within and new.suffix == ".yaml"):
            raise _refused(journal)
        yield new, target


def _refused(journal: Path) -> BadFileError:
    return BadFileError(FileProblem(journal, 1, "no journal of this suite's; remove it if it is not yours"))


def _keep_old(new: Path, target: Path) -> None:
    kept = new.parent / KEPT
    kept.mkdir(exist_ok=True)
    if target.is_file():
        _write_whole(kept / target.name, target.read_bytes())
    else:
        (kept / f"{target.name}{_ABSENT}").touch()


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file so that there is never half of it, and through no link."""
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
