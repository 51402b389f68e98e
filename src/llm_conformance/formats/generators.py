"""Writers of the wire formats: an answer in, the bytes of its provider out, JSON and stream.

Each module writes one format of `formats/`, with the freedom that its providers have: where deltas are cut,
whether what is not there is null, empty or absent, when counts and citations come. A new provider of a format that is
here needs nothing; a new format needs a module and its entry in `GENERATORS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.formats.chat.generator import ChatWire
from llm_conformance.formats.cohere.generator import CohereWire
from llm_conformance.formats.converse.generator import ConverseWire
from llm_conformance.formats.gemini.generator import GeminiWire
from llm_conformance.formats.interactions.generator import InteractionsWire
from llm_conformance.formats.messages.generator import MessagesWire
from llm_conformance.formats.ollama.generator import OllamaWire
from llm_conformance.formats.responses.generator import ResponsesWire
from llm_conformance.formats.workers_ai.generator import WorkersAiWire
from llm_conformance.generate.wire import Wire

GENERATORS: Mapping[str, Wire] = {
    "chat": ChatWire(),
    "cohere": CohereWire(),
    "converse": ConverseWire(),
    "gemini": GeminiWire(),
    "interactions": InteractionsWire(),
    "messages": MessagesWire(),
    "ollama": OllamaWire(),
    "responses": ResponsesWire(),
    "workers_ai": WorkersAiWire(),
}
"""By the name that the provider table uses."""
