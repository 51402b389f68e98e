"""Compare documents with an SDK's types in the SDK's environment, and group the differences."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.environments import ROOT, Environment
from tools.documents import Document
from tools.sdk_types.settings import Explanation, Sdk


class ProbeError(Exception):
    """A type of an SDK cannot be found, or the comparison does not know its kind."""


@dataclass(frozen=True)
class Group:
    """The differences of one kind at one place of a scenario in one mode.

    `mode` is `json`, `stream`, `outage` or `request`. `place` is a JSON pointer with `*` for each index. `first` names
    the document with the first difference, as `Document.part` does.
    """

    api: str
    scenario: str
    mode: str
    place: str
    kind: str
    type: str
    message: str
    first: str
    is_probe: bool
    count: int

    @property
    def headline(self) -> str:
        """The line above the list of such differences: the API, the kind, the field and the type."""
        return f"{self.api}: {self.kind} `{self.place.rpartition('/')[2]}` [{self.type}]"

    def __str__(self) -> str:
        """Return a line that says where the difference is."""
        times = f" ({self.count} times)" if self.count > 1 else ""
        said = f": {self.message}" if self.message else ""
        return f"{self.scenario} {self.first}: {self.place or '/'}{said}{times}"


def environment(sdk: Sdk, work: Path, latest: bool) -> Environment:
    """Return the environment of an SDK, and make it if it does not exist. Raises NotInstalledError."""
    wanted = [re.sub(r"==.*", "", each) if latest else each for each in sdk.requirements]
    digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:8]
    folder = work / f"{sdk.name}-{digest}"
    made = Environment(folder, folder.with_suffix(".log"))
    done = folder / "installed"
    if latest or not done.is_file():
        made.install("--upgrade", *wanted, with_suite=False)
        done.touch()
    return made


def versions(place: Environment, sdk: Sdk) -> str:
    """Return the SDK with its installed version."""
    name = re.split(r"[=\[]", sdk.requirements[0])[0]
    code = f"from importlib.metadata import version; print(version({name!r}))"
    done = subprocess.run([place.folder / "bin" / "python", "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    return f"{name} {done.stdout.strip() or '(unknown version)'}"


def compare(place: Environment, pairs: Sequence[tuple[Document, Sequence[str]]]) -> list[dict[str, Any]]:
    """Return the probe's result for each pair of a document and its possible types. Raises ProbeError."""
    asked = json.dumps([{"types": types, "document": document.value} for document, types in pairs])
    command = [str(place.folder / "bin" / "python"), "-m", "tools.sdk_types.probe"]
    done = subprocess.run(command, input=asked, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise ProbeError(done.stderr.strip().rpartition("\n")[2])
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def groups(documents: Iterable[Document], answers: Iterable[dict[str, Any]]) -> list[Group]:
    """Return the differences. Differences of the same kind at the same place of a stream are one group."""
    found: dict[tuple[str, ...], Group] = {}
    for document, answer in zip(documents, answers, strict=True):
        mode = document.part.partition(" ")[0]
        for each in answer["differences"]:
            place = re.sub(r"/\d+(?=/|$)", "/*", each["pointer"])
            said = each["message"] if each["kind"] in ("unknown value", "unknown variant") else ""
            key = (document.api, document.scenario, mode, place, each["kind"], each["type"], said)
            earlier = found.get(key)
            found[key] = Group(
                *key[:-1],
                message=earlier.message if earlier else each["message"],
                first=earlier.first if earlier else document.part,
                is_probe=document.is_probe,
                count=earlier.count + 1 if earlier else 1,
            )
    return list(found.values())


def lines(found: Iterable[Group], most: int) -> Iterator[str]:
    """Yield each headline with at most `most` places, and the number of the other places."""
    by_headline: dict[str, list[Group]] = {}
    for group in found:
        by_headline.setdefault(group.headline, []).append(group)
    for headline, places in by_headline.items():
        yield headline
        yield from (f"    {each}" for each in places[:most])
        if len(places) > most:
            yield f"    and {len(places) - most} more places"


class Explained:
    """Finds explanations, and remembers which of their globs have matched."""

    def __init__(self, explanations: Sequence[Explanation]) -> None:
        self._explanations = explanations
        self._used: set[tuple[int, str, str]] = set()

    def explains(self, group: Group) -> bool:
        """Return True if an explanation fits. Remember the globs that match."""
        used = {
            (number, *pair)
            for number, each in enumerate(self._explanations)
            for pair in each.fits(group.api, group.scenario, group.kind, group.place, group.message)
        }
        self._used |= used
        return bool(used)

    def unused(self, apis: Iterable[str], whole: bool) -> Iterator[str]:
        """Yield the globs that matched nothing.

        Unless the run is `whole`, an explanation counts only if all its APIs were compared.
        """
        compared = set(apis)
        for number, each in enumerate(self._explanations):
            used = [pair for index, *pair in self._used if index == number]
            for column, globs in enumerate((each.apis, each.at)):
                for glob in globs:
                    if not any(pair[column] == glob for pair in used) and (whole or set(each.apis) <= compared):
                        yield f"{glob} in line {each.line} ({each.reason})"
