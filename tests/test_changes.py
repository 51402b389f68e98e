"""What a review shows of a provider that has changed, and of one that has not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.scenarios import cassette
from llm_conformance.wire.interaction import Interaction
from tests.standin import StandIn, accepted, failing, recorded, run


def renamed(old: str, new: str) -> Callable[[Interaction], Interaction]:
    return lambda response: replace(response, body=response.body.replace(f'"{old}"'.encode(), f'"{new}"'.encode()))


def edited(change: Callable[[Any], None]) -> Callable[[Interaction], Interaction]:
    """Return a function that changes each JSON document of a response."""

    def of(response: Interaction) -> Interaction:
        framing = response.framing
        made = []
        for frame in response.frames:
            data = framing.data(frame) if framing else frame
            if data:
                document = json.loads(data)
                change(document)
                data = json.dumps(document).encode()
                frame = framing.with_data(frame, data) if framing else data
            made.append(frame)
        return replace(response, body=b"".join(made))

    return of


def without_usage(document: Any) -> None:
    document.pop("usage", None)


def in_utf16(document: Any) -> None:
    """Count the offsets of citations in UTF-16 units, as JavaScript does."""
    text = document.get("text_so_far", "")
    for choice in document.get("choices") or ():
        message = choice.get("message") or choice.get("delta") or {}
        for each in message.get("annotations") or ():
            for name in ("start_index", "end_index"):
                cited = each.get(each["type"], each)
                cited[name] = len((message.get("content") or text)[: cited[name]].encode("utf-16-le")) // 2


def in_milliseconds(document: Any) -> None:
    """Write the time as a string."""
    document["created"] = "2026-11-21T10:00:00Z"


def cut(response: Interaction) -> Interaction:
    return replace(response, body=b"".join(response.frames[:2])) if response.streamed else response


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (renamed("finish_reason", "stop_reason"), "finish_reason has disappeared"),
        (edited(without_usage), "counts: was prompt + completion = total, and is none"),
        (edited(in_utf16), "offsets count: was code points, as documented, and is UTF-16 units"),
        (failing(429), "the status was 200, and is 429"),
        (failing(500), "the status was 200, and is 500"),
        (cut, "stream: the end: was marked, and is missing: the stream is incomplete"),
        (edited(in_milliseconds), "field /created was an integer, and is a string"),
    ],
    ids=["renamed", "no-usage", "utf-16", "429", "500", "cut", "retyped"],
)
def test_the_review_names_the_change_and_the_recording_stays(
    cassette_dir: Path,
    provider: StandIn,
    change: Callable[[Interaction], Interaction],
    named: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = accepted(cassette_dir, provider)
    before = {path: path.read_bytes() for path in cassette_dir.rglob("*.yaml")}
    provider.change = change
    assert recorded(cassette_dir, provider) == 0
    capsys.readouterr()
    assert run("review", "--shape", f"--cassettes={cassette_dir}") == 1
    assert named in capsys.readouterr().out
    assert {path: path.read_bytes() for path in cassette_dir.rglob("*.yaml") if ".proposed" not in str(path)} == before
    assert run("reject", f"--cassettes={cassette_dir}") == 0
    assert {path: path.read_bytes() for path in cassette_dir.rglob("*.yaml")} == before
    assert cassette.load(path).interactions[0].status == 200


def test_an_unchanged_provider_has_the_same_shape(
    cassette_dir: Path, provider: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    accepted(cassette_dir, provider)
    assert recorded(cassette_dir, provider) == 0
    capsys.readouterr()
    assert run("review", "--shape", f"--cassettes={cassette_dir}") == 0
    assert "the shape is unchanged" in capsys.readouterr().out
