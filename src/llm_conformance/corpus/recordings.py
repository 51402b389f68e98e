"""The recordings of the public corpus, as bare cassettes to be judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from llm_conformance.corpus import places
from llm_conformance.corpus.manifest import Package, packages
from llm_conformance.scenarios import load
from llm_conformance.scenarios.bare import BareFile
from llm_conformance.wire.providers.api import Api


class NotFetchedError(Exception):
    """Packages that are wanted and not here."""

    def __init__(self, missing: Sequence[Package]) -> None:
        super().__init__(", ".join(package.name for package in missing))
        self.missing = missing


def wanted(is_wanted: Callable[[Api], bool]) -> list[Package]:
    """Return the packages with recordings of an API that is wanted."""
    return [package for package in packages() if package.concerns(is_wanted)]


def of(is_wanted: Callable[[Api], bool]) -> Iterator[BareFile]:
    """Yield the cassettes of those parts that have an API that is wanted.

    An id is the name of the package and the path in the archive, without version: it stays when a package is updated.
    Raises NotFetchedError before the first one if a package is not here.
    """
    return _of(wanted(is_wanted), is_wanted)


def of_packages(chosen: Sequence[Package]) -> Iterator[BareFile]:
    """Yield all cassettes of packages, as `of` does. Raises NotFetchedError before the first one, too."""
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
