"""The reference adapters: proof that every invariant can be met, and the example to copy.

One module a provider; `_chat` is what OpenAI-shaped APIs share. Each wire family is a decoder that is fed one JSON
document at a time: a plain answer is one document, a stream is many, so that both modes cannot come apart.

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
    """Yield the `adapter` or the `adapters` of every provider module here; adding a provider is adding a module."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            loaded = importlib.import_module(f"{__name__}.{module.name}")
            yield from loaded.adapters if hasattr(loaded, "adapters") else [loaded.adapter]


class ReferenceAdapters:
    """All of them behind one face: each call goes to the adapter of its provider and API."""

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
        "raw",
    )

    def __init__(self) -> None:
        self._by_api = {adapter.api: adapter for adapter in _providers()}
        self.providers = tuple(self._by_api)

    def complete(self, call: Call) -> Response:
        """Ask the provider and return its answer."""
        return self._for(call).complete(call)

    def stream(self, call: Call) -> Iterator[StreamEvent]:
        """Ask the provider and give its answer as it comes."""
        return self._for(call).stream(call)

    def parse(self, http: HttpResponse, call: Call) -> Response:
        """Return what a plain answer says."""
        return self._for(call).parse(http, call)

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Iterator[StreamEvent]:
        """Give what a streamed answer says, as its bytes come."""
        return self._for(call).parse_stream(chunks, call)

    def _for(self, call: Call) -> ProviderAdapter:
        return self._by_api[f"{call.provider}:{call.api}"]


conformance_adapter = ReferenceAdapters
