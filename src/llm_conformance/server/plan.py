"""The requests to send: those of the conversations that a server's claims allow."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llm_conformance.server.apis.known import APIS
from llm_conformance.server.conversations import Conversation, conversations
from llm_conformance.wire.interaction import Mode

SEED = 20260101
_USUAL_TOKENS = 256


@dataclass(frozen=True)
class Target:
    """The server, with the capabilities that are claimed of it.

    Attributes:
        url: The base URL. The format's path is added to it.
        api: The wire format.
        model: The name of the model in requests.
        claims: The claimed capabilities.
        max_tokens: The limit on the tokens of one answer.
        token_limit: The field of a request with the token limit; "" for the format's usual field.
        params: Further fields of every request.
        reasoning_params: Further fields of the requests that ask for reasoning.
        context: The length of the model's context in tokens; 0 if it is not known.
    """

    url: str
    api: str
    model: str
    claims: frozenset[str] = frozenset()
    max_tokens: int = _USUAL_TOKENS
    token_limit: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    reasoning_params: Mapping[str, Any] = field(default_factory=dict)
    context: int = 0


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes:
        number: 1 for the first request; 2 for its repetition.
        body: The JSON body; `{}` if the content is not JSON.
        content: The bytes of the body.
        tokens: The highest number of tokens in the answer; 0 if the server has to refuse the request.
        dropped: The bytes of a request that is sent first, for a stream that is then dropped; b"" for none.
        wrong_key: A wrong key to send; None to send the real one.
    """

    conversation: Conversation
    mode: Mode
    number: int
    body: Mapping[str, Any]
    content: bytes
    tokens: int
    dropped: bytes = b""
    wrong_key: str | None = None

    @property
    def cancels(self) -> bool:
        """Whether a request for a stream is sent first and then dropped."""
        return bool(self.dropped)

    @property
    def name(self) -> str:
        """The name of its recording."""
        return f"{self.conversation.id}.{self.mode}" + (f".{self.number}" if self.number > 1 else "")


def selected(api: str, globs: Collection[str]) -> list[Conversation]:
    """Return the conversations of a format whose ids match one of the globs; all if there are no globs."""
    return [
        each
        for each in conversations(api).values()
        if not globs or any(fnmatch.fnmatchcase(each.id, glob) for glob in globs)
    ]


def place(api: str, label: str, mode: str) -> tuple[int, str, str]:
    """Return the key that sorts answers in the order of the requests. `label` is the label of a recording."""
    conversation, _, number = label.partition("#")
    order = list(conversations(api))
    return order.index(conversation) if conversation in order else len(order), mode, number


def is_claimed(conversation: Conversation, target: Target) -> bool:
    """Return True if everything that a conversation needs is claimed."""
    return target.claims.issuperset(conversation.needs)


COMPANIONS: Mapping[str, Sequence[str]] = {"stop": ("count",), "cut": ("count",)}
"""Maps a conversation to other conversations that it is compared with. All are also compared with `plain`."""
_COMPARED_WITH = "plain"


def with_companions(api: str, chosen: Collection[Conversation]) -> list[Conversation]:
    """Return the conversations and those that they are compared with, in the order of the requests."""
    wanted = {each.id for each in chosen} | {other for each in chosen for other in COMPANIONS.get(each.id, ())}
    return [each for each in conversations(api).values() if each.id in wanted or each.id == _COMPARED_WITH]


def requests(target: Target, chosen: Sequence[Conversation]) -> Iterator[Request]:
    """Yield the requests of the conversations that the claims allow."""
    for conversation in chosen:
        if not is_claimed(conversation, target):
            continue
        for mode in conversation.modes:
            for number in range(1, times(conversation, mode) + 1):
                yield _request(target, conversation, mode, number)


def times(conversation: Conversation, mode: Mode) -> int:
    """Return how often a conversation is asked in a mode."""
    return 2 if conversation.again and mode == "json" else 1


def _request(target: Target, conversation: Conversation, mode: Mode, number: int) -> Request:
    body = _body(target, conversation, mode, conversation.usage)
    api = APIS[target.api]
    tokens = 0 if conversation.refused else api.limit(body) * api.answers_asked(body)
    content = _written(body)
    dropped = _written(_body(target, conversation, "stream", usage=False)) if conversation.cancels else b""
    if conversation.text is not None:
        body, content = {}, conversation.text.encode("utf-8")
    return Request(conversation, mode, number, body, content, tokens, dropped, conversation.key)


def _body(target: Target, conversation: Conversation, mode: Mode, usage: bool) -> Mapping[str, Any]:
    api = APIS[target.api]
    body: dict[str, Any] = {"model": target.model, **conversation.body}
    settings: dict[str, Any] = {"temperature": 0}
    if conversation.tools:
        body["tools"] = list(conversation.tools)
    if conversation.fills_context:
        body = api.filled(body, target.context + 100)  # in every tokenizer, a word has at least one token
    if conversation.limited:
        limit = min(conversation.tokens or target.max_tokens, target.max_tokens)
        settings[target.token_limit or api.limits[0]] = limit
    if "seed" in target.claims and api.has_seed:
        settings["seed"] = SEED
    body = api.asked(api.with_settings(body, settings), mode == "stream", usage)
    body = api.with_params(body, target.params)
    if "reasoning" in conversation.needs:
        body = api.with_params(body, target.reasoning_params)
    return body


def _written(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8")
