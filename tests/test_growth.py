"""What makes the readers of long answers linear, counted: `benchmarks/growth.py` measures it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters import _framing
from adapters._think import ThinkSplitter

CHUNK = 8


def test_a_long_piece_is_looked_through_in_parts() -> None:
    splitter = ThinkSplitter("anywhere")
    found = [*splitter.feed("a" * 5000 + "<think>b</think>" + "c" * 5000), *splitter.end()]

    assert "".join(text for kind, text in found if kind == "text") == "a" * 5000 + "c" * 5000
    assert max(len(text) for _, text in found) <= 1024


def test_an_item_is_read_only_when_it_may_be_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []
    read = json.JSONDecoder.raw_decode

    def counted(reader: json.JSONDecoder, text: str, at: int = 0) -> Any:
        tries.append(text)
        return read(reader, text, at)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", counted)
    body = b'[{"a": "' + b"b" * 800 + b'"}, {"a": "c"}]'
    chunks = [body[at : at + CHUNK] for at in range(0, len(body), CHUNK)]

    assert len(list(_framing.array(chunks))) == 2
    assert len(tries) < 5 < len(chunks)


class Counted(bytes):
    """Bytes that count how often something is added to them."""

    added = 0

    def __add__(self, other: Any) -> Counted:
        Counted.added += 1
        return Counted(bytes(self) + other)

    def __radd__(self, other: Any) -> Counted:
        Counted.added += 1
        return Counted(other + bytes(self))


def test_a_long_line_is_put_together_once() -> None:
    chunks = [Counted(b"a")] * 1000 + [Counted(b"\nb")]

    assert list(_framing.lines(chunks)) == [b"a" * 1000, b"b"]
    assert Counted.added == 0
