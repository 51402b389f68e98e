"""The adapter of the battery: it calls the hostile function that the scenario names, and is healthy otherwise."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from tests.hostile import healthy
from tests.hostile.expected import BATTERY, called

THEMES = ("values", "numbers", "lies", "errors", "hangs", "ends", "threads", "streams", "state", "output", "requests")
for theme in THEMES:
    importlib.import_module(f"tests.hostile.{theme}")


class Adapter:
    name = "hostile"
    providers = ("deepseek",)
    capabilities = ("reasoning", "segments", "annotations", "tools", "streaming")

    def parse(self, http: HttpResponse, call: Call) -> Any:
        return (called(BATTERY, call.correlation_id, "parse") or healthy.parse)(http, call)

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Any:
        return (called(BATTERY, call.correlation_id, "parse_stream") or healthy.parse_stream)(chunks, call)

    def complete(self, call: Call) -> Any:
        return (called(BATTERY, call.correlation_id, "complete") or healthy.complete)(call)

    def stream(self, call: Call) -> Any:
        return (called(BATTERY, call.correlation_id, "stream") or healthy.stream)(call)


conformance_adapter = Adapter
