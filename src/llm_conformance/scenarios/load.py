"""Find and read scenario files.

    cassettes/<provider>/<name>.yaml             the cassette, in the format of vcrpy
    cassettes/<provider>/<name>.scenario.yaml    API, call, recordings, expected values (schemas/scenario.schema.json)

The expected values are written by hand, from the bytes and the provider's documentation.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_conformance import limits, schema, yaml_files
from llm_conformance.scenarios import cassette
from llm_conformance.scenarios.cassette import Cassette
from llm_conformance.scenarios.recorders.files import may_have_recordings
from llm_conformance.wire.interaction import MODES, Interaction, Mode
from llm_conformance.wire.providers import table
from llm_conformance.wire.providers.api import Api
from llm_conformance.wording import did_you_mean, no_such
from llm_conformance.yaml_files import BadFileError, FileProblem

SUFFIX = ".scenario.yaml"
DRAFT = ".draft.yaml"
"""The suffix of a conversation that is still to be recorded (`llm_conformance.recording`)."""
CORE = "core-"
"""The prefix of the names of core faults (`core_faults`). No scenario file may have such a name."""
PROPOSED = ".proposed"
"""The suffix of a folder with a recording that nobody has accepted yet."""
CASSETTE_NAME = re.compile(r"[.]ya?ml([.]gz)?$")
"""The endings of the names of cassettes."""
BARE_ENDING = re.compile(r"[.]yaml([.]gz)?$")
"""The endings that the id of a bare recording leaves out.

Other endings stay: `a.yaml` and `a.yml` are two recordings.
"""
JOURNAL = ".accepting.json"
"""A file that a cassette directory has while recordings in it are being replaced."""


@dataclass(frozen=True)
class ScenarioFile:
    """A scenario file and its cassette, as the lint and `build` need them.

    `is_checked` is True if the file was validated against its schema. `form_problems` are the problems that the schema
    found. `files` reads the scenario files of earlier answers.
    """

    path: Path
    text: str
    document: Mapping[str, Any]
    cassette: Cassette
    form_problems: tuple[FileProblem, ...] = ()
    is_checked: bool = True
    files: Files = field(default_factory=lambda: Files(), repr=False, compare=False)

    def problem(self, message: str, *where: str | int) -> FileProblem:
        """Return a problem at the path `where` of the scenario file."""
        return FileProblem(self.path, yaml_files.line_of(self.text, where), message)

    def interaction(self, mode: Mode) -> Interaction:
        """Return the recording of `mode`."""
        index: int = self.document["recordings"][mode]
        return self.cassette.interactions[index]

    @property
    def outage(self) -> Interaction | None:
        """The failure that answers the first request; None if there is none. The adapter then has to ask again."""
        index = self.document["recordings"].get("outage")
        return None if index is None else self.cassette.interactions[index]

    @functools.cached_property
    def earlier(self) -> Mapping[int, ScenarioFile]:
        """The scenarios whose answers are messages of this scenario, by the index of the message."""
        found = ((number, _answered(self.path, each)) for number, each in enumerate(self.document["call"]["messages"]))
        return {number: self.files.read(path, self.is_checked) for number, path in found if path is not None}

    def before(self) -> Iterator[ScenarioFile]:
        """Yield once each scenario whose answer is in this conversation, directly or through an earlier answer."""
        seen, left = {self.path}, [self]
        while left:
            for each in left.pop().earlier.values():
                if each.path not in seen:
                    seen.add(each.path)
                    left.append(each)
                    yield each

    @property
    def api(self) -> Api:
        """The API. Raises KeyError if the provider table lacks it. The file then has `form_problems`."""
        return table.table()[self.document["provider"], self.document["api"]]

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that were recorded; empty if the file does not name them."""
        recordings = self.document.get("recordings")
        return tuple(mode for mode in MODES if mode in recordings) if isinstance(recordings, Mapping) else ()


class Files:
    """Reads scenario files, each once. In a conversation of many turns, each turn refers to all turns before it."""

    def __init__(self) -> None:
        self._read: dict[tuple[Path, bool], ScenarioFile] = {}
        self._answers: dict[Path, list[Path]] = {}

    def read(self, path: Path, check: bool = True) -> ScenarioFile:
        """Read a scenario file and its cassette, as the function `read` does."""
        if (path, check) not in self._read:
            self._read[path, check] = _read(path, check, self)
        return self._read[path, check]

    def before(self, path: Path) -> set[Path]:
        """Return the scenario files whose answers are in a conversation, directly or through an earlier answer.

        The search stops soon after `limits.TURNS` files.
        """
        seen: set[Path] = set()
        left = [path]
        while left and len(seen) <= limits.TURNS:
            file = left.pop()
            if file not in self._answers:
                self._answers[file] = answers_in(file) if file.is_file() else []
            new = set(self._answers[file]) - seen
            seen |= new
            left += new
        return seen


def find(directory: Path) -> tuple[list[Path], list[Path]]:
    """Return the scenario files below `directory`, and the cassettes without a scenario file, both sorted.

    Raises BadFileError for a link that leads out of the directory, because untrusted cassettes must not show other
    files. Also raises it if `accept` was interrupted in the directory, because one conversation may then have both new
    and old recordings.
    """
    if (directory / JOURNAL).is_file():
        what = "accepting recordings was interrupted here; `llm-conformance review` undoes it"
        raise BadFileError(FileProblem(directory / JOURNAL, 1, what))
    found = [path for path in _finished_below(directory) if may_have_recordings(path)]
    found.sort(key=lambda path: path.parts)  # paths compare more slowly
    outside = list(_outside(found, directory.resolve()))
    if outside:
        raise BadFileError(
            *(
                FileProblem(path, 1, f"leads out of {directory} or in a circle; put the file itself here")
                for path in outside
            )
        )
    files = [path for path in found if path.name.endswith(SUFFIX)]
    claimed = {*map(str, files), *(str(path).removesuffix(SUFFIX) + ".yaml" for path in files)}
    return files, [path for path in found if str(path) not in claimed]


def cassettes_below(directory: Path) -> Iterator[Path]:
    """Yield the files below a directory that have the name of a recording, including scenario files."""
    return (
        path
        for folder, names in _folders(directory)
        for path in map(folder.joinpath, names)
        if may_have_recordings(path)
    )


def _finished_below(directory: Path) -> Iterator[Path]:
    """Yield the files below a directory, without drafts and recordings that are not accepted or not finished."""
    for folder, names in _folders(directory):
        # Each folder is asked once, and not each of its files, because making paths takes most of the time.
        if not any(part.endswith(PROPOSED) or part.startswith(".") for part in folder.relative_to(directory).parts):
            yield from (folder / name for name in names if not name.endswith(DRAFT))


def _folders(directory: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield (folder, names of its files) for a directory and all folders below it. No link to a folder is followed."""
    return ((Path(folder), names) for folder, _, names in os.walk(directory))


def other_files(directory: Path) -> int:
    """Return the number of files below `directory` that do not have the name of a recording."""
    return sum(path.is_file() and not may_have_recordings(path) for path in _finished_below(directory))


def _outside(paths: Iterable[Path], root: Path) -> Iterator[Path]:
    """Yield the paths that are outside `root` after following links. Each folder is resolved once."""

    @functools.cache
    def is_inside(path: Path) -> bool:
        try:
            return path.resolve().is_relative_to(root)
        except (OSError, RuntimeError):  # links that lead in a circle
            return False

    for path in paths:
        if not is_inside(path if os.path.islink(path) else path.parent):
            yield path


def id_of(path: Path) -> str:
    """Return the id of the scenario in a file: its folder and its name."""
    return f"{path.parent.name}/{path.name.removesuffix(SUFFIX)}"


def api_of(path: Path) -> Api | None:
    """Return the API that a scenario file names; None if only parsing the whole file can tell.

    This takes a hundredth of the time of parsing the file. So a run of one provider need not parse the scenarios of the
    others.
    """
    try:
        return api_in(yaml_files.read_text(path))
    except BadFileError:
        return None


def api_in(text: str) -> Api | None:
    """Return the API that the text of a scenario file names, or None, as `api_of` does."""
    named = dict(_PROVIDER_OR_API.findall(text))
    return table.table().get((named.get("provider", ""), named.get("api", "")))


_PROVIDER_OR_API = re.compile(r"^(provider|api): *([\w-]+) *$", re.MULTILINE)


def cassette_path(path: Path) -> Path:
    """Return the path of a scenario file's cassette."""
    return path.with_name(path.name.removesuffix(SUFFIX) + ".yaml")


def read(path: Path, check: bool = True) -> ScenarioFile:
    """Read a scenario file and its cassette. With `check`, validate both against their schemas.

    Raises BadFileError if one of the two files cannot be used at all. Other problems go to `form_problems`.
    """
    return Files().read(path, check)


def _read(path: Path, check: bool, files: Files) -> ScenarioFile:
    text = yaml_files.read_text(path)
    document = yaml_files.parse(path, text)
    form = schema.file_problems("scenario", path, text, document) if check else []
    recorded_path = cassette_path(path)
    if not recorded_path.is_file():
        raise BadFileError(*form, FileProblem(path, 1, f"its cassette {recorded_path.name} is missing"))
    try:
        recorded = cassette.load(recorded_path, check_form=check)
    except BadFileError as bad:
        raise BadFileError(*form, *bad.problems) from bad
    if not isinstance(document, Mapping):
        raise BadFileError(*form)
    file = ScenarioFile(path, text, document, recorded, tuple(form), is_checked=check, files=files)
    unusable = list(_unusable(file)) if check and not form else []
    if unusable:
        raise BadFileError(*unusable)
    return file


def _unusable(file: ScenarioFile) -> Iterator[FileProblem]:
    if (file.document["provider"], file.document["api"]) not in table.table():
        name = f"{file.document['provider']}:{file.document['api']}"
        hint = did_you_mean(name, map(str, table.table().values()))
        yield file.problem(f"{name}: {no_such('API', hint, 'llm-conformance list providers')}", "provider")
    yield from _unusable_messages(file)
    for which in (*file.modes, "outage"):
        index, count = file.document["recordings"].get(which, 0), len(file.cassette.interactions)
        if index >= count:
            message = f"the cassette has no interaction {index}; it has {count}, the first is 0"
            yield file.problem(message, "recordings", which)


def _unusable_messages(file: ScenarioFile) -> Iterator[FileProblem]:
    for number, message in enumerate(file.document["call"]["messages"]):
        where = ("call", "messages", number)
        earlier = _answered(file.path, message)
        if earlier is None:
            continue
        if not earlier.is_file():
            names = (each.name.removesuffix(SUFFIX) for each in file.path.parent.glob(f"*{SUFFIX}"))
            hint = did_you_mean(message["answer_of"], names)
            yield file.problem(f"there is no {earlier.name} beside this file{hint}", *where)
        elif file.path in {earlier, *file.files.before(earlier)}:
            yield file.problem("this answer is one to a conversation that it is part of", *where)
    if len(file.files.before(file.path)) > limits.TURNS:
        what = f"has more than {limits.TURNS} earlier answers, those of earlier answers among them; shorten it"
        yield file.problem(what, "call", "messages")


def answers_in(path: Path) -> list[Path]:
    """Return the scenario files whose answers are messages of a scenario. Malformed messages are skipped."""
    document = yaml_files.parse(path, yaml_files.read_text(path))
    call = document.get("call") if isinstance(document, Mapping) else None
    messages = call.get("messages") if isinstance(call, Mapping) else None
    found = (_answered(path, message) for message in (messages if isinstance(messages, list) else []))
    return [earlier for earlier in found if earlier is not None]


_NAME = re.compile(r"[a-z0-9.-]{1,100}")
"""What `answer_of` may contain: the name of a scenario, never a path (schemas/scenario.schema.json)."""


def _answered(path: Path, message: Any) -> Path | None:
    """Return the file beside `path` that a message names in `answer_of`; None if the message names no file."""
    name = message.get("answer_of") if isinstance(message, Mapping) else None
    return path.with_name(f"{name}{SUFFIX}") if isinstance(name, str) and _NAME.fullmatch(name) else None


def digest(files: Iterable[Path]) -> str:
    """Return a SHA-256 over the ids and bytes of scenario files and cassettes. It identifies the suite in reports."""
    total = hashlib.sha256()
    for path in files:
        total.update(id_of(path).encode())
        for part in (path, cassette_path(path)):
            total.update(hashlib.sha256(part.read_bytes()).digest())
    return f"sha256:{total.hexdigest()}"
