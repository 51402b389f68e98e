"""What public recordings show, and what scenarios claim. The corpus is read once, file by file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from llm_conformance.corpus import places
from llm_conformance.corpus import recordings as public
from llm_conformance.corpus.manifest import Package, packages
from llm_conformance.scenarios import bare, cassette, load
from llm_conformance.scenarios.bare import BareFile
from llm_conformance.scenarios.bare_expected import think_profile
from llm_conformance.scenarios.cassette import NoRecordingsError, Unreadable
from llm_conformance.scenarios.checks.references import Reference, references
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers import recorded_urls
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError
from tools.promote import claims
from tools.promote.claims import Claims, Shown
from tools.promote.point import Scenarios, point


@dataclass(frozen=True)
class Recording:
    """An interaction of the public corpus."""

    reference: Reference
    api: Api
    mode: Mode
    shown: Shown = field(repr=False)


@dataclass(frozen=True)
class Claimed:
    """A scenario in one mode.

    Attributes:
        id: The id of the scenario.
        cassette: Its cassette.
        api: Its API.
        grounds: The strongest evidence for it.
        reference: The recording that its cassette names; None if the cassette names none.
        point: What a recording has to show.
        is_about: `stream` if it has this mode, and its name or title mentions streams; else None.
    """

    id: str
    cassette: Path
    api: Api
    mode: Mode
    grounds: str | None
    reference: Reference | None
    point: Claims = field(repr=False)
    is_about: Mode | None = None


def recordings(is_wanted: Callable[[Api], bool], references: Collection[Reference] = ()) -> Iterator[Recording]:
    """Yield the recordings of some APIs, and those in the files that references name.

    If a package is not fetched, raises NotFetchedError before the first recording. The manifest may leave out APIs of a
    part. So the files that references name are read in any case.
    """
    yield from _in_files([*public.of(is_wanted), *_named(references)])


def in_files_of(references: Collection[Reference]) -> Iterator[Recording]:
    """Yield the recordings in the files that references name. Raises NotFetchedError as `recordings` does."""
    yield from _in_files(_named(references))


def _named(references: Collection[Reference]) -> Iterator[BareFile]:
    files = {(each.package, each.file) for each in references}
    names = {name for name, _ in files}
    for file in public.of_packages([package for package in packages() if package.name in names]):
        package, path = _place(file)
        if (package.name, path) in files:
            yield file


def _in_files(files: Iterable[BareFile]) -> Iterator[Recording]:
    for file in {file.path: file for file in files}.values():
        yield from _in_file(file, *_place(file))


def _place(file: BareFile) -> tuple[Package, str]:
    """Return the package of a file, and its path in the archive."""
    name, _, path = file.path.relative_to(places.root()).as_posix().partition("/")
    return next(each for each in packages() if each.name == name), path.partition("/")[2]


def _in_file(file: BareFile, package: Package, path: str) -> Iterator[Recording]:
    try:
        _, recorded = cassette.load_bare(file.path, file.recorder.fidelity)
    except (BadFileError, NoRecordingsError):
        return
    for number, each in enumerate(recorded):
        if isinstance(each, Unreadable):
            continue
        interaction = bare.with_url(each.interaction, file.recorder)
        known = recorded_urls.recognise(interaction.uri)
        if known is None or known.is_guess:
            continue
        reference = Reference(package.name, package.version, path, number)
        model = known.place.model or interaction.request.get("model") or _answers_model(interaction, known.api) or ""
        profile = think_profile(interaction, known.api, str(model))
        shown = claims.of_recording(interaction, known.api, str(model), profile, each.fidelity)
        yield Recording(reference, known.api, _mode(interaction, known.api, known.place.template), shown)


def _answers_model(interaction: Interaction, api: Api) -> str | None:
    facts = answers.derive_if_readable(interaction, api)
    return facts.model if facts else None


def _mode(interaction: Interaction, api: Api, path: str) -> Mode:
    """Return the mode of a recording. An error has the mode that its request asks for."""
    if interaction.streamed:
        return "stream"
    asks = path == api.stream_path if api.path != api.stream_path else api.asks_for_stream(interaction.request)
    return "stream" if asks and interaction.status >= 400 else "json"


def scenarios(directory: Path, left_out: Counter[str]) -> list[Claimed]:
    """Return the scenarios that a recording could show, in each mode. `left_out` counts the others by reason."""
    found: list[tuple[ScenarioFile, Mode, Claims]] = []
    alike: dict[tuple[str, Mode], Scenarios] = {}
    for path in load.find(directory)[0]:
        file = load.read(path, check=False)
        why = _why_not(file)
        if why:
            left_out[why] += 1
            continue
        for mode in file.modes:
            claimed = _claims(file, mode)
            found.append((file, mode, claimed))
            for name in (str(file.api), file.api.wire):
                alike.setdefault((name, mode), Scenarios()).add(claimed)
    return [
        _claimed(file, mode, claimed, [alike[name, mode] for name in (str(file.api), file.api.wire)])
        for file, mode, claimed in found
    ]


_OF_STREAMS = re.compile(r"\b(streams?|streamed|chunks?|deltas?|events?|pieces?|frames?|lines?)\b", re.IGNORECASE)


def _claimed(file: ScenarioFile, mode: Mode, claimed: Claims, alike: Sequence[Scenarios]) -> Claimed:
    id = load.id_of(file.path)
    title = f"{id.replace('-', ' ')} {file.document['title']}"
    return Claimed(
        id,
        file.cassette.path,
        file.api,
        mode,
        file.cassette.grounds,
        references(file.cassette.metadata).get(mode),
        point(claimed, title, str(file.document.get("notes", "")), alike),
        "stream" if _OF_STREAMS.search(title) and "stream" in file.modes else None,
    )


def _why_not(file: ScenarioFile) -> str:
    """Return why no recording can show what a scenario claims, "" if one can."""
    if file.cassette.metadata["provenance"] in ("recorded", "generated"):
        return "recorded by this suite, or generated"
    if file.cassette.grounds == "probe":
        return "a probe: no provider is known to send it"
    if file.document.get("fault"):
        return "about a connection that fails"
    if file.outage is not None:
        return "about two answers, of which the first is an outage"
    if "cuts" in file.document["recordings"]:
        return "about where the network cuts a stream"
    return ""


def _claims(file: ScenarioFile, mode: Mode) -> Claims:
    document = file.document
    has_earlier = bool(file.earlier or "round_trip" in document)
    return claims.of_scenario(
        file.interaction(mode),
        file.api,
        document["call"]["model"],
        document.get("think_profile", "off"),
        document.get("round_trip", {}) if has_earlier else None,
    )
