"""References to public recordings.

A reference names an interaction of a public recording. It is the evidence that a provider sends what a scenario has.

`metadata.shown_by` of a cassette has a reference for a mode, such as

    stream: langchain-openai 1.7.4, tests/cassettes/test_web_search.yaml.gz, interaction 1

The digest of the package is in `cassettes/public.toml`.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance import toml_files, yaml_files
from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios.cassette import Cassette
from llm_conformance.wire.interaction import MODES, Mode
from llm_conformance.wording import did_you_mean
from llm_conformance.yaml_files import FileProblem

KEY = "shown_by"
"""The key of a cassette's metadata."""
PUBLIC = CASSETTES / "public.toml"
"""The manifest of the packages that references may name."""
_FORM = re.compile(r"(?P<package>[a-z0-9][a-z0-9.-]*) (?P<version>\S+), (?P<file>.+), interaction (?P<number>\d+)")


@dataclass(frozen=True, order=True)
class Reference:
    """An interaction of a public recording.

    Attributes:
        package: The name of the package.
        version: Its version.
        file: The path of the recording below the archive's top folder.
        number: The index of the interaction in the file.
    """

    package: str
    version: str
    file: str
    number: int

    def __str__(self) -> str:
        """Return the reference in the form of `metadata.shown_by`."""
        return f"{self.package} {self.version}, {self.file}, interaction {self.number}"


def parsed(text: str) -> Reference:
    """Parse a reference. Raises ValueError if the text does not have the form of a reference."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"no reference to a recording: {text!r}")
    return Reference(found["package"], found["version"], found["file"], int(found["number"]))


def references(metadata: Mapping[str, Any]) -> Mapping[Mode, Reference]:
    """Return the references of a cassette by mode. They are empty if it names no public recording."""
    stated = metadata.get(KEY, {})
    return {mode: parsed(stated[mode]) for mode in MODES if mode in stated}


def matches(name: str, globs: Iterable[str]) -> bool:
    """Return True if a path below the top folder of an archive matches one of the globs; `*` matches `/`, too."""
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def problems(cassette: Cassette, modes: Iterable[Mode]) -> Iterator[FileProblem]:
    """Yield the problems with the references of a cassette. The cassette has to be valid against its schema.

    `modes` are those of the scenario. The recordings themselves are not read; `python -m tools.promote --check` does
    that.
    """
    for mode, reference in references(cassette.metadata).items():
        line = yaml_files.line_of(cassette.text, ("metadata", KEY, mode))
        if mode not in modes:
            yield FileProblem(cassette.path, line, f"{KEY}: the scenario has no {mode} recording")
        what = _problem(reference)
        if what:
            yield FileProblem(cassette.path, line, f"{KEY}: {what}")


def _problem(reference: Reference) -> str | None:
    package = packages().get(reference.package)
    if package is None:
        hint = did_you_mean(reference.package, packages())
        return f"{PUBLIC.name} has no package {reference.package}{hint}"
    if package["version"] != reference.version:
        return (
            f"{PUBLIC.name} has {reference.package} {package['version']}, not {reference.version}; "
            "run `python -m tools.promote --write`"
        )
    left_out = any(matches(reference.file, each["files"]) for each in package.get("left_out", ()))
    if left_out or not any(matches(reference.file, each["files"]) for each in package["recordings"]):
        return f"{PUBLIC.name} lists no file {reference.file} of {reference.package}"
    return None


@functools.cache
def packages() -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of the manifest by name, as it states them."""
    document, _ = toml_files.read(PUBLIC)
    return {each["name"]: each for each in document["package"]}
