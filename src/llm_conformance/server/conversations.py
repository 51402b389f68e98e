"""The conversations that a server is asked, from the TOML file of its wire format."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_conformance import editions
from llm_conformance.wire.interaction import MODES, Mode

_FOLDER = Path(__file__).parent / "apis"

CAPABILITIES: Mapping[str, str] = {
    "tools": "calls tools that the model may call",
    "tool_choice": "obeys `tool_choice`",
    "parallel_tools": "makes several calls at once, and obeys `parallel_tool_calls`",
    "json": "has JSON mode",
    "json_schema": "answers by a strict JSON schema",
    "n": "gives several choices",
    "logprobs": "gives the probabilities of tokens",
    "seed": "gives the same answer to the same request with temperature 0, and a seed if the format has one",
    "reasoning": "gives the reasoning in a field of its own",
    "models": "knows its models, and refuses others",
    "keys": "needs a key; claimed for a server that is given one by --key-env",
    "context": "refuses what is longer than the context; claimed with --context",
}
"""Maps each capability that a user may claim of a server to its meaning.

Everything else is part of the format, and is always asked.
"""


@dataclass(frozen=True)
class Conversation:
    """A conversation. The head of `chat.toml` explains the attributes. What the file omits has its default here."""

    id: str
    title: str
    body: Mapping[str, Any]
    modes: tuple[Mode, ...] = MODES
    needs: tuple[str, ...] = ()
    tokens: int | None = None
    usage: bool = True
    limited: bool = True
    refused: str = ""
    again: bool = False
    cancels: bool = False
    text: str | None = None
    key: str | None = None
    fills_context: bool = False
    since: str = editions.FIRST
    tools: tuple[Mapping[str, Any], ...] = field(default=())


@functools.cache
def conversations(api: str) -> Mapping[str, Conversation]:
    """Return the conversations of a wire format by id, in the order in which they are asked."""
    document = tomllib.loads((_FOLDER / f"{api}.toml").read_text("utf-8"))
    tools = tuple(document.get("tool", ()))
    found = (_conversation(entry, tools) for entry in document["conversation"])
    return {each.id: each for each in found}


def conversation_of(label: str) -> str:
    """Return the conversation of a label, which may end in a number (`#2`)."""
    return label.partition("#")[0]


def _conversation(entry: Mapping[str, Any], tools: tuple[Mapping[str, Any], ...]) -> Conversation:
    fields = {**entry, "tools": tools if entry.get("tools") else ()}
    for name in ("modes", "needs"):
        if name in fields:
            fields[name] = tuple(fields[name])
    return Conversation(**{"body": {}, **fields})
