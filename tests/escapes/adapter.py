"""An adapter that takes a way out, by the identifier of its call, and then returns an answer."""

from __future__ import annotations

import contextlib
from typing import Any

from llm_conformance.contract import Call, HttpResponse
from tests.escapes.ways import WAYS


class Adapter:
    """Parses an answer after it has tried a way out."""

    name = "escapes"
    providers = ("deepseek",)

    def parse(self, http: HttpResponse, call: Call) -> dict[str, Any]:
        _, name, port, _ = call.correlation_id.split("/")
        with contextlib.suppress(Exception):
            WAYS[name].run(int(port))
        return {"provider": "deepseek", "message": "Eight."}


conformance_adapter = Adapter
