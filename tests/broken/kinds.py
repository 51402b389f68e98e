"""What broken adapters have in common: the reference adapters with a fault put in."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from adapters import ReferenceAdapters
from llm_conformance.contract import Call, HttpResponse, Response, StreamEvent, Usage

Events = Iterator[StreamEvent]

FAMILIES = (
    "anthropic:messages",
    "bedrock:converse",
    "cerebras:chat",
    "cloudflare:chat",
    "cloudflare:run",
    "cohere:chat",
    "deepseek:chat",
    "gemini:array",
    "gemini:generate",
    "gemini:interactions",
    "groq:chat",
    "llamacpp:chat",
    "llamacpp:messages",
    "llamacpp:responses",
    "local:chat",
    "ollama:chat",
    "openai:chat",
    "openai:responses",
    "zai:chat",
)
"""The APIs that an adapter with a fault speaks unless it names others: each wire format, and many dialects of chat."""


class Broken(ReferenceAdapters):
    """An adapter with a fault.

    Attributes:
        fails: The invariants that it must fail.
        says: A regular expression that a message of the first of them matches.
        apis: What it speaks.
    """

    fails: ClassVar[tuple[str, ...]]
    says: ClassVar[str]
    apis: ClassVar[tuple[str, ...]] = FAMILIES

    def __init__(self) -> None:
        super().__init__()
        self.providers = self.apis

    def touches(self, _api: str) -> bool:
        """Whether it does anything otherwise than the reference adapters with an API."""
        return True


class Plain(Broken):
    """Answers plainly only; `alter` puts the fault in."""

    complete = stream = parse_stream = None  # type: ignore[assignment]

    def parse(self, http: HttpResponse, call: Call) -> Response:
        return self.alter(super().parse(http, call), call)

    def alter(self, response: Response, call: Call) -> Response:
        raise NotImplementedError


class Streamed(Broken):
    """Answers in streams only; `alter` puts the fault in."""

    complete = stream = parse = None  # type: ignore[assignment]

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        return self.alter(super().parse_stream(chunks, call))

    def alter(self, events: Events) -> Events:
        raise NotImplementedError


class Misunderstood(Broken):
    """Streams through another decoder than the reference adapters do; `decoders` says which stands for which."""

    complete = stream = parse = None  # type: ignore[assignment]
    decoders: ClassVar[Mapping[Any, Any]]

    def __init__(self) -> None:
        super().__init__()
        self._touched: set[str] = set()
        for api, adapter in self._by_api.items():
            made = adapter.decoder
            kind, options = (made.func, made.keywords) if isinstance(made, functools.partial) else (made, {})
            if kind in self.decoders:
                self._by_api[api] = replace(adapter, decoder=functools.partial(self.decoders[kind], **options))
                self._touched.add(api)

    def touches(self, api: str) -> bool:
        return api in self._touched


def less(usage: Usage, count: str, tokens: int) -> Usage:
    """Return a usage with so many tokens less in a count, if that is known."""
    whole = getattr(usage, count)
    changed: dict[str, Any] = {} if whole is None else {count: whole - tokens}
    return replace(usage, **changed)
