"""A key is planted in every place of an answer, in every encoding, cut at every boundary: no file gets it.

All boundaries are tried where the key is plain, and some six of each other encoding.

`scrub` may mask it or refuse the whole answer. What is searched for afterwards are the pieces that were planted, not
what the suite looks for.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from llm_conformance.cli import main
from llm_conformance.recording import client
from llm_conformance.recording.scrubbing import LeakError, scrub
from llm_conformance.wire.framings.aws_event_stream import aws_chunk_payload, aws_message
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.table import table
from tests import standin
from tests.test_recording import raw_server
from tests.test_scrubbing import AWS, CHUNK, PLAIN, answer, everything

KEY = "acme-q7Rk2VnX9bTz4LmW8cHd"
"""Its beginning is public. It does not look like a key, so that only those who know it find it."""
API = table()["openai", "chat"]
STREAM = {"content-type": "text/event-stream"}
PART = 8
"""The number of characters from which a piece of the key is secret on its own."""
PREFIX = len("acme-")


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: "".join(f"%{ord(each):02X}" for each in text),
    "escapes": lambda text: "".join(f"\\u{ord(each):04x}" for each in text),
    "base64": base64_of,
    "base64, one byte behind": lambda text: base64_of(f"x{text}"),
    "base64, two bytes behind": lambda text: base64_of(f"xy{text}yz"),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(f"?>~{text}".encode()).decode().rstrip("="),
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
    "gzip": lambda text: base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode(),
    "base64 of base64": lambda text: base64_of(base64_of(text)),
    "percent of base64": lambda text: quote(base64_of(f"{text}?"), safe=""),
    "hex of escapes": lambda text: "".join(f"\\u{ord(each):04x}" for each in text).encode().hex(),
}


def frames(*documents: object) -> bytes:
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in documents)


def delta(**fields: object) -> dict[str, object]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields}]}


def called(arguments: str) -> dict[str, object]:
    return delta(tool_calls=[{"index": 0, "function": {"arguments": arguments}}])


def streamed(*documents: object) -> Interaction:
    return replace(PLAIN, headers=STREAM, body=frames(*documents))


def lines(*written: str) -> Interaction:
    events = (f"{line}\ndata: {json.dumps(delta(content='a'))}\n\n" for line in written)
    return replace(PLAIN, headers=STREAM, body="".join(events).encode())


def aws(*pieces: str) -> Interaction:
    messages = (aws_message(CHUNK, aws_chunk_payload({}, json.dumps({"text": each}).encode())) for each in pieces)
    return replace(PLAIN, headers=AWS, body=b"".join(messages))


def token(piece: str) -> dict[str, object]:
    return {"token": "a", "bytes": list(piece.encode())}


def alternately(pieces: Sequence[str]) -> Iterator[dict[str, object]]:
    for number, piece in enumerate(pieces):
        yield delta(**{("content", "reasoning_content", "refusal")[number % 3]: piece})


Place = Callable[..., Interaction]
PLACES: dict[str, Place] = {
    "answer": lambda *pieces: replace(PLAIN, body=answer("".join(pieces))),
    "error": lambda *pieces: replace(PLAIN, status=401, body=json.dumps({"error": {"message": pieces}}).encode()),
    "error that is no JSON": lambda *pieces: replace(PLAIN, status=502, body=f"<p>No {''.join(pieces)}</p>".encode()),
    "fields": lambda *pieces: replace(PLAIN, body=answer("a", **{f"f{n}": each for n, each in enumerate(pieces)})),
    "fields with others between": lambda *pieces: replace(PLAIN, body=answer("a", f=[[p, "and then"] for p in pieces])),
    "keys": lambda *pieces: replace(PLAIN, body=answer("a", f=[{each: 1} for each in pieces])),
    "header": lambda *pieces: replace(PLAIN, headers={**PLAIN.headers, "x-request-id": "".join(pieces)}),
    "headers": lambda *pieces: replace(PLAIN, headers={"x-request-id": pieces[0], "request-id": "".join(pieces[1:])}),
    "request": lambda *pieces: replace(PLAIN, request={"model": "m", "user": "".join(pieces)}),
    "requested keys": lambda *pieces: replace(PLAIN, request={"model": "m", "metadata": dict.fromkeys(pieces, 1)}),
    "query": lambda *pieces: replace(PLAIN, uri=f"{PLAIN.uri}?key={''.join(pieces)}"),
    "user of an unknown URL": lambda *pieces: replace(PLAIN, uri=f"http://{''.join(pieces)}:b@localhost/v9?a=b"),
    "query of an unknown URL": lambda *pieces: replace(PLAIN, uri=f"http://localhost/v9?a={''.join(pieces)}"),
    "text": lambda *pieces: streamed(*(delta(content=each) for each in pieces)),
    "text and reasoning": lambda *pieces: streamed(*alternately(pieces)),
    "arguments": lambda *pieces: streamed(called('{"a": "'), *map(called, pieces), called('"}')),
    "arguments, escaped": lambda *pieces: streamed(called('{"a": "'), *(called(json.dumps(p)[1:-1]) for p in pieces)),
    "log probabilities": lambda *pieces: streamed(*(delta(logprobs={"content": [token(each)]}) for each in pieces)),
    "tokens of one answer": lambda *pieces: replace(PLAIN, body=answer("a", logprobs=[token(each) for each in pieces])),
    "ids of documents": lambda *pieces: streamed(*({**delta(content="a"), "id": each} for each in pieces)),
    "ids of events": lambda *pieces: lines(*(f"id: {each}" for each in pieces)),
    "names of events": lambda *pieces: lines(*(f"event: {each}" for each in pieces)),
    "comments": lambda *pieces: lines(*(f": {each}" for each in pieces)),
    "ids and comments": lambda *pieces: lines(*(f"{('id', '')[n % 2]}: {each}" for n, each in enumerate(pieces))),
    "cut off": lambda *pieces: replace(streamed(), body=frames(*(delta(content=p) for p in pieces)) + b'data: {"id'),
    "messages of AWS": aws,
}
WHOLE_ONLY = {"answer", "error that is no JSON", "header", "request", "query"}
"""Places in which pieces come together again."""
SPREAD = {"fields with others between", "text and reasoning"}


def written(interaction: Interaction) -> str | None:
    """Return everything that would be written of an interaction, None if it is refused."""
    try:
        kept = scrub(interaction, API, [KEY]).interaction
    except LeakError:
        return None
    body = "".join(part.decode("latin-1") for part in kept.frames)
    unpacked = [base64.b64decode(each.split('"')[0]).decode() for each in body.split('"bytes": "')[1:]]
    return "\n".join([everything(replace(kept, body=b"")), body, *unpacked])


def forms(planted: str) -> set[str]:
    """Return how a piece may stand in JSON, or in JSON within JSON, or as a list of bytes."""
    once = json.dumps(planted)[1:-1]
    return {planted, once, json.dumps(once)[1:-1], json.dumps([*planted.encode()])}


def expect_gone(interaction: Interaction, pieces: Sequence[str], secret: Sequence[str]) -> None:
    """Expect that no piece of `secret` is written. At least one of `pieces` is not, even if none is secret alone."""
    kept = written(interaction)
    if kept is not None:
        assert not [piece for piece in secret if any(form in kept for form in forms(piece))]
        assert not all(any(form in kept for form in forms(piece)) for piece in pieces)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("place", PLACES)
def test_a_whole_key_is_not_written(place: str, encoding: str) -> None:
    encoded = ENCODINGS[encoding](KEY)
    expect_gone(PLACES[place](encoded), [encoded], [encoded])


@pytest.mark.parametrize("place", sorted(PLACES.keys() - WHOLE_ONLY))
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_key_cut_at_any_boundary_is_not_written(place: str, encoding: str) -> None:
    encoded = ENCODINGS[encoding](KEY)
    for cut in range(1, len(encoded), 1 if encoding == "plain" else 1 + len(encoded) // 6):
        pieces = [encoded[:cut], encoded[cut:]]
        expect_gone(PLACES[place](*pieces), pieces, [])


@pytest.mark.parametrize("place", sorted(PLACES.keys() - WHOLE_ONLY))
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("size", [1, 7])
def test_a_key_in_many_pieces_is_not_written(place: str, encoding: str, size: int) -> None:
    encoded = ENCODINGS[encoding](KEY)
    pieces = [encoded[at : at + size] for at in range(0, len(encoded), size)]
    if place in ("keys", "requested keys") and len(set(pieces)) < len(pieces):
        return  # an object has no key twice
    if place in SPREAD and encoding in ("gzip", "hex of escapes"):
        return  # nobody sends that: compressed or encoded twice, and then small pieces with other fields between them
    expect_gone(PLACES[place](*pieces), pieces, [])


@pytest.mark.parametrize("place", sorted(PLACES.keys() - WHOLE_ONLY - {"headers"}))
@pytest.mark.parametrize("size", [3, 4, 5, 8])
@pytest.mark.parametrize("padding", ["=", ""])
def test_pieces_that_are_encoded_one_by_one_are_not_written(place: str, size: int, padding: str) -> None:
    pieces = [base64_of(KEY[at : at + size]) for at in range(0, len(KEY), size)]
    pieces = pieces if padding else [each.rstrip("=") for each in pieces]
    expect_gone(PLACES[place](*pieces), pieces, [])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("encoding", ["plain", "percent", "escapes", "base64", "hex"])
def test_a_part_of_a_key_is_not_written(place: str, encoding: str) -> None:
    for start in range(PREFIX, len(KEY) - PART + 1):
        encoded = ENCODINGS[encoding](KEY[start : start + PART])
        expect_gone(PLACES[place](encoded), [encoded], [encoded])


@pytest.mark.parametrize(
    "place", ["answer", "fields", "keys", "text", "arguments", "ids of events", "comments", "header"]
)
def test_the_public_beginning_of_a_key_stays(place: str) -> None:
    kept = written(PLACES[place](KEY[: PREFIX + 4]))
    assert kept is not None
    assert KEY[: PREFIX + 4] in kept


def test_a_compressed_body_without_its_header_is_not_written() -> None:
    found = replace(PLAIN, body=gzip.compress(answer(f"It is {KEY}.")))
    with pytest.raises(LeakError, match="a form that cannot be masked"):
        scrub(found, API, [KEY])
    harmless = replace(PLAIN, body=gzip.compress(answer("Hello")))
    assert scrub(harmless, API, [KEY]).interaction == harmless


OPAQUE = base64.b64encode(bytes(number * 89 % 256 for number in range(9000))).decode()


@pytest.mark.parametrize(
    "text",
    [OPAQUE, "Use sk-proj-... and the region us-central1 in 2026-11-23.", "OpenAI " * 50, "%41 \\u0041 0123456789" * 9],
)
def test_an_answer_without_the_key_is_written_as_it_came(text: str) -> None:
    for found in (replace(PLAIN, body=answer(text)), streamed(*(delta(content=each) for each in text))):
        assert scrub(found, API, [KEY, "us-central1-a", "sk-T3BlbkFJx"]).interaction == found


def recordable() -> list[tuple[str, str]]:
    """Return each place of a response, with one of the encodings in turn."""
    places = [place for place in PLACES if "URL" not in place and place not in ("query", "messages of AWS")]
    return [(place, list(ENCODINGS)[number % len(ENCODINGS)]) for number, place in enumerate(places)]


@pytest.mark.parametrize(("place", "encoding"), recordable())
def test_neither_files_nor_terminal_get_the_key_from_a_recording(
    place: str, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(standin, "KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    encoded = ENCODINGS[encoding](KEY)
    planted = PLACES[place](encoded, "") if place == "headers" else PLACES[place](encoded)
    mode = "stream" if planted.streamed else "json"
    where = [f"--cassettes={tmp_path / 'cassettes'}"]
    (tmp_path / "cassettes").mkdir()
    with standin.standing_in(API, {"json": planted, "stream": planted}) as provider:
        if planted.status == 401:
            provider.change = lambda response: replace(response, status=400)
        own: dict[str, Any] = {"request": planted.request} if "request" in place else {}
        draft = standin.draft(tmp_path, API, modes=[mode], **own)
        monkeypatch.setattr(client, "LONGEST_WAIT_S", 0)
        main.main(["record", str(draft), "--yes", f"--base-url={provider.url}", *where])
        assert provider.requests
    main.main(["review", *where])
    main.main(["accept", "--yes", "--errors", *where])
    output = capsys.readouterr()
    texts = [path.read_text("utf-8") for path in (tmp_path / "cassettes").rglob("*") if path.is_file()]
    for form in forms(encoded) | forms(KEY):
        assert not [text for text in (output.out, output.err, *texts) if form in text]


def test_trailers_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = answer("Hello")
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\ntrailer: x-key\r\n\r\n"
    chunked = b"%x\r\n%b\r\n0\r\nx-key: %b\r\n\r\n" % (len(body), body, KEY.encode())
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    draft = standin.draft(tmp_path, API, modes=["json"])
    with raw_server(head + chunked) as url:
        assert main.main(["record", str(draft), "--yes", f"--base-url={url}", f"--cassettes={tmp_path}"]) == 0
    texts = [path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file()]
    assert any("Hello" in text for text in texts)
    assert not [text for text in texts if KEY in text]
