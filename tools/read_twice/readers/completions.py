"""Read OpenAI's text completions through its own SDK. It has no helper for streams, so this module joins the pieces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tools.read_twice.readers.attributes import at


class Reader:
    """Read completions. No options."""

    def __init__(self, base_url: str, options: Mapping[str, str]) -> None:
        import openai

        self._client = openai.OpenAI(base_url=base_url, api_key="key", max_retries=0, timeout=30)

    def plain(self, model: str) -> dict[str, Any]:
        """Read a plain answer."""
        return _values([self._client.completions.create(model=model, prompt="Hi.")])

    def stream(self, model: str) -> dict[str, Any]:
        """Read a stream."""
        return _values(self._client.completions.create(model=model, prompt="Hi.", stream=True))


def _values(answers: Iterable[Any]) -> dict[str, Any]:
    values: dict[str, Any] = {"id": None, "created": None, "model": None, "usage": None, "finish": None}
    text = ""
    for answer in answers:
        for name in ("id", "created", "model"):
            values[name] = values[name] or at(answer, name)
        values["usage"] = _usage(at(answer, "usage")) or values["usage"]
        for choice in (each for each in at(answer, "choices") or () if not each.index):
            text += at(choice, "text") or ""
            values["finish"] = at(choice, "finish_reason") or values["finish"]
    return {**values, "text": text, "calls": []}


def _usage(usage: Any) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {name: at(usage, name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
