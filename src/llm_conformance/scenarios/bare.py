"""Bare recordings: cassettes without a scenario file.

`llm_conformance.scenarios.bare_expected` derives their expected values from their bytes, but not from what the recorder
altered. A scenario is made of an interaction only when it is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llm_conformance import secrets
from llm_conformance.scenarios import cassette, load
from llm_conformance.scenarios.bare_expected import (
    CLAIMED,
    Undecided,
    expected_from_bytes,
    think_profile,
    with_segments,
    with_unknown_block,
)
from llm_conformance.scenarios.cassette import BareInteraction, Unreadable
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers import other_services, recorded_urls, table
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError, FileProblem

_PLACEHOLDER = {"role": "user", "content": "(the recorded conversation is in call.request)"}


@dataclass(frozen=True)
class Recorder:
    """What is known about the recorder of a cassette, if the cassette itself does not say it.

    Attributes:
        fidelity: What the recorder altered, as in `bare_expected`; None if nothing is known.
        apis: The APIs (`provider:name`) of the requests, if the recorder removed their URLs. The request field with the
            conversation tells which of these APIs a request was for.
    """

    fidelity: str | None = None
    apis: tuple[str, ...] = ()


UNKNOWN = Recorder()


@dataclass(frozen=True)
class BareFile:
    """A bare cassette.

    Attributes:
        path: The file.
        directory: The cassette directory in which it was found.
        id: The id of the cassette. The ids of its interactions begin with this id.
        recorder: What is known about its recorder.
    """

    path: Path
    directory: Path
    id: str
    recorder: Recorder = UNKNOWN


@dataclass(frozen=True)
class NotJudged:
    """A recording that cannot be judged.

    Attributes:
        why: The reason.
        unknown_at: The host and the path of the request if the provider table has no API for them; else "".
        service: The known service that was called instead of a model (`other_services`); "" for any other.
    """

    why: str
    unknown_at: str = ""
    service: str = ""


def recordings(path: Path, cassette_dir: Path | None = None) -> Iterator[Scenario | NotJudged]:
    """Yield each interaction of a cassette as a scenario, or as NotJudged.

    Raises BadFileError if the file is not a VCR cassette.
    """
    yield from recordings_of(file_in(path, cassette_dir or path.parent))


def recordings_of(file: BareFile) -> Iterator[Scenario | NotJudged]:
    """Yield each interaction of a cassette, as `recordings` does."""
    metadata, recorded = cassette.load_bare(file.path, file.recorder.fidelity)
    for number, each in enumerate(recorded):
        id = file.id if len(recorded) == 1 else f"{file.id}#{number}"
        yield NotJudged(each.why) if isinstance(each, Unreadable) else _recording(file, id, each, metadata)


def problems(files: Iterable[BareFile]) -> Iterator[FileProblem]:
    """Yield the problems of damaged cassettes. A file that is not a cassette has no problem."""
    for file in files:
        with suppress(cassette.NoRecordingsError):
            try:
                cassette.load_bare(file.path, file.recorder.fidelity)
            except BadFileError as bad:
                yield from bad.problems


def file_in(path: Path, cassette_dir: Path) -> BareFile:
    """Return a bare cassette of a directory. Its id is its path below the directory.

    If the file is directly in the directory, the id begins with the directory's name. The id does not depend on other
    files, so a new cassette never changes an id that a deviation file names.
    """
    below = path.relative_to(cassette_dir).as_posix()
    below = load.BARE_ENDING.sub("", below)
    return BareFile(path, cassette_dir, below if "/" in below else f"{path.parent.name}/{below}")


def id_of(path: Path, cassette_dir: Path) -> str:
    """Return the id of a bare cassette of a directory."""
    return file_in(path, cassette_dir).id


def place_of(uri: str) -> str:
    """Return the host and path of a URL. User, password and query are left out, because they may be secret."""
    host, slash, path = re.split("[?#]", uri, maxsplit=1)[0].rpartition("://")[2].partition("/")
    return secrets.hide(f"{host.rpartition('@')[2]}{slash}{path}")


def _recording(file: BareFile, id: str, recorded: BareInteraction, metadata: Mapping[str, Any]) -> Scenario | NotJudged:
    interaction, fidelity = with_url(recorded.interaction, file.recorder), recorded.fidelity
    if fidelity not in CLAIMED:
        return NotJudged(f"a body of fidelity {fidelity} needs a scenario file")
    service = other_services.service_at(interaction.uri, interaction.request)
    if service is not None:
        why = f"{service}: no call of a model"
        return NotJudged(why, unknown_at=place_of(interaction.uri), service=service)
    stated = table.table().get((str(metadata.get("provider")), str(metadata.get("api"))))
    known = recorded_urls.recognise(interaction.uri, interaction.request)
    if known is None and stated is not None:
        known = recorded_urls.recognise_stated(interaction.uri, stated)
    api = known.api if known else stated
    if api is None:
        place = place_of(interaction.uri)
        return NotJudged(f"the provider table has no API at {place}", unknown_at=place)
    if known is not None:
        interaction = replace(interaction, uri=known.uri)
    request = interaction.request
    model = (
        (known and known.place.model)
        or request.get("model")
        or metadata.get("model")
        or _answers_model(interaction, api)
    )
    if not isinstance(model, str):
        return NotJudged("neither the request nor the answer names a model")
    streams = set(api.paths(streamed=True)) - set(api.paths(streamed=False))
    by_path = known is not None and known.place.template in streams
    asks_for_stream = by_path or (api.path == api.stream_path and api.asks_for_stream(request))
    mode: Mode = "stream" if interaction.streamed or (asks_for_stream and interaction.status >= 400) else "json"
    if interaction.status < 400 and mode == "json" and asks_for_stream:
        return NotJudged("a stream in an unknown framing")
    framing = interaction.framing
    if framing is not None and framing.is_like_plain and framing.name != api.framing.name:
        return NotJudged(f"the body is not of the shape of {api}: a list")
    profile = think_profile(interaction, api, model)
    expected = expected_from_bytes(interaction, api, model, profile, fidelity)
    if isinstance(expected, Undecided):
        return NotJudged(expected.why)
    expected = with_unknown_block(with_segments(expected, interaction, api), interaction, api)
    if known is not None and known.is_guess and not set(expected.raw_finish_reasons) <= api.finish.keys():
        expected = replace(expected, stated=expected.stated - {"finish_reason"})  # the server may have its own words
    return Scenario(
        id=id,
        path=file.path,
        title=f"A bare recording of {api}",
        api=api,
        think_profile=profile,
        model=model,
        messages=(_PLACEHOLDER,),
        tools=(),
        params={mode: {}},
        match=(),
        interactions={mode: interaction},
        same_content=False,
        expected={mode: expected},
        provenance="recorded" if CLAIMED[fidelity] == CLAIMED["raw"] else "edited",
        grounds="recording",
        fidelity=fidelity,
        cannot_be_asked=_why_not_asked(known),
        is_bare=True,
    )


def _why_not_asked(known: recorded_urls.Recognised | None) -> str:
    if known is None:
        return "the URL of the request was not recorded"
    return "the request fetches the answer of an earlier call" if known.is_stored else ""


_CONVERSATION: Mapping[str, str] = {"chat": "messages", "messages": "messages", "responses": "input"}
"""Maps a wire format to its request field with the conversation."""


def with_url(interaction: Interaction, recorder: Recorder) -> Interaction:
    """Return an interaction. If the recorder removed its URL, it gets the default URL of the API that it was for."""
    if "://" in interaction.uri:
        return interaction
    for name in recorder.apis:
        provider, _, api_name = name.partition(":")
        api = table.table().get((provider, api_name))
        if api is not None and _CONVERSATION.get(api.wire) in interaction.request:
            return replace(interaction, uri=api.base_urls[0] + api.path)
    return interaction


def _answers_model(interaction: Interaction, api: Api) -> str | None:
    """Return the model that the answer names.

    A request with a stored prompt or to a one-model server names no model.
    """
    facts = answers.derive_if_readable(interaction, api)
    return facts.model if facts else None
