"""The manifest of the public corpus, `cassettes/public.toml`: the archives and their recordings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance import schema, toml_files
from llm_conformance.scenarios.bare import Recorder
from llm_conformance.scenarios.bare_expected import CLAIMED
from llm_conformance.scenarios.checks.references import PUBLIC, matches
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import did_you_mean
from llm_conformance.yaml_files import BadFileError, FileProblem

MANIFEST = PUBLIC


@dataclass(frozen=True)
class Part:
    """Files of an archive that have the same recorder.

    Attributes:
        files: Globs of paths below the archive's top folder; `*` also matches `/`. A file belongs to the first part
            with a matching glob.
        count: The number of files in this part.
        apis: The APIs whose answers are in these files, as `provider:name`.
        recorder: What is known about its recorder.
    """

    files: tuple[str, ...]
    count: int
    apis: tuple[str, ...]
    recorder: Recorder

    @property
    def providers(self) -> tuple[str, ...]:
        """The providers of these files, sorted."""
        return tuple(sorted({name.partition(":")[0] for name in self.apis}))

    def concerns(self, is_wanted: Callable[[Api], bool]) -> bool:
        """Return True if one of its APIs is wanted."""
        return any(str(api) in self.apis and is_wanted(api) for api in table().values())


@dataclass(frozen=True)
class LeftOut:
    """Recordings of an archive that are not part of the corpus; `why` is the reason."""

    files: tuple[str, ...]
    count: int
    why: str


@dataclass(frozen=True)
class Package:
    """One source archive.

    Attributes:
        archive: The name of the file.
        size: Its size in bytes.
        sha256: Its digest, in hexadecimal digits.
        licence: The licence that the package states, as an SPDX identifier.
    """

    name: str
    version: str
    archive: str
    size: int
    sha256: str
    licence: str
    parts: tuple[Part, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def count(self) -> int:
        """The number of its recordings."""
        return sum(part.count for part in self.parts)

    @property
    def providers(self) -> tuple[str, ...]:
        """The providers of its recordings, sorted."""
        return tuple(sorted({provider for part in self.parts for provider in part.providers}))

    def part_of(self, name: str) -> Part | None:
        """Return the part of a file; None if the file is not a recording of the corpus.

        `name` is the path below the archive's top folder.
        """
        if any(matches(name, left_out.files) for left_out in self.left_out):
            return None
        return next((part for part in self.parts if matches(name, part.files)), None)

    def concerns(self, is_wanted: Callable[[Api], bool]) -> bool:
        """Return True if one of its APIs is wanted."""
        return any(part.concerns(is_wanted) for part in self.parts)


def packages(path: Path | None = None) -> tuple[Package, ...]:
    """Return the packages of a manifest, by default the suite's. Raises BadFileError with every problem of the file."""
    return _read(path or MANIFEST)


@functools.cache
def _read(path: Path) -> tuple[Package, ...]:
    document, text = toml_files.read(path)
    problems = schema.file_problems("public-corpus", path, text, document)
    if not problems:
        problems = [
            FileProblem(path, toml_files.line_of(text, where), what) for where, what in _problems(document["package"])
        ]
    if problems:
        raise BadFileError(*problems)
    return tuple(map(_package, document["package"]))


def _problems(stated: Sequence[Mapping[str, Any]]) -> Iterator[tuple[toml_files.Where, str]]:
    """Yield problems that a schema cannot find: names that occur twice, and words that the suite does not know."""
    known = [str(api) for api in table().values()]
    names = [each["name"] for each in stated]
    for number, each in enumerate(map(_package, stated)):
        if names.index(each.name) != number:
            yield ("package", number, "name"), f"{each.name} is listed twice"
        for at, part in enumerate(each.parts):
            where = ("package", number, "recordings", at)
            for name in part.apis:
                if name not in known:
                    yield (*where, "apis"), f"{name}: no such API{did_you_mean(name, known)}"
            fidelity = part.recorder.fidelity
            if fidelity not in CLAIMED:
                yield (*where, "fidelity"), f"{fidelity}: no such fidelity{did_you_mean(str(fidelity), CLAIMED)}"


def _package(stated: Mapping[str, Any]) -> Package:
    columns = {name: value for name, value in stated.items() if name not in ("recordings", "left_out")}
    return Package(
        **columns,
        parts=tuple(map(_part, stated["recordings"])),
        left_out=tuple(
            LeftOut(tuple(each["files"]), each["count"], each["why"]) for each in stated.get("left_out", ())
        ),
    )


def _part(stated: Mapping[str, Any]) -> Part:
    apis = tuple(stated["apis"])
    recorder = Recorder(stated["fidelity"], apis if stated.get("without_urls") else ())
    return Part(tuple(stated["files"]), stated["count"], apis, recorder)
