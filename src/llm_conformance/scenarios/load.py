"""Scenarios: one recorded conversation each, with the truth that a correct adapter returns for it.

    cassettes/<provider>/<name>.yaml             the VCR cassette
    cassettes/<provider>/<name>.scenario.yaml    provider, api, call, recordings, truth (schemas/scenario.schema.json)

Truth is written by hand from the bytes and the provider's documentation. Keys that differ between the plain and the
streamed recording stand under `json:` and `stream:`.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llm_conformance import schema, yaml_files
from llm_conformance.pointers import at_pointer
from llm_conformance.scenarios import cassette
from llm_conformance.scenarios.cassette import Cassette
from llm_conformance.scenarios.derive import shown_early
from llm_conformance.scenarios.expected import Expected, read_expected
from llm_conformance.scenarios.round_trip import RoundTripRequirement
from llm_conformance.scenarios.scenario import Fault, Scenario, recut
from llm_conformance.wire.interaction import MODES, Interaction, Mode
from llm_conformance.wire.providers import table
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError, FileProblem

SUFFIX = ".scenario.yaml"
DRAFT = ".draft.yaml"
"""A conversation that has to be recorded yet (`llm_conformance.recording`)."""
PROPOSED = ".proposed"
"""A folder with a recording that nobody has accepted yet."""
JOURNAL = ".accepting.json"
"""Lies in a directory of cassettes while recordings are put in the place of others."""


@dataclass(frozen=True)
class ScenarioFile:
    """A scenario file and its cassette as read: the raw material of both `Scenario` and the lint."""

    path: Path
    text: str
    document: Mapping[str, Any]
    cassette: Cassette
    form_problems: tuple[FileProblem, ...] = ()

    def problem(self, message: str, *where: str | int) -> FileProblem:
        """Return a problem at the path `where` of the scenario file."""
        return FileProblem(self.path, yaml_files.line_of(self.text, where), message)

    def interaction(self, mode: Mode) -> Interaction:
        """Return the recording of `mode`; the schema and `read` have made sure that it exists."""
        index: int = self.document["recordings"][mode]
        return self.cassette.interactions[index]

    @property
    def outage(self) -> Interaction | None:
        """What the first request is answered with, where that is a failure to be followed by another attempt."""
        index = self.document["recordings"].get("outage")
        return None if index is None else self.cassette.interactions[index]

    @functools.cached_property
    def earlier(self) -> Mapping[int, ScenarioFile]:
        """The scenarios beside this one whose answers stand in the messages, by their place there."""
        named = ((number, message.get("answer_of")) for number, message in enumerate(self.document["call"]["messages"]))
        return {number: read(self.path.with_name(f"{name}{SUFFIX}")) for number, name in named if name}

    @property
    def api(self) -> Api:
        """The row of the provider table; `read` has made sure that there is one, unless the form is wrong."""
        return table.table()[self.document["provider"], self.document["api"]]

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes that were recorded."""
        return tuple(mode for mode in MODES if mode in self.document["recordings"])


def find(directory: Path) -> tuple[list[Path], list[Path]]:
    """Return the scenario files below `directory`, and the cassettes that have none, both sorted.

    Raises BadFileError for a link that leads out of the directory: cassettes of strangers may not show other files.
    And where some of them have been replaced and others, that belong to them, have not.
    """
    cassette_dir = directory.resolve()
    if (directory / JOURNAL).is_file():
        what = "accepting recordings was interrupted here; `llm-conformance review` undoes it"
        raise BadFileError(FileProblem(directory / JOURNAL, 1, what))
    found = sorted(path for path in directory.rglob("*.yaml") if not _is_proposed(path.relative_to(directory)))
    escapes = [path for path in found if not path.resolve().is_relative_to(cassette_dir)]
    if escapes:
        raise BadFileError(
            *(FileProblem(path, 1, f"leads out of {directory}; put the file itself here") for path in escapes)
        )
    files = [path for path in found if path.name.endswith(SUFFIX)]
    claimed = {*files, *map(cassette_path, files)}
    return files, [path for path in found if path not in claimed]


def _is_proposed(path: Path) -> bool:
    """Whether a file is a draft, or part of a recording that nobody has accepted yet, or that was never finished."""
    unfinished = any(part.endswith(PROPOSED) or part.startswith(".") for part in path.parts[:-1])
    return unfinished or path.name.endswith(DRAFT)


def id_of(path: Path) -> str:
    """Return the id of the scenario in a file: its folder and its name."""
    return f"{path.parent.name}/{path.name.removesuffix(SUFFIX)}"


def api_of(path: Path) -> Api | None:
    """Return the row of the provider table that a scenario file names, None if reading it whole has to tell.

    Costs a hundredth of reading the file: who judges one provider does not wait for the scenarios of all others.
    """
    try:
        said = dict(_ROW.findall(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError):
        return None
    return table.table().get((said.get("provider", ""), said.get("api", "")))


_ROW = re.compile(r"^(provider|api): *([\w-]+) *$", re.MULTILINE)


def cassette_path(path: Path) -> Path:
    """Return where the cassette of a scenario file stands."""
    return path.with_name(path.name.removesuffix(SUFFIX) + ".yaml")


def read(path: Path) -> ScenarioFile:
    """Read a scenario file and its cassette; what the schema says against it is in `form_problems`.

    Raises BadFileError when one of the two cannot be used at all.
    """
    text = yaml_files.read_text(path)
    document = yaml_files.parse(path, text)
    form = schema.file_problems("scenario", path, text, document)
    tape = cassette_path(path)
    if not tape.is_file():
        raise BadFileError(*form, FileProblem(path, 1, f"its cassette {tape.name} is missing"))
    try:
        recorded = cassette.load(tape)
    except BadFileError as bad:
        raise BadFileError(*form, *bad.problems) from bad
    if not isinstance(document, Mapping):
        raise BadFileError(*form)
    file = ScenarioFile(path, text, document, recorded, tuple(form))
    unusable = [] if form else list(_unusable(file))
    if unusable:
        raise BadFileError(*unusable)
    return file


def _unusable(file: ScenarioFile) -> Iterator[FileProblem]:
    if (file.document["provider"], file.document["api"]) not in table.table():
        yield file.problem("this provider and api have no row in the provider table", "provider")
    yield from _unusable_turns(file)
    for which in (*file.modes, "outage"):
        if file.document["recordings"].get(which, 0) >= len(file.cassette.interactions):
            yield file.problem("the cassette has no such interaction (the first is 0)", "recordings", which)


def _unusable_turns(file: ScenarioFile) -> Iterator[FileProblem]:
    for number, message in enumerate(file.document["call"]["messages"]):
        where = ("call", "messages", number)
        if "answer_of" in message:
            before = file.path.with_name(f"{message['answer_of']}{SUFFIX}")
            if not before.is_file():
                yield file.problem(f"there is no {before.name} beside this file", *where)
            elif _comes_behind(before, {file.path}):
                yield file.problem("this answer is one to a conversation that it is part of", *where)


def _comes_behind(path: Path, later: set[Path]) -> bool:
    """Whether an answer to a scenario stands among the messages that lead to it."""
    if path in later:
        return True
    if not path.is_file():
        return False
    return any(_comes_behind(each, {*later, path}) for each in answers_in(path))


def answers_in(path: Path) -> list[Path]:
    """Return the scenario files whose answers stand among a scenario's messages, as far as its file can be read."""
    document = yaml_files.parse(path, yaml_files.read_text(path))
    call = document.get("call") if isinstance(document, Mapping) else None
    messages = call.get("messages") if isinstance(call, Mapping) else None
    said = messages if isinstance(messages, list) else []
    named = [each.get("answer_of") for each in said if isinstance(each, Mapping)]
    return [path.with_name(f"{name}{SUFFIX}") for name in named if name and isinstance(name, str)]


def build(file: ScenarioFile, cassette_dir: Path) -> Scenario:
    """Turn a scenario file that was read, and found without fault, into a Scenario of the directory `home`."""
    document = file.document
    call = document["call"]
    params = call.get("params", {})
    earlier = {number: build(each, cassette_dir) for number, each in file.earlier.items()}
    scenario = Scenario(
        id=id_of(file.path),
        path=file.path,
        title=document["title"],
        api=file.api,
        think_profile=document.get("think_profile", "off"),
        model=call["model"],
        messages=tuple(
            {"role": "assistant"} if number in earlier else message for number, message in enumerate(call["messages"])
        ),
        tools=tuple(call.get("tools", ())),
        params={"json": params, "stream": params | call.get("stream_params", {})},
        match=tuple(document.get("match", ())),
        interactions={mode: file.interaction(mode) for mode in file.modes},
        same_content=document["recordings"].get("same_content", False),
        expected=_expected_by_mode(file),
        provenance=file.cassette.metadata["provenance"],
        fault=Fault(**document["fault"]) if "fault" in document else None,
        outage=file.outage,
        arrival=_arrival(file),
        earlier=earlier,
        cassette_dir=cassette_dir,
    )
    cuts = document["recordings"].get("cuts")
    return scenario if cuts is None else recut(scenario, cuts)


def _arrival(file: ScenarioFile) -> tuple[tuple[int, int], ...]:
    """Return how the stream came; nothing where that is not known, or the body is not what came."""
    index = file.document["recordings"].get("stream")
    said = file.cassette.metadata.get("arrival", ())
    if index is None or index >= len(said):
        return ()
    came = tuple(zip(said[index]["bytes"], said[index]["milliseconds"], strict=False))
    return came if sum(size for size, _ in came) == len(file.interaction("stream").body) else ()


def round_trip(file: ScenarioFile, mode: Mode) -> RoundTripRequirement | None:
    """Return what the request of a mode has to carry of the answers before it; None where nothing is said of that."""
    if "round_trip" not in file.document:
        return None
    stated, messages = file.document["round_trip"], file.document["call"]["messages"]
    before = [read_expected(each.document["expected"], mode) for each in file.earlier.values()]
    blocks = (block for expected in before for block in expected.segments if block.type == "reasoning")
    return RoundTripRequirement(
        sent=stated.get("sent", {}),
        absent=tuple(stated.get("absent", ())),
        allowed=tuple(stated.get("allowed", ())),
        traces=tuple(block.content for block in blocks if block.content),
        said=tuple(filter(None, _said(file, mode))),
        instructions="".join(each["content"] for each in messages if each.get("role") == "system"),
        calls=tuple(call for expected in before for call in expected.tool_calls),
        hidden=file.api.hidden_fields,
        wire=file.api.wire,
        # One that was generated has no more than what is demanded.
        recorded=None if file.cassette.metadata["provenance"] == "generated" else file.interaction(mode).request,
        source=stated["source"],
    )


def _said(file: ScenarioFile, mode: Mode) -> Iterator[str]:
    """Yield what the messages of user, model and tools say in the open, as far as it is plain text."""
    for number, message in enumerate(file.document["call"]["messages"]):
        if number in file.earlier:
            expected = read_expected(file.earlier[number].document["expected"], mode)
            yield from (segment.content for segment in expected.segments if segment.type == "text")
        elif message["role"] != "system" and isinstance(message.get("content"), str):
            yield message["content"]


def _expected_by_mode(file: ScenarioFile) -> Mapping[Mode, Expected]:
    """Return the truths by mode. What a stream shows early also counts for a plain answer given out as a stream."""
    stated = {mode: read_expected(file.document["expected"], mode) for mode in file.modes}
    early: frozenset[str] = frozenset()
    if "stream" in stated and stated["stream"].error is None:
        early = shown_early(file.interaction("stream"), file.api)
    api = file.api
    return {
        mode: replace(
            said,
            shows_early=early,
            offset_unit=api.offset_unit,
            round_trip=round_trip(file, mode),
            switches={each: at_pointer(file.interaction(mode).request, each) for each in api.switches},
        )
        for mode, said in stated.items()
    }


def digest(files: Iterable[Path]) -> str:
    """Return a SHA-256 over scenario files' ids and bytes, and their cassettes': which suite a report speaks of."""
    total = hashlib.sha256()
    for path in files:
        total.update(id_of(path).encode())
        for part in (path, cassette_path(path)):
            total.update(hashlib.sha256(part.read_bytes()).digest())
    return f"sha256:{total.hexdigest()}"
