"""The call that a recorded request of the wire format `completions` makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llm_conformance.formats.completions.requests import PROMPTS
from llm_conformance.formats.recorded_call import CannotAskError, RecordedCall, without

HISTORY = "prompt"


def read(request: Mapping[str, Any]) -> RecordedCall:
    """Return the call that a request makes. Raises CannotAskError."""
    prompt = next((request[name] for name in PROMPTS if name in request), None)
    if isinstance(prompt, list) and len(prompt) == 1:
        (prompt,) = prompt
    if not isinstance(prompt, str):
        raise CannotAskError("the request has not one text as its prompt")
    return RecordedCall(({"role": "user", "content": prompt},), (), without(request, PROMPTS))


def answer(items: Sequence[Any], model: str) -> Mapping[str, Any]:
    """Raise CannotAskError. Nobody calls this function, because a prompt has no earlier answers."""
    raise CannotAskError("a prompt has no earlier answers")
