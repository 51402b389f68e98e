"""Long answers are read in linear time. Here operations are counted; `benchmarks/growth.py` measures the time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters import _framing
from adapters._think import ThinkSplitter

CHUNK = 8


class CountedText(str):
    """Counts the code points that are copied out of it."""

    copied = 0

    def __radd__(self, before: str) -> CountedText:
        assert not before
        return self

    def __getitem__(self, key: Any) -> str:
        found = super().__getitem__(key)
        self.copied += len(found)
        return found


def test_what_is_left_of_a_long_piece_is_not_copied_behind_each_tag() -> None:
    text = CountedText("a<think>b</think>" * 500)
    splitter = ThinkSplitter("anywhere")
    found = [*splitter.feed(text), *splitter.end()]

    assert sum(len(each) for kind, each in found if kind == "text") == 500
    assert 500 <= text.copied <= len(text)


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
