"""The table `[api.X.drafts]`: how to ask an API for its first recordings (`recording.draft`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llm_conformance.wire.interaction import Mode


@dataclass(frozen=True)
class Asked:
    """How to ask for one conversation.

    Attributes:
        source: The evidence that the API accepts this request: a scenario, a URL, or an SDK with its version.
        model: The model to ask; "" for the model of the other drafts.
        params: Parameters of the request, under the provider's names.
        messages: The messages, if they have a special form for this API; () for the usual messages.
        modes: The modes to record; () for the modes of the other drafts.
    """

    source: str = ""
    model: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    messages: tuple[Mapping[str, Any], ...] = ()
    modes: tuple[Mode, ...] = ()


@dataclass(frozen=True)
class Drafts:
    """The drafts of an API.

    Attributes:
        model: The model to ask; "" for the first model of the row that can answer without audio.
        token_limit: The parameter that limits the tokens of an answer, as a path of fields; "" for the usual one of
            the wire format.
        stream_params: Fields of streamed requests; None for the usual ones of the wire format.
        modes: The modes to record; () for both.
        impossible: Why `llm-conformance record` cannot record the API; "" if it can.
        conversations: Maps the name of a conversation (`recording/conversations.toml`) to how to ask for it.
    """

    model: str = ""
    token_limit: str = ""
    stream_params: Mapping[str, Any] | None = None
    modes: tuple[Mode, ...] = ()
    impossible: str = ""
    conversations: Mapping[str, Asked] = field(default_factory=dict)


def read(stated: Mapping[str, Any]) -> Drafts:
    """Parse the column `drafts` of a row."""
    return Drafts(
        model=stated.get("model", ""),
        token_limit=stated.get("token_limit", ""),
        stream_params=stated.get("stream_params"),
        modes=tuple(stated.get("modes", ())),
        impossible=stated.get("impossible", ""),
        conversations={name: _asked(each) for name, each in stated.get("conversations", {}).items()},
    )


def _asked(stated: Mapping[str, Any]) -> Asked:
    lists = {name: tuple(stated[name]) for name in ("messages", "modes") if name in stated}
    return Asked(**{**stated, **lists})
