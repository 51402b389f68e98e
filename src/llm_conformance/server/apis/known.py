"""All wire formats that servers are judged by."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.server.apis.chat import Chat
from llm_conformance.server.apis.messages import Messages
from llm_conformance.server.apis.ollama import Ollama
from llm_conformance.server.apis.responses import Responses
from llm_conformance.server.apis.wire_api import WireApi

APIS: Mapping[str, WireApi] = {api.name: api for api in (Chat(), Messages(), Responses(), Ollama())}
"""The wire formats by the name that `--api` gives them."""
