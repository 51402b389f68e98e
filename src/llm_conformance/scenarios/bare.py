"""Bare recordings: VCR cassettes without a scenario file, judged by what their bytes decide.

`llm_conformance.scenarios.bare_expected` derives the expected values, and leaves out what the recorder altered. Each
file is read only when it is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llm_conformance import secrets
from llm_conformance.scenarios import cassette
from llm_conformance.scenarios.bare_expected import CLAIMED, Undecided, expected_from_bytes, think_profile
from llm_conformance.scenarios.cassette import BareInteraction, Unreadable
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire import answers
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers import recorded_urls, table
from llm_conformance.wire.providers.api import Api

_PLACEHOLDER = {"role": "user", "content": "(the recorded conversation is in call.request)"}


@dataclass(frozen=True)
class NotJudged:
    """A recording that cannot be judged; `why` is the reason.

    `unknown_at`: the host and the path of the request, if the provider table has no such API, else "".
    """

    why: str
    unknown_at: str = ""


def recordings(path: Path, cassette_dir: Path | None = None) -> Iterator[Scenario | NotJudged]:
    """Yield each interaction of a cassette as a scenario, or as NotJudged.

    Raises BadFileError if the file is no VCR cassette.
    """
    id = id_of(path, cassette_dir or path.parent)
    metadata, recorded = cassette.load_bare(path)
    for number, each in enumerate(recorded):
        own_id = id if len(recorded) == 1 else f"{id}#{number}"
        yield NotJudged(each.why) if isinstance(each, Unreadable) else _recording(path, own_id, each, metadata)


def id_of(path: Path, cassette_dir: Path) -> str:
    """Return the id of a bare cassette: its path below the cassette directory, with one folder at least.

    It depends on no other file, so that a new cassette never renames one that deviation files name.
    """
    below = path.relative_to(cassette_dir).with_suffix("")
    return below.as_posix() if len(below.parts) > 1 else f"{path.parent.name}/{below}"


def place_of(uri: str) -> str:
    """Return host and path of a URL, without what may be secret: user, password and query."""
    host, slash, path = re.split("[?#]", uri, maxsplit=1)[0].rpartition("://")[2].partition("/")
    return secrets.hide(f"{host.rpartition('@')[2]}{slash}{path}")


def _recording(path: Path, id: str, recorded: BareInteraction, metadata: Mapping[str, Any]) -> Scenario | NotJudged:
    interaction, fidelity = recorded.interaction, recorded.fidelity
    if fidelity not in CLAIMED:
        return NotJudged(f"a body of fidelity {fidelity} needs a scenario file")
    known = recorded_urls.recognise(interaction.uri)
    api = known.api if known else table.table().get((str(metadata.get("provider")), str(metadata.get("api"))))
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
    if known is not None and known.is_guess and not set(expected.raw_finish_reasons) <= api.finish.keys():
        expected = replace(expected, stated=expected.stated - {"finish_reason"})  # such a server has words of its own
    return Scenario(
        id=id,
        path=path,
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
        provenance="recorded" if fidelity in ("raw", "body+headers-only") else "edited",
        grounds="recording",
        fidelity=fidelity,
        cannot_be_asked="" if known is not None else "the URL of the request was not recorded",
        is_bare=True,
    )


def _answers_model(interaction: Interaction, api: Api) -> str | None:
    """Return the model that the answer names: servers with one model, and stored prompts, need none in the request."""
    facts = answers.derive_if_readable(interaction, api)
    return facts.model if facts else None
