"""Unpack the recordings of a source archive, which is untrusted input.

Only regular files that the manifest lists are written, below one new folder. A whole archive is refused if it has an
unsafe name, if it exceeds the limits, or if a listed file is a link or a device. No code in an archive is ever run.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import unicodedata
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from llm_conformance.limits import BYTES as MAX_BYTES

MAX_MEMBERS = 50_000
"""How many files and folders an archive may have."""
MAX_FILES = 5_000
"""How many recordings an archive may have."""
MAX_TOTAL = 256 * 2**20
"""How many bytes its recordings may have together."""
MAX_RATIO = 50
"""The contents may be this many times as large as the archive. Up to `_FREE` bytes are always allowed."""
_FREE = 16 * 2**20
_LONGEST_NAME = 250
_PIECE = 2**16


class UnsafeArchiveError(Exception):
    """An archive is refused; the message says why."""


def unpack(archive: Path, target: Path, is_wanted: Callable[[str], bool]) -> int:
    """Write the wanted files of an archive (`.tar.gz`) into an empty folder; return their number.

    `is_wanted` is called with a path below the archive's top folder. Raises UnsafeArchiveError, and OSError if the disk
    is full.
    """
    most = max(_FREE, MAX_RATIO * archive.stat().st_size)
    try:
        with gzip.open(archive) as stream:
            return _Unpacking(target, is_wanted).read(_Limited(stream, most))
    except (tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile, UnicodeError) as error:
        raise UnsafeArchiveError(f"it is no tar archive, or a damaged one: {error}") from error


class _Limited(io.RawIOBase):
    """A stream that raises after a number of bytes."""

    def __init__(self, stream: gzip.GzipFile, most: int) -> None:
        self._stream = stream
        self._left = most

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        found = self._stream.read(min(size if size >= 0 else _PIECE, self._left + 1))
        self._left -= len(found)
        if self._left < 0:
            raise UnsafeArchiveError("it is decompressed to many times its size")
        return found


class _Unpacking:
    def __init__(self, target: Path, is_wanted: Callable[[str], bool]) -> None:
        self._target = target
        self._is_wanted = is_wanted
        self._seen: dict[str, str] = {}
        self._total = 0

    def read(self, stream: _Limited) -> int:
        """Write the wanted files, in the order of the archive; return their number."""
        # Names that are not UTF-8 become surrogates, and `_safe` refuses those.
        with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape") as archive:
            for number, member in enumerate(archive, 1):
                if number > MAX_MEMBERS:
                    raise UnsafeArchiveError(f"it has more than {MAX_MEMBERS} members")
                name = _safe(member.name)
                if name and not member.isdir() and self._is_wanted(name):
                    self._write(archive, member, name)
                archive.members.clear()  # type: ignore[attr-defined]  # tarfile would keep all of them
        return len(self._seen)

    def _write(self, archive: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> None:
        self._check(member, name)
        path = self._target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        source = archive.extractfile(member)
        if source is None:
            raise UnsafeArchiveError(f"{name} is no regular file")
        with path.open("xb") as file:
            written = 0
            while piece := source.read(_PIECE):
                written += len(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if written != member.size:
            raise UnsafeArchiveError(f"{name} is cut off")

    def _check(self, member: tarfile.TarInfo, name: str) -> None:
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.sparse is not None:
            raise UnsafeArchiveError(f"{name} is no regular file")
        if member.size > MAX_BYTES:
            raise UnsafeArchiveError(f"{name} has {member.size} bytes; at most {MAX_BYTES} are allowed")
        self._total += member.size
        if self._total > MAX_TOTAL:
            raise UnsafeArchiveError(f"its recordings have more than {MAX_TOTAL} bytes")
        key = unicodedata.normalize("NFC", name).casefold()
        if key in self._seen:
            raise UnsafeArchiveError(f"{self._seen[key]} and {name} are the same file on some systems")
        self._seen[key] = name
        if len(self._seen) > MAX_FILES:
            raise UnsafeArchiveError(f"it has more than {MAX_FILES} recordings")


def _safe(name: str) -> str:
    """Return a member's path below the top folder; "" for the top folder itself. Raises UnsafeArchiveError."""
    parts = PurePosixPath(name).parts
    is_unsafe = (
        not parts
        or name.startswith("/")
        or ".." in parts
        or len(name) > _LONGEST_NAME
        or any(character in name for character in "\\:")
        or not name.isprintable()  # control characters, and surrogates for bytes that are not UTF-8
    )
    if is_unsafe:
        raise UnsafeArchiveError(f"the name {name[:_LONGEST_NAME]!a} is not safe")
    return PurePosixPath(*parts[1:]).as_posix() if len(parts) > 1 else ""
