"""The recordings of the public corpus, as bare cassettes to be judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from llm_conformance.corpus import places
from llm_conformance.corpus.manifest import Package, packages
from llm_conformance.scenarios import load
from llm_conformance.scenarios.bare import BareFile
from llm_conformance.wire.providers.api import Api


class NotFetchedError(Exception):
    """Packages that are needed are not here."""

    def __init__(self, missing: Sequence[Package]) -> None:
        super().__init__(", ".join(package.name for package in missing))
        self.missing = missing


def wanted(is_wanted: Callable[[Api], bool]) -> list[Package]:
    """Return the packages with recordings of an API that is wanted."""
    return [package for package in packages() if package.concerns(is_wanted)]


def of(is_wanted: Callable[[Api], bool]) -> Iterator[BareFile]:
    """Yield the cassettes of the parts with a wanted API.

    An id consists of the package's name and the path in the archive. It has no version, so that it stays the same after
    an update of the package. If a package is not here, raises NotFetchedError before it yields anything.
    """
    return _of(wanted(is_wanted), is_wanted)


def of_packages(chosen: Sequence[Package]) -> Iterator[BareFile]:
    """Yield all cassettes of packages. Raises NotFetchedError like `of`."""
    return _of(chosen, lambda _: True)


def _of(found: Sequence[Package], is_wanted: Callable[[Api], bool]) -> Iterator[BareFile]:
    missing = [package for package in found if not places.is_fetched(package)]
    if missing:
        raise NotFetchedError(missing)
    return (file for package in found for file in _files(package, is_wanted))


def _files(package: Package, is_wanted: Callable[[Api], bool]) -> Iterator[BareFile]:
    folder = places.folder(package)
    for path in places.files(package):
        name = path.relative_to(folder).as_posix()
        part = package.part_of(name)
        if part is not None and part.concerns(is_wanted):
            yield BareFile(path, places.root(), id_of(package, name), part.recorder)


def id_of(package: Package, name: str) -> str:
    """Return the id of a recording; `name` is its path in the archive."""
    return f"{package.name}/{load.BARE_ENDING.sub('', name)}"
