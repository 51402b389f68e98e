"""The suite's own drafts. They give every hosted API its first recordings.

`conversations.toml` has the conversations. The row of an API says how to ask the API for them (`Api.drafts`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance import toml_files
from llm_conformance.formats.requests import token_limit
from llm_conformance.recording.draft import Draft
from llm_conformance.wire.interaction import MODES
from llm_conformance.wire.providers import table
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.drafts import Asked

_FILE = Path(__file__).with_name("conversations.toml")
_STREAM_PARAMS: Mapping[str, Mapping[str, Any]] = {"chat": {"stream_options": {"include_usage": True}}}
"""Maps a wire format to fields of streamed requests.

Without these fields, most servers do not count a stream's tokens.
"""


@dataclass(frozen=True)
class Conversation:
    """A conversation that APIs are asked for.

    Attributes:
        title: The title of the scenario.
        tokens: The highest number of tokens in an answer.
        messages: The messages, in OpenAI's form.
        tools: The tools, in OpenAI's form.
        stated: Whether an API is asked only if its row says how.
    """

    title: str
    tokens: int
    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    stated: bool = False


@functools.cache
def conversations() -> Mapping[str, Conversation]:
    """Return the conversations by name."""
    document, _ = toml_files.read(_FILE)
    return {
        name: Conversation(
            title=each["title"],
            tokens=each["tokens"],
            messages=tuple(each["messages"]),
            tools=tuple(each.get("tools", ())),
            stated=each.get("stated", False),
        )
        for name, each in document.items()
    }


def all_drafts() -> list[Draft]:
    """Return the drafts of all hosted APIs that can be recorded."""
    return [draft for api in table.table().values() if api.is_hosted for draft in drafts_of(api)]


def drafts_of(api: Api) -> Iterator[Draft]:
    """Yield the drafts of an API, `recorded-<api>-<conversation>`; none if the API cannot be recorded."""
    if api.drafts.impossible:
        return
    for name, conversation in conversations().items():
        asked = api.drafts.conversations.get(name)
        if asked is None and (conversation.stated or (conversation.tools and "call" not in api.ids)):
            continue
        yield _draft(api, name, conversation, asked or Asked())


def _draft(api: Api, name: str, conversation: Conversation, asked: Asked) -> Draft:
    drafts = api.drafts
    usual_model = drafts.model or next(model for model in api.models if model not in api.speaking_models)
    model = asked.model or usual_model
    limit = drafts.token_limit or token_limit(api.wire)
    streamed = _STREAM_PARAMS.get(api.wire, {}) if drafts.stream_params is None else drafts.stream_params
    profile = api.think_profile(model)
    call = {
        "model": model,
        "messages": [dict(each) for each in asked.messages or conversation.messages],
        **({"tools": [dict(each) for each in conversation.tools]} if conversation.tools else {}),
        "params": _with(limit.split("/"), conversation.tokens, {**api.needed_params, **asked.params}),
        **({"stream_params": dict(streamed)} if streamed else {}),
    }
    document = {
        "title": conversation.title,
        "provider": api.provider,
        "api": api.name,
        **({"think_profile": profile} if profile != "off" else {}),
        "call": call,
    }
    modes = asked.modes or drafts.modes or MODES
    return Draft(f"recorded-{api.name}-{name}", api, document, tuple(modes), {}, conversation.tokens)


def _with(path: list[str], value: int, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with a value added at a path of fields."""
    first, *rest = path
    return {**params, first: _with(rest, value, params.get(first, {})) if rest else value}
