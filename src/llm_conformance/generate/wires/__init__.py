"""Writers of the wire formats: an answer in, the bytes of its provider out, JSON and stream.

Each module writes one format of `schemas/wire/`, with the freedom that its providers have: where deltas are cut,
whether what is not there is null, empty or absent, when counts and citations come. A new provider of a format that is
here needs nothing; a new format needs a module and its entry in `WIRES`.
"""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.generate.wires.base import Wire
from llm_conformance.generate.wires.chat import ChatWire
from llm_conformance.generate.wires.cohere import CohereWire
from llm_conformance.generate.wires.converse import ConverseWire
from llm_conformance.generate.wires.gemini import GeminiWire
from llm_conformance.generate.wires.interactions import InteractionsWire
from llm_conformance.generate.wires.messages import MessagesWire
from llm_conformance.generate.wires.ollama import OllamaWire
from llm_conformance.generate.wires.responses import ResponsesWire
from llm_conformance.generate.wires.workers_ai import WorkersAiWire

WIRES: Mapping[str, Wire] = {
    "chat": ChatWire(),
    "cohere": CohereWire(),
    "converse": ConverseWire(),
    "gemini": GeminiWire(),
    "interactions": InteractionsWire(),
    "messages": MessagesWire(),
    "ollama": OllamaWire(),
    "responses": ResponsesWire(),
    "workers-ai": WorkersAiWire(),
}
"""By the name that the provider table uses."""
