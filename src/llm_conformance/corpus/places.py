"""Where fetched recordings are: in the user's cache directory, one folder for each package and version."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from llm_conformance.corpus.manifest import Package

CACHE = "LLM_CONFORMANCE_CACHE"
"""The environment variable for a different cache directory."""
PUBLIC = "public"
"""What `--corpus` calls the recordings of the manifest."""
UNFINISHED = ".fetching-"
"""The prefix of a folder's name while a package is fetched into it."""


def root() -> Path:
    """Return the folder of all fetched packages, whether it exists or not."""
    chosen = os.environ.get(CACHE)
    cache = Path(chosen).expanduser().absolute() if chosen else platformdirs.user_cache_path("llm-conformance", False)
    return cache / "public-corpus"


def folder(package: Package) -> Path:
    """Return the folder of a package's recordings. Each archive of a package has its own folder."""
    return root() / package.name / f"{package.version}-{package.sha256[:12]}"


def files(package: Package) -> Iterator[Path]:
    """Yield the recordings of a fetched package, sorted."""
    below = folder(package)
    found = (path for path in sorted(below.rglob("*")) if path.is_file() and not path.is_symlink())
    return (path for path in found if package.part_of(path.relative_to(below).as_posix()) is not None)


def is_fetched(package: Package) -> bool:
    """Return True if all recordings of a package are here."""
    return folder(package).is_dir() and sum(1 for _ in files(package)) == package.count


def is_public(cassette_dir: Path) -> bool:
    """Return True if a cassette directory is that of the public corpus."""
    return cassette_dir == root()
