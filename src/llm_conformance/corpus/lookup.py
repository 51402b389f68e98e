"""Single recordings of the public corpus, by reference or by id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from llm_conformance.corpus import places, recordings
from llm_conformance.corpus.manifest import Package, packages
from llm_conformance.scenarios import bare, cassette, load
from llm_conformance.scenarios.bare import BareFile
from llm_conformance.scenarios.cassette import NoRecordingsError, Unreadable
from llm_conformance.scenarios.checks.references import Reference
from llm_conformance.wire.interaction import Interaction
from llm_conformance.yaml_files import BadFileError


class LookupFailedError(Exception):
    """A recording cannot be shown; the message says why and what to do."""


@dataclass(frozen=True)
class Found:
    """An interaction of a public recording."""

    reference: Reference
    package: Package
    interaction: Interaction


def by_reference(reference: Reference) -> Found:
    """Return the recording of a reference. Raises LookupFailedError if the recording is not here or cannot be read."""
    package = next((each for each in packages() if each.name == reference.package), None)
    if package is None or package.version != reference.version:
        raise LookupFailedError(f"the manifest has no {reference.package} {reference.version}")
    _expect_fetched(package)
    path = places.folder(package) / reference.file
    part = package.part_of(reference.file)
    if part is None or not path.is_file():
        raise LookupFailedError(f"{package.name} {package.version} has no recording {reference.file}")
    file = BareFile(path, places.root(), reference.package, part.recorder)
    found = dict(_interactions(file))
    if reference.number not in found:
        raise LookupFailedError(f"{reference.file} has no interaction {reference.number}, it has {len(found)}")
    return Found(reference, package, _readable(reference, found[reference.number]))


def by_id(id: str) -> list[Found]:
    """Return the interactions of the recording `<package>/<path in the archive>`.

    If the id ends with `#1`, return only interaction 1.

    The path may lack the ending `.yaml`. Returns an empty list if the package has no such recording. Raises
    LookupFailedError if the package is not here or the interaction cannot be read.
    """
    name, _, path = id.partition("/")
    package = next(each for each in packages() if each.name == name)
    _expect_fetched(package)
    stem, hash, number = path.rpartition("#")
    wanted = (path, stem) if hash and number.isdigit() else (path,)
    for file in places.files(package):
        below = file.relative_to(places.folder(package)).as_posix()
        spelling = next((each for each in wanted if each in (below, load.BARE_ENDING.sub("", below))), None)
        part = package.part_of(below)
        if spelling is None or part is None:
            continue
        chosen = int(number) if spelling != path else None
        of_file = _interactions(BareFile(file, places.root(), name, part.recorder))
        kept = {at: each for at, each in of_file if chosen in (None, at)}
        if chosen is not None and not kept:
            raise LookupFailedError(f"{below} has no interaction {chosen}")
        references = {at: Reference(name, package.version, below, at) for at in kept}
        return [Found(references[at], package, _readable(references[at], each)) for at, each in kept.items()]
    return []


def ids() -> Iterator[str]:
    """Yield the ids of all recordings that are here."""
    fetched = [each for each in packages() if places.is_fetched(each)]
    for package in fetched:
        for path in places.files(package):
            yield recordings.id_of(package, path.relative_to(places.folder(package)).as_posix())


def _expect_fetched(package: Package) -> None:
    if not places.is_fetched(package):
        raise LookupFailedError(
            f"{package.name} {package.version} is not here; `llm-conformance corpus fetch {package.name}` downloads it"
        )


def _interactions(file: BareFile) -> Iterator[tuple[int, Interaction | Unreadable]]:
    try:
        _, recorded = cassette.load_bare(file.path, file.recorder.fidelity)
    except (BadFileError, NoRecordingsError) as error:
        raise LookupFailedError(f"{file.path} cannot be read: {error}") from error
    for number, each in enumerate(recorded):
        readable = each if isinstance(each, Unreadable) else bare.with_url(each.interaction, file.recorder)
        yield number, readable


def _readable(reference: Reference, interaction: Interaction | Unreadable) -> Interaction:
    if isinstance(interaction, Unreadable):
        raise LookupFailedError(f"{reference} cannot be read: {interaction.why}")
    return interaction
