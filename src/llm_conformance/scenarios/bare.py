"""Bare recordings: VCR cassettes without a scenario file, judged by what their bytes decide.

`llm_conformance.scenarios.bare_expected` derives the expected values, and leaves out what the recorder altered. Each
file is read only when it is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance.scenarios import cassette
from llm_conformance.scenarios.bare_expected import CLAIMED, Undecided, expected_from_bytes, think_profile
from llm_conformance.scenarios.cassette import Unreadable
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers import table

_ROLES = ("system", "user", "assistant")
_PLACEHOLDER = {"role": "user", "content": "(the recorded conversation is in call.request)"}


@dataclass(frozen=True)
class NotJudged:
    """A recording that cannot be judged; `why` is the reason.

    `unknown_api`: the provider table has no such API.
    """

    why: str
    unknown_api: bool = False


def recordings(path: Path) -> Iterator[Scenario | NotJudged]:
    """Yield each interaction of a cassette as a scenario, or as NotJudged.

    Raises BadFileError if the file is no VCR cassette.
    """
    metadata, interactions = cassette.load_bare(path)
    fidelity = str(metadata.get("fidelity", "raw"))
    for number, interaction in enumerate(interactions):
        name = path.stem if len(interactions) == 1 else f"{path.stem}#{number}"
        if isinstance(interaction, Unreadable):
            yield NotJudged(interaction.why)
        else:
            yield _recording(path, name, interaction, metadata, fidelity)


def _recording(
    path: Path, name: str, interaction: Interaction, metadata: Mapping[str, Any], fidelity: str
) -> Scenario | NotJudged:
    if fidelity not in CLAIMED:
        return NotJudged(f"a body of fidelity {fidelity} needs a scenario file")
    known = table.recognise(interaction.uri)
    api = known[0] if known else table.table().get((str(metadata.get("provider")), str(metadata.get("api"))))
    if api is None:
        host = interaction.uri.partition("//")[2].partition("/")[0]
        return NotJudged(f"the provider table has no API at {host}", unknown_api=True)
    request = interaction.request
    model = (known and known[1].model) or request.get("model") or metadata.get("model")
    if not isinstance(model, str):
        return NotJudged("the request names no model")
    streams = set(api.paths(streamed=True)) - set(api.paths(streamed=False))
    by_path = known is not None and known[1].template in streams
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
    return Scenario(
        id=f"{path.parent.name}/{name}",
        path=path,
        title=f"A bare recording of {api}",
        api=api,
        think_profile=profile,
        model=model,
        messages=tuple(_messages(request)),
        tools=tuple(tool for tool in _list(request.get("tools")) if _is_openai_tool(tool)),
        params={mode: _params(request)},
        match=(),
        interactions={mode: interaction},
        same_content=False,
        expected={mode: expected},
        provenance="recorded" if fidelity in ("raw", "body+headers-only") else "edited",
        grounds="recording",
        replayable=known is not None,
    )


def _messages(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the messages if all are plain text, else a placeholder: the adapter has `call.request`."""
    messages = _list(request.get("messages"))
    plain = [
        {"role": message["role"], "content": message["content"]}
        for message in messages
        if isinstance(message, Mapping) and message.get("role") in _ROLES and isinstance(message.get("content"), str)
    ]
    yield from plain if plain and len(plain) == len(messages) else [_PLACEHOLDER]


def _params(request: Mapping[str, Any]) -> Mapping[str, Any]:
    params = {key: value for key, value in request.items() if key not in ("model", "messages", "tools", "stream")}
    hosted = [tool for tool in _list(request.get("tools")) if not _is_openai_tool(tool)]
    return params | ({"tools": hosted} if hosted else {})


def _is_openai_tool(tool: Any) -> bool:
    return isinstance(tool, Mapping) and tool.get("type") == "function" and isinstance(tool.get("function"), Mapping)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
