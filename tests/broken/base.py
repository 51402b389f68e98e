"""Base classes of the broken adapters: the reference adapters, with a hook that takes the fault."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from adapters import ReferenceAdapters
from adapters._chat_decoder import ChatDecoder
from adapters._framing import Unframe
from adapters._think import Kind, ThinkSplitter
from llm_conformance.contract import Call, HttpResponse, Response, StreamEvent, Usage

Events = Iterator[StreamEvent]
Pieces = Iterator[tuple[Kind, str]]

FAMILIES = (
    "anthropic:messages",
    "bedrock:converse",
    "cerebras:chat",
    "cloudflare:chat",
    "cloudflare:run",
    "cohere:chat",
    "cohere:v1",
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
    "openai:completions",
    "openai:responses",
    "zai:chat",
)
"""The default APIs of a broken adapter: every wire format, and the dialects of chat that differ most."""


class Broken(ReferenceAdapters):
    """The reference adapters with one fault.

    Attributes:
        fails: The ids of exactly the rules that it must fail, its main rule first.
        says: A regular expression that matches one of the messages of the main rule.
        apis: The APIs that it is judged with.
    """

    fails: ClassVar[tuple[str, ...]]
    says: ClassVar[str]
    apis: ClassVar[tuple[str, ...]] = FAMILIES

    def __init__(self) -> None:
        super().__init__()
        self.providers = self.apis

    def touches(self, _api: str) -> bool:
        """Return True if it may differ from the reference adapters with this API."""
        return True


class FaultyResponse(Broken):
    """Has only the method `parse`; `alter` puts the fault into the response."""

    complete = stream = parse_stream = None  # type: ignore[assignment]

    def parse(self, http: HttpResponse, call: Call) -> Response:
        return self.alter(super().parse(http, call), call)

    def alter(self, response: Response, call: Call) -> Response:
        raise NotImplementedError


class FaultyEvents(Broken):
    """Has only the method `parse_stream`; `alter` puts the fault into the stream events."""

    complete = stream = parse = None  # type: ignore[assignment]

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Events:
        return self.alter(super().parse_stream(chunks, call))

    def alter(self, events: Events) -> Events:
        raise NotImplementedError


class FaultyBody(Broken):
    """Has only the method `parse`; `alter` puts the fault into successful HTTP responses."""

    complete = stream = parse_stream = None  # type: ignore[assignment]

    def parse(self, http: HttpResponse, call: Call) -> Response:
        return super().parse(self.alter(http) if http.status < 400 else http, call)

    def alter(self, http: HttpResponse) -> HttpResponse:
        raise NotImplementedError


class FaultyClient(Broken):
    """Has only the method `complete`, which sends requests."""

    stream = parse = parse_stream = None  # type: ignore[assignment]


class FaultyDecoder(Broken):
    """Has only the method `parse_stream`; `decoders` maps a reference decoder to the one with the fault."""

    complete = stream = parse = None  # type: ignore[assignment]
    decoders: ClassVar[Mapping[Any, Any]]

    def __init__(self) -> None:
        super().__init__()
        self._touched: set[str] = set()
        for api, adapter in self._by_api.items():
            make = adapter.decoder
            kind, options = (make.func, make.keywords) if isinstance(make, functools.partial) else (make, {})
            if kind in self.decoders:
                self._by_api[api] = replace(adapter, decoder=functools.partial(self.decoders[kind], **options))
                self._touched.add(api)

    def touches(self, api: str) -> bool:
        return api in self._touched


class OtherSplitter(ChatDecoder):
    """Reads chat, with another splitter for think blocks."""

    splitter: type[ThinkSplitter]

    def __init__(self, call: Call, **options: Any) -> None:
        super().__init__(call, **options)
        self._splitter = self.splitter(call.think_profile)


class FaultyFraming(Broken):
    """Has only the method `parse_stream`; `unframe` maps a reference framing to the one with the fault."""

    complete = stream = parse = None  # type: ignore[assignment]
    unframe: ClassVar[Mapping[Unframe, Unframe]]

    def __init__(self) -> None:
        super().__init__()
        self._touched: set[str] = set()
        for api, adapter in self._by_api.items():
            if adapter.unframe in self.unframe:
                self._by_api[api] = replace(adapter, unframe=self.unframe[adapter.unframe])
                self._touched.add(api)

    def touches(self, api: str) -> bool:
        return api in self._touched


def less(usage: Usage, count: str, tokens: int) -> Usage:
    """Return the usage with `tokens` subtracted from one count, if the count is known."""
    whole = getattr(usage, count)
    changed: dict[str, Any] = {} if whole is None else {count: whole - tokens}
    return replace(usage, **changed)
