"""Requests of the wire format `completions`: the prompt is the content of the call's only message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from llm_conformance.formats.bodies import Fields, Messages
from llm_conformance.formats.turns import Turn, text_turns

PROMPTS = ("prompt", "inputText")
"""The names of the field with the prompt."""


def read(request: Mapping[str, Any]) -> Iterator[Turn]:
    """Yield the turns of a request."""
    yield from text_turns("system", request.get("system"))
    for name in PROMPTS:
        prompt = request.get(name)
        texts = prompt if isinstance(prompt, list) else [prompt]  # OpenAI takes several prompts
        for text in texts:
            yield from text_turns("user", text)


def write(messages: Messages, tools: Messages) -> Fields:
    """Return the prompt as a field of a request, which has no place for tools and further messages."""
    (message,) = messages
    return {"prompt": message["content"]}
