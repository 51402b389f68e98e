"""Fetch packages of the public corpus into the cache directory, each completely or not at all.

A package is downloaded and unpacked in a temporary folder. The folder is then renamed. So an interrupted fetch leaves
nothing half done, and two processes that fetch the same package do not disturb each other.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from llm_conformance.corpus import places, unpack
from llm_conformance.corpus.manifest import Package
from llm_conformance.wording import counted

_ABANDONED_S = 24 * 3600
"""In seconds. If a temporary folder is older, a killed process has left it."""


class FetchError(Exception):
    """A package was not fetched; the message says why and what to do."""


class Source(Protocol):
    """The protocol of a class that downloads archives, such as `download.Index`."""

    def download(self, package: Package, target: Path, progress: Callable[[int], object]) -> None:
        """Write the archive of a package to a new file, and check its digest."""


def fetch(package: Package, source: Source, progress: Callable[[int], object]) -> None:
    """Fetch a package that is missing or damaged.

    Raises FetchError, and anything that `source` raises. In these cases it leaves nothing behind.
    """
    try:
        parent = places.folder(package).parent
        parent.mkdir(parents=True, exist_ok=True)
        for path in unfinished():
            with contextlib.suppress(FileNotFoundError):  # another process has finished in the meantime
                if time.time() - path.stat().st_mtime > _ABANDONED_S:
                    shutil.rmtree(path, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=places.UNFINISHED, dir=parent) as name:
            archive, files = Path(name) / "archive", Path(name) / "files"
            source.download(package, archive, progress)
            files.mkdir()
            _unpack(package, archive, files)
            _put(files, package, Path(name) / "before")
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FetchError(
                f"there is no space left in {places.root()}; set {places.CACHE} to a folder on another disk"
            ) from error
        raise FetchError(f"{places.root()} cannot be written: {error.strerror or error}") from error


def _unpack(package: Package, archive: Path, target: Path) -> None:
    try:
        unpack.unpack(archive, target, lambda name: package.part_of(name) is not None)
    except unpack.UnsafeArchiveError as error:
        raise FetchError(f"{package.archive} is refused: {error}") from error
    paths = (path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file())
    found = Counter(package.part_of(name) for name in paths)
    for part in package.parts:
        if found[part] != part.count:
            raise FetchError(
                f"{package.archive} has {counted(found[part], 'file')} like {part.files[0]}, and the manifest says "
                f"{part.count}; the manifest is wrong"
            )


def _put(new: Path, package: Package, before: Path) -> None:
    """Move a folder to its place.

    If another process has already put a complete folder there, that folder stays. A damaged folder is replaced. Each
    step is one rename, so that readers never see half of the files.
    """
    place = places.folder(package)
    while not places.is_fetched(package):
        if place.exists():
            with contextlib.suppress(FileNotFoundError):  # another process has already moved it away
                place.rename(before)
            shutil.rmtree(before, ignore_errors=True)
        try:
            new.rename(place)
        except OSError:
            if not place.exists():
                raise


def unfinished() -> Iterator[Path]:
    """Yield the temporary folders of processes that are fetching packages or were killed."""
    yield from places.root().glob(f"*/{places.UNFINISHED}*")


def outdated(packages: tuple[Package, ...]) -> Iterator[Path]:
    """Yield the folders of archives that the manifest does not list."""
    listed = set(map(places.folder, packages))
    yield from (path for path in sorted(places.root().glob("*/[!.]*")) if path.is_dir() and path not in listed)


def size(folder: Path) -> int:
    """Return the size of all files below a folder, in bytes."""
    return sum(os.lstat(Path(at) / name).st_size for at, _, names in os.walk(folder) for name in names)
