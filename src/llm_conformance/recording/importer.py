"""Import VCR cassettes of other projects as scenarios.

A cassette is read as a bare recording, and its secrets are masked. An interaction becomes a scenario if its bytes
decide expected values. A plain and a streamed interaction with the same request become one scenario.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llm_conformance.formats import calls
from llm_conformance.recording import credentials, documents, swap
from llm_conformance.recording.scrubbing import LeakError, cleaned, cleaned_value, scrub
from llm_conformance.scenarios import bare, cassette, dump, lint, load
from llm_conformance.scenarios.bare import NotJudged
from llm_conformance.scenarios.bare_expected import Undecided, expected_from_bytes, with_segments
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.load import PROPOSED, SUFFIX
from llm_conformance.scenarios.recorders.files import stem_of
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import MODES, Interaction, Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError

FIDELITIES: Mapping[str, str] = {
    "json-asciified": "the recorder replaces typographic characters, so offsets may be wrong",
    "redacted-reserialised": "the recorder has serialised the bodies again, with other ids and another framing",
    "body+headers-only": "the request is unknown",
}
"""Maps a value of `metadata.fidelity` to what the recorder has changed."""
_TITLE = 100
_SHOWN = 3


class CannotImportError(Exception):
    """A recording cannot be imported; the message says why."""


@dataclass(frozen=True)
class Imported:
    """A scenario file that was written, and warnings about it."""

    path: Path
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Refused:
    """Interactions that were not imported, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Origin:
    """The source of a cassette, and the licence under which it may be used."""

    source: str
    licence: str


def import_file(file: Path, into: Path, origin: Origin, api: Api | None) -> Iterator[Imported | Refused]:
    """Import a cassette into a directory without overwriting files.

    Args:
        file: The cassette.
        into: The directory; scenarios go to a subfolder with the provider's name.
        origin: What the metadata says about the source.
        api: The API that was called; None to recognise it by the URLs of the requests.

    Raises:
        BadFileError: The file is not a cassette.
        NoRecordingsError: The file has no recordings.
    """
    known = credentials.sent(file)
    found: list[Scenario] = []
    for number, recording in enumerate(bare.recordings(file)):
        if isinstance(recording, NotJudged):
            yield Refused(f"{file.name}#{number}", recording.why)
        elif api is not None and recording.api != api:
            yield Refused(f"{file.name}#{number}", f"it is a request to {recording.api}, not to {api}")
        elif recording.cannot_be_asked or not next(iter(recording.interactions.values())).request:
            yield Refused(f"{file.name}#{number}", "its request is unknown")
        else:
            found.append(_with_call(recording))
    for number, group in enumerate(_paired(found)):
        name = _name(file) if len(found) == len(group) else f"{_name(file)}-{number + 1}"
        try:
            yield _import(group, name, into, origin, known)
        except (BadFileError, LeakError, CannotImportError, UnicodeError) as error:
            yield Refused(f"{file.name} ({name})", cleaned(_reason(error), known)[0])


def _with_call(recording: Scenario) -> Scenario:
    """Return a recording with the call that its request makes, as far as a scenario file can state it."""
    asked = calls.asked(recording)
    if not asked.cannot_be_asked and not asked.earlier:
        return asked
    ((mode, interaction),) = recording.interactions.items()
    own = {key: value for key, value in interaction.request.items() if key not in ("model", "messages", "stream")}
    return replace(recording, params={mode: own})


def _paired(found: list[Scenario]) -> Iterator[list[Scenario]]:
    """Yield the recordings in groups: a plain and a streamed recording with the same request, or a single recording."""
    left = list(found)
    while left:
        one = left.pop(0)
        twin = next((each for each in left if _have_same_request(one, each)), None)
        if twin is not None:
            left.remove(twin)
        yield [one] if twin is None else [one, twin]


def _have_same_request(one: Scenario, other: Scenario) -> bool:
    return one.api is other.api and one.modes != other.modes and _request(one) == _request(other)


def _request(scenario: Scenario) -> Mapping[str, Any]:
    (interaction,) = scenario.interactions.values()
    return {key: value for key, value in interaction.request.items() if key not in ("stream", "stream_options")}


def _import(group: list[Scenario], name: str, into: Path, origin: Origin, known: frozenset[str]) -> Imported:
    first = group[0]
    fidelity = next((each.fidelity for each in group if each.fidelity != "raw"), "raw")
    folder = into / first.api.provider
    by_mode = {mode: each for mode in MODES for each in group if mode in each.modes}
    scrubbed = {
        mode: scrub(_readable(each.interactions[mode], first.api), first.api, known) for mode, each in by_mode.items()
    }
    warnings = [f"{kind} was in the response and was masked" for each in scrubbed.values() for kind in each.masked]
    warnings = list(dict.fromkeys([*warnings, *filter(None, [FIDELITIES.get(fidelity)])]))
    kept = {mode: each.interaction for mode, each in scrubbed.items()}
    document = _document(by_mode, kept, name, known)  # it may raise, so it comes before anything is written
    created = [each for each in (folder, into) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with swap.locked(into, wait=True):
            target = _free(folder, name, cassette.digest(kept.values()))
            _write(target, _metadata(origin, fidelity, warnings, kept), kept, document)
    except BaseException:
        with contextlib.suppress(OSError):  # another command has written to them
            for each in created:
                each.rmdir()
        raise
    return Imported(target, tuple(warnings))


def _write(
    target: Path, metadata: Mapping[str, Any], kept: Mapping[Mode, Interaction], document: Mapping[str, Any]
) -> None:
    """Write the cassette and the scenario file, both or neither. Raises BadFileError if the lint finds a problem."""
    name = target.name.removesuffix(SUFFIX)
    with tempfile.TemporaryDirectory(prefix=f".{name}{PROPOSED}-", dir=target.parent) as directory:
        written = Path(directory) / target.parent.name / target.name
        cassette.save(load.cassette_path(written), metadata, kept.values())
        written.write_text(dump.text(document), encoding="utf-8")
        problems = list(lint.lint(load.read(written)))
        if problems:
            raise BadFileError(*problems)
        load.cassette_path(written).replace(load.cassette_path(target))
        written.replace(target)


def _readable(interaction: Interaction, api: Api) -> Interaction:
    """Return the interaction with its request in the uniform spelling of `Api.read_request`."""
    return replace(interaction, request=api.read_request(interaction.request))


def _free(folder: Path, name: str, digest: str) -> Path:
    """Return a path for a new scenario file. Raises CannotImportError if the cassette was imported before.

    If an earlier import was interrupted before it wrote the scenario file, the path is the same as that import's.
    """
    for number in itertools.count(1):
        target = folder / f"{name if number == 1 else f'{name}-{number}'}{SUFFIX}"
        cassette_path = load.cassette_path(target)
        if not target.exists() and not cassette_path.exists():
            return target
        if cassette_path.is_file() and f"digest: {digest}" in cassette_path.read_text("utf-8"):
            if not target.exists():
                return target
            raise CannotImportError(f"it was imported before as {target}")
    raise AssertionError("there is always another number")


def _metadata(
    origin: Origin, fidelity: str, warnings: list[str], kept: Mapping[Mode, Interaction]
) -> Mapping[str, Any]:
    return {
        "provenance": "edited" if warnings else "transcribed",
        "source": origin.source,
        **({"edits": "; ".join(warnings)} if warnings else {}),
        **({"licence": origin.licence} if origin.licence else {}),
        **({"fidelity": fidelity} if fidelity != "raw" else {}),
        "digest": cassette.digest(kept.values()),
    }


def _document(
    by_mode: Mapping[Mode, Scenario], kept: Mapping[Mode, Interaction], name: str, known: frozenset[str]
) -> dict[str, Any]:
    """Return the scenario file. Raises CannotImportError if expected values cannot be derived."""
    first = next(iter(by_mode.values()))
    api, profile = first.api, first.think_profile
    expected_by_mode: dict[Mode, Expected] = {}
    for mode, interaction in kept.items():
        expected = expected_from_bytes(interaction, api, first.model, profile)
        if isinstance(expected, Undecided):
            raise CannotImportError(expected.why)
        expected_by_mode[mode] = with_segments(expected, interaction, api)
    params = {mode: each.params[mode] for mode, each in by_mode.items()}
    params = {mode: cleaned_value(value, known)[0] for mode, value in params.items()}
    shared = params.get("json", params.get("stream", {}))
    more = {key: value for key, value in params.get("stream", {}).items() if shared.get(key) != value}
    call = {
        "model": first.model,
        "messages": cleaned_value(first.messages, known)[0],
        "tools": cleaned_value(first.tools, known)[0],
        "params": shared,
        "stream_params": more,
    }
    same = (
        {"same_content": documents.have_same_content(*expected_by_mode.values())} if len(expected_by_mode) == 2 else {}
    )
    return {
        "title": f"Imported: {name}"[:_TITLE],
        "notes": "Made by `llm-conformance import`; the expected values were derived from the bytes.",
        "provider": api.provider,
        "api": api.name,
        **({"think_profile": profile} if profile != "off" else {}),
        "call": {key: value for key, value in call.items() if value},
        "recordings": {mode: number for number, mode in enumerate(kept)} | same,
        "expected": dump.stated_by_mode(expected_by_mode),
    }


def _name(file: Path) -> str:
    """Return a scenario name for a file, of lower-case letters, digits and dashes."""
    stem = stem_of(file).lower()
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:60] or "imported"


def _reason(error: Exception) -> str:
    if isinstance(error, BadFileError):
        return "; ".join(dict.fromkeys(each.message for each in error.problems[:_SHOWN]))
    return str(error)
