"""The reference adapters. They show that an adapter can meet every rule, and are examples to copy.

Each provider has a module. `_chat` and `_dialect` serve the providers with an OpenAI-shaped API. Each wire format has a
decoder that takes one JSON document at a time. A plain body is one document and a stream is many, so both modes share
the decoder.

    pytest conformance --adapter=adapters
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator

from llm_conformance import __version__
from llm_conformance.contract import Call, HttpResponse, Response, StreamEvent

from ._provider import ProviderAdapter


def _providers() -> Iterator[ProviderAdapter]:
    """Yield the `adapter` or the `adapters` of every module here whose name has no leading underscore."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            loaded = importlib.import_module(f"{__name__}.{module.name}")
            yield from loaded.adapters if hasattr(loaded, "adapters") else [loaded.adapter]


class ReferenceAdapters:
    """All reference adapters as one: each call goes to the adapter of its provider and API."""

    name = "reference"
    version = __version__
    capabilities = (
        "streaming",
        "reasoning",
        "segments",
        "annotations",
        "audio",
        "tools",
        "round_trip",
        "errors",
        "lost_connections",
        "unreadable_bodies",
        "incomplete_streams",
        "provenance",
        "raw_finish",
        "usage_details",
        "error_details",
        "raw",
    )

    def __init__(self) -> None:
        self._by_api = {adapter.api: adapter for adapter in _providers()}
        self.providers = tuple(self._by_api)

    def complete(self, call: Call) -> Response:
        """Send the request and return the response."""
        return self._for(call).complete(call)

    def stream(self, call: Call) -> Iterator[StreamEvent]:
        """Send the request and yield the stream events as they come."""
        return self._for(call).stream(call)

    def parse(self, http: HttpResponse, call: Call) -> Response:
        """Return the response in a plain body."""
        return self._for(call).parse(http, call)

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Iterator[StreamEvent]:
        """Yield the stream events of a streamed body as its bytes come."""
        return self._for(call).parse_stream(chunks, call)

    def _for(self, call: Call) -> ProviderAdapter:
        return self._by_api[f"{call.provider}:{call.api}"]


conformance_adapter = ReferenceAdapters
