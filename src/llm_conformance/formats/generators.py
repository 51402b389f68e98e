"""Writers of the wire formats: an answer in, the bytes of its provider out, JSON and stream.

Each module writes one format of `formats/`, with the freedom that its providers have: where deltas are cut,
whether what is not there is null, empty or absent, when counts and citations come. A new provider of a format that is
here needs nothing; a new format needs a module and its entry in `GENERATORS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.formats.chat.generator import ChatGenerator
from llm_conformance.formats.cohere.generator import CohereGenerator
from llm_conformance.formats.converse.generator import ConverseGenerator
from llm_conformance.formats.gemini.generator import GeminiGenerator
from llm_conformance.formats.interactions.generator import InteractionsGenerator
from llm_conformance.formats.messages.generator import MessagesGenerator
from llm_conformance.formats.ollama.generator import OllamaGenerator
from llm_conformance.formats.responses.generator import ResponsesGenerator
from llm_conformance.formats.workers_ai.generator import WorkersAiGenerator
from llm_conformance.generate.generator import Generator

GENERATORS: Mapping[str, Generator] = {
    "chat": ChatGenerator(),
    "cohere": CohereGenerator(),
    "converse": ConverseGenerator(),
    "gemini": GeminiGenerator(),
    "interactions": InteractionsGenerator(),
    "messages": MessagesGenerator(),
    "ollama": OllamaGenerator(),
    "responses": ResponsesGenerator(),
    "workers_ai": WorkersAiGenerator(),
}
"""By the name that the provider table uses."""
