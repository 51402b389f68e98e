"""Importing what somebody else has recorded: a VCR cassette, interaction by interaction, as scenarios.

A cassette of vcrpy's or of one of its kin is read as bare recordings are; secrets are written over; each interaction
that its bytes give a truth for becomes a scenario, and those that ask the same, plain and streamed, become one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llm_conformance.recording import documents
from llm_conformance.recording.scrubbing import LeakError, cleaned_value, scrub
from llm_conformance.scenarios import bare, cassette, dump, lint, load
from llm_conformance.scenarios.bare import NotJudged
from llm_conformance.scenarios.bare_expected import Undecided, expected_from_bytes, with_segments
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.load import SUFFIX
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import MODES, Interaction, Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError

FIDELITIES: Mapping[str, str] = {
    "json-asciified": "the recorder is known to straighten quotation marks and the like, so offsets may be wrong",
    "redacted-reserialised": "the recorder has written bodies anew, with other ids and another framing",
    "body+headers-only": "the request is not known",
}
"""What a recorder has altered, by the name that `metadata.fidelity` has for it."""
_TITLE = 100
_SHOWN = 3


class CannotImportError(Exception):
    """A recording that its bytes give no truth for."""


@dataclass(frozen=True)
class Imported:
    """A scenario that was written, with what is to be known of it."""

    path: Path
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Refused:
    """Interactions that could not be imported; `why` says what is in the way."""

    name: str
    why: str


@dataclass(frozen=True)
class Origin:
    """Where a cassette is from, and under which licence it may be used."""

    source: str
    licence: str


def import_file(file: Path, into: Path, origin: Origin, api: Api | None) -> Iterator[Imported | Refused]:
    """Import a cassette into a directory of scenarios, overwriting nothing.

    Args:
        file: The cassette.
        into: The directory; scenarios go to a folder of their provider in it.
        origin: What is noted of it.
        api: Whose API it is; None if the URLs of the requests tell.

    Raises:
        BadFileError: The file is no cassette.
    """
    found: list[Scenario] = []
    for number, recording in enumerate(bare.recordings(file)):
        if isinstance(recording, NotJudged):
            yield Refused(f"{file.name}#{number}", recording.why)
        elif api is not None and recording.api != api:
            yield Refused(f"{file.name}#{number}", f"it is of {recording.api}, not of {api}")
        elif not recording.replayable or not next(iter(recording.interactions.values())).request:
            yield Refused(f"{file.name}#{number}", "its request is not known, so nobody could ask for it")
        else:
            found.append(recording)
    fidelity = str(cassette.load_bare(file)[0].get("fidelity", "raw"))
    for number, group in enumerate(_paired(found)):
        name = _name(file) if len(found) == len(group) else f"{_name(file)}-{number + 1}"
        try:
            yield _import(group, name, into, origin, fidelity)
        except (BadFileError, LeakError, CannotImportError, UnicodeError) as error:
            yield Refused(f"{file.name} ({name})", _told(error))


def _paired(found: list[Scenario]) -> Iterator[list[Scenario]]:
    """Yield the recordings, those together that ask the same in both modes."""
    left = list(found)
    while left:
        one = left.pop(0)
        twin = next((each for each in left if _asks_the_same(one, each)), None)
        if twin is not None:
            left.remove(twin)
        yield [one] if twin is None else [one, twin]


def _asks_the_same(one: Scenario, other: Scenario) -> bool:
    return one.api is other.api and one.modes != other.modes and _question(one) == _question(other)


def _question(scenario: Scenario) -> Mapping[str, Any]:
    (interaction,) = scenario.interactions.values()
    return {key: value for key, value in interaction.request.items() if key not in ("stream", "stream_options")}


def _import(group: list[Scenario], name: str, into: Path, origin: Origin, fidelity: str) -> Imported:
    first = group[0]
    folder = into / first.api.provider
    by_mode = {mode: each for mode in MODES for each in group if mode in each.modes}
    scrubbed = {mode: scrub(_readable(each.interactions[mode], first.api), first.api) for mode, each in by_mode.items()}
    warnings = [f"{kind} was in it, and was written over" for each in scrubbed.values() for kind in each.found]
    warnings = list(dict.fromkeys([*warnings, *filter(None, [FIDELITIES.get(fidelity)])]))
    kept = {mode: each.interaction for mode, each in scrubbed.items()}
    target = _free(folder, name, cassette.digest(kept.values()))
    tape = load.cassette_path(target)
    document = _document(by_mode, kept, name)  # before anything is written: it may refuse
    made = [each for each in (folder, into) if not each.exists()]
    cassette.save(tape, _metadata(origin, fidelity, warnings, kept), kept.values())
    try:
        target.write_text(dump.text(document), encoding="utf-8")
        problems = list(lint.lint(load.read(target)))
        if problems:
            raise BadFileError(*problems)
    except BaseException:
        for path in (target, tape):
            path.unlink(missing_ok=True)
        for each in made:
            each.rmdir()
        raise
    return Imported(target, tuple(warnings))


def _readable(interaction: Interaction, api: Api) -> Interaction:
    """Return an interaction whose request has its fields under the names that they are read by."""
    return replace(interaction, request=api.read_request(interaction.request))


def _free(folder: Path, name: str, digest: str) -> Path:
    """Return a scenario file that is not there yet. Raises CannotImportError where the same was imported before."""
    for number in itertools.count(1):
        target = folder / f"{name if number == 1 else f'{name}-{number}'}{SUFFIX}"
        tape = load.cassette_path(target)
        if not target.exists() and not tape.exists():
            return target
        if tape.is_file() and f"digest: {digest}" in tape.read_text("utf-8"):
            raise CannotImportError(f"it was imported before, as {target}")
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


def _document(by_mode: Mapping[Mode, Scenario], kept: Mapping[Mode, Interaction], name: str) -> dict[str, Any]:
    """Return the scenario file. Raises CannotImportError where the bytes give no truth."""
    first = next(iter(by_mode.values()))
    api, profile = first.api, first.think_profile
    expected_by_mode: dict[Mode, Expected] = {}
    for mode, interaction in kept.items():
        expected = expected_from_bytes(interaction, api, first.model, profile)
        if isinstance(expected, Undecided):
            raise CannotImportError(expected.why)
        expected_by_mode[mode] = with_segments(expected, interaction, api)
    params = {mode: each.params[mode] for mode, each in by_mode.items()}
    params = {mode: cleaned_value(said, ())[0] for mode, said in params.items()}
    shared = params.get("json", params.get("stream", {}))
    more = {key: value for key, value in params.get("stream", {}).items() if shared.get(key) != value}
    call = {
        "model": first.model,
        "messages": cleaned_value(first.messages, ())[0],
        "tools": cleaned_value(first.tools, ())[0],
        "params": shared,
        "stream_params": more,
    }
    same = {"same_content": documents.say_the_same(*expected_by_mode.values())} if len(expected_by_mode) == 2 else {}
    return {
        "title": f"Imported: {name}"[:_TITLE],
        "notes": "Made by `llm-conformance import`; the truth was derived from the bytes.",
        "provider": api.provider,
        "api": api.name,
        **({"think_profile": profile} if profile != "off" else {}),
        "call": {key: value for key, value in call.items() if value},
        "recordings": {mode: number for number, mode in enumerate(kept)} | same,
        "expected": dump.stated_by_mode(expected_by_mode),
    }


def _name(file: Path) -> str:
    """Return a file's name as scenarios are called: lower case, and dashes."""
    stem = file.name.removesuffix(".gz").removesuffix(".yaml").removesuffix(".yml").lower()
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:60] or "imported"


def _told(error: Exception) -> str:
    if isinstance(error, BadFileError):
        return "; ".join(dict.fromkeys(each.message for each in error.problems[:_SHOWN]))
    return str(error)
