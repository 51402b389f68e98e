"""Broken servers, one fault each."""

from __future__ import annotations

from types import ModuleType

from tests.servers.broken import answers, framing, messages, ollama, ollama_wire, responses, tools
from tests.servers.broken.base import Broken
from tests.servers.broken.shared import OVER_MESSAGES, OVER_OLLAMA, OVER_RESPONSES


def _in(module: ModuleType) -> list[type[Broken]]:
    found = (each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__)
    return [each for each in found if issubclass(each, Broken) and hasattr(each, "fails")]


BROKEN: list[type[Broken]] = [
    *(each for module in (framing, answers, tools, messages, responses, ollama, ollama_wire) for each in _in(module)),
    *OVER_MESSAGES,
    *OVER_RESPONSES,
    *OVER_OLLAMA,
]
