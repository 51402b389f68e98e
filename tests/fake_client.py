"""A client of an SDK, in the form of OpenAI's: `test_read_twice.py` lets it read recordings over the loopback."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any


class RateLimitError(Exception):
    def __init__(self, response: urllib.error.HTTPError) -> None:
        super().__init__("too many requests")
        self.status_code = response.code
        self.headers = response.headers


class Client:
    """A client that reads everything right."""

    def __init__(self, base_url: str, **_options: Any) -> None:
        self._url = base_url
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))

    def _create(self, stream: bool = False, **request: Any) -> Any:
        asked = urllib.request.Request(f"{self._url}/chat", json.dumps(request).encode(), method="POST")
        try:
            with urllib.request.urlopen(asked) as response:
                body = response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                raise RateLimitError(error) from error
        return self._chunks(body) if stream else self._answer(_object(json.loads(body)))

    def _chunks(self, body: str) -> Iterator[Any]:
        for line in body.splitlines():
            data = line.removeprefix("data: ")
            if data != line and data != "[DONE]":
                yield self._answer(_object(json.loads(data)))

    def _answer(self, answer: Any) -> Any:
        if usage := getattr(answer, "usage", None):
            usage.prompt_tokens_details = SimpleNamespace(cached_tokens=usage.prompt_cache_hit_tokens)
        return answer


class LosesReasoning(Client):
    """A client whose plain answers have no reasoning."""

    def _answer(self, answer: Any) -> Any:
        for choice in answer.choices:
            if hasattr(choice, "message"):
                del choice.message.reasoning_content
        return super()._answer(answer)


class RefusesStreams(Client):
    """A client that cannot read streams."""

    def _chunks(self, body: str) -> Iterator[Any]:
        raise TypeError("a stream was not expected")


def _object(value: Any) -> Any:
    if isinstance(value, dict):
        return SimpleNamespace(**{key: _object(item) for key, item in value.items()})
    return [_object(item) for item in value] if isinstance(value, list) else value
