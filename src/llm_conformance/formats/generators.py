"""The generators of all wire formats.

A generator writes a drawn answer in the form of its provider. It draws the choices that the format leaves to providers:
where deltas are cut, whether a missing value is null, empty or absent, and when token counts and citations are sent.
"""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.formats.chat.generator import ChatGenerator
from llm_conformance.formats.cohere.generator import CohereGenerator
from llm_conformance.formats.cohere_v1.generator import CohereV1Generator
from llm_conformance.formats.completions.generator import CompletionsGenerator
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
    "cohere_v1": CohereV1Generator(),
    "completions": CompletionsGenerator(),
    "converse": ConverseGenerator(),
    "gemini": GeminiGenerator(),
    "interactions": InteractionsGenerator(),
    "messages": MessagesGenerator(),
    "ollama": OllamaGenerator(),
    "responses": ResponsesGenerator(),
    "workers_ai": WorkersAiGenerator(),
}
"""The generators, by the name of the wire format in the provider table."""
