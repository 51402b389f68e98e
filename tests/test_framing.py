"""Framings: splitting, reading and changing streams; other parsers read the same."""

from __future__ import annotations

import binascii
import codecs
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
import sseclient
from botocore.eventstream import EventStreamBuffer, ParserError
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters import _framing, bedrock
from llm_conformance.contract import Call, LLMError
from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios import cassette
from llm_conformance.wire.framings import registry as framings
from llm_conformance.wire.framings.aws_event_stream import AwsEventStream, aws_message, aws_parts
from llm_conformance.wire.framings.base import Framing
from llm_conformance.wire.framings.registry import FRAMINGS, content_type_of, framing_of
from llm_conformance.wire.framings.server_sent_events import EVENT_STREAM

DOCUMENTS = [{"a": {"text": "é😀 ]}, [{"}}, {"b": {"text": "\n\n"}}]
HEADERS = {":event-type": "a", ":content-type": "application/json", ":message-type": "event"}
CHUNK = {**HEADERS, ":event-type": "chunk"}

BODIES = {
    "server-sent events": b"".join(b"data: %b\n\n" % json.dumps(each).encode() for each in DOCUMENTS),
    "lines": b"".join(b"%b\n" % json.dumps(each, ensure_ascii=False).encode() for each in DOCUMENTS),
    "stream+json": b"".join(b"%b\n" % json.dumps(each, ensure_ascii=False).encode() for each in DOCUMENTS),
    "array": json.dumps(DOCUMENTS, ensure_ascii=False, indent=1).encode(),
    "aws event stream": b"".join(
        aws_message({**HEADERS, ":event-type": kind}, json.dumps(payload, ensure_ascii=False).encode())
        for each in DOCUMENTS
        for kind, payload in each.items()
    ),
    "aws chunks": aws_message(
        CHUNK, b'{"bytes": "eyJhIjogeyJ0ZXh0IjogIlx1MDBlOVx1ZDgzZFx1ZGUwMCBdfSwgW3sifX0=", "p": "abc"}'
    )
    + aws_message(CHUNK, b'{"bytes": "eyJiIjogeyJ0ZXh0IjogIlxuXG4ifX0="}'),
}
UNFRAME: Mapping[str, _framing.Unframe] = {
    "server-sent events": _framing.events,
    "lines": _framing.lines,
    "stream+json": _framing.lines,
    "array": _framing.array,
    "aws event stream": _framing.aws_messages,
    "aws chunks": _framing.aws_messages,
}
ALL = pytest.mark.parametrize("framing", FRAMINGS, ids=lambda framing: framing.name)


def every(size: int, body: bytes) -> Iterator[bytes]:
    return (body[at : at + size] for at in range(0, len(body), size))


def unframed(framing: Framing, chunks: Iterable[bytes]) -> list[object]:
    return [json.loads(data) for data in UNFRAME[framing.name](chunks)]


@ALL
def test_frames_are_the_body_and_have_its_documents(framing: Framing) -> None:
    body = BODIES[framing.name]
    frames = list(framing.frames(body))
    assert b"".join(frames) == body
    assert len(frames) == len(DOCUMENTS)
    assert list(framing.documents(body)) == DOCUMENTS
    assert [json.loads(framing.data(frame)) for frame in frames] == DOCUMENTS


@ALL
def test_the_document_of_a_frame_can_be_replaced(framing: Framing) -> None:
    first, last = framing.frames(BODIES[framing.name])
    body = framing.with_data(first, b'{"a": {"text": "other"}}') + last
    assert list(framing.documents(body)) == [{"a": {"text": "other"}}, DOCUMENTS[1]]


@ALL
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_reference_adapters_read_a_stream_in_any_pieces(framing: Framing, size: int) -> None:
    assert unframed(framing, every(size, BODIES[framing.name])) == DOCUMENTS


@ALL
def test_a_stream_that_is_cut_off_is_noticed(framing: Framing) -> None:
    body = BODIES[framing.name]
    cut = body[: body.rindex(b"}") - 1]
    assert b"".join(framing.frames(cut)) == cut
    with pytest.raises(ValueError, match=r".+"):
        unframed(framing, [cut])
    if framing.name != "array":  # an array that is cut off looks like one that goes on
        with pytest.raises(ValueError, match=r".+"):
            list(framing.documents(cut))


@pytest.mark.parametrize("place", [0, 5, 9, 20, -1])
def test_a_corrupt_message_is_noticed(place: int) -> None:
    body = bytearray(BODIES["aws event stream"])
    body[place] ^= 0x55
    aws = framings.named("aws event stream")
    with pytest.raises(ValueError, match=r"wrong|cut off"):
        list(aws.documents(bytes(body)))
    with pytest.raises(ValueError, match=r"corrupt|cut off"):
        unframed(aws, [bytes(body)])


@pytest.mark.parametrize(
    ("content_type", "body", "name"),
    [
        ("text/event-stream; charset=utf-8", b"", "server-sent events"),
        ("application/x-ndjson", b"{}\n", "lines"),
        ("application/json; charset=UTF-8", b' [{"a": 1}]', "array"),
        ("application/json", b'{"a": [1]}', None),
        ("application/json", b"[]", None),
        ("text/html", b"[", None),
    ],
)
def test_the_content_type_decides(content_type: str, body: bytes, name: str | None) -> None:
    framing = framing_of(content_type, body)
    assert (framing and framing.name) == name


@pytest.mark.parametrize("body", [b"", b"a", b"a\n\nb\n\n", b"a\r\n\r\nb", b"\n\na\n\n\nb\n\n", b"a\r\rb\r\r"])
@ALL
def test_the_frames_of_any_body_join_to_it(framing: Framing, body: bytes) -> None:
    assert b"".join(framing.frames(body)) == body


def test_frames_of_events_end_with_their_blank_line() -> None:
    assert list(EVENT_STREAM.frames(b"data: a\n\n: ping\n\ndata: b\r\n\r\nrest")) == [
        b"data: a\n\n",
        b": ping\n\n",
        b"data: b\r\n\r\n",
        b"rest",
    ]


def test_blank_lines_belong_to_the_line_before_them() -> None:
    lines = framings.named("lines")
    assert list(lines.frames(b'\n{"a": 1}\r\n\r\n \n{"b": 2}\n\n')) == [b'\n{"a": 1}\r\n\r\n \n', b'{"b": 2}\n\n']


ERROR = {":message-type": "error", ":error-code": "InternalError", ":error-message": "it is é"}


def test_an_aws_error_is_in_the_headers() -> None:
    aws, message = framings.named("aws event stream"), aws_message(ERROR, b"")
    error = {"error": {"code": "InternalError", "message": "it is é"}}
    assert json.loads(aws.data(message)) == error
    assert unframed(aws, [message]) == [error]
    error["error"]["message"] = "other"
    assert json.loads(aws.data(aws.with_data(message, json.dumps(error).encode()))) == error


@pytest.mark.parametrize("api", ["converse", "invoke"])
def test_the_reference_adapters_raise_an_error_among_the_messages(api: str) -> None:
    (adapter,) = (each for each in bedrock.adapters if each.api == f"bedrock:{api}")
    call = Call(
        "bedrock", api, "m", (), base_url="http://x", path="/", api_key="", stream=True, timeout_s=9, correlation_id=""
    )
    with pytest.raises(LLMError, match="it is é"):
        list(adapter.parse_stream([aws_message(ERROR, b"")], call))


@pytest.mark.parametrize("payload", [b"{}", b"[]", b'{"bytes": 1}', b'{"bytes": "a"}', b"1", b""])
def test_a_malformed_chunk_is_a_value_error(payload: bytes) -> None:
    aws, message = framings.named("aws chunks"), aws_message(CHUNK, payload)
    with pytest.raises(ValueError, match=r".+"):
        aws.data(message)
    with pytest.raises(ValueError, match=r".+"):
        aws.with_data(message, b"{}")


@pytest.mark.parametrize("headers", [HEADERS, ERROR])
@pytest.mark.parametrize("data", [b"{}", b"[]", b"1", b'{"a": 1, "b": 2}', b"x", b'{"error": 1}'])
def test_malformed_data_is_a_value_error(headers: Mapping[str, str], data: bytes) -> None:
    if headers is HEADERS and b"error" in data:
        return
    with pytest.raises(ValueError, match=r".+"):
        framings.named("aws event stream").with_data(aws_message(headers, b"{}"), data)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (aws_message({":message-type": "event", **HEADERS}, b"{}"), "application/vnd.amazon.eventstream"),
        (aws_message({}, b""), "application/vnd.amazon.eventstream"),
        (b"\xef\xbb\xbfdata: {}\n\n", "text/event-stream"),
        (b":\n\ndata: {}\n\n", "text/event-stream"),
        (b"id: 1\ndata: {}\n\n", "text/event-stream"),
        (b'{"a": ":event-type"}', "application/json"),
        (b"{}\n{}\n", "application/x-ndjson"),
        (b"", "application/json"),
    ],
)
def test_the_content_type_of_a_body_is_guessed(body: bytes, content_type: str) -> None:
    assert content_type_of("", body) == content_type


QUICK = settings(max_examples=200, derandomize=True, deadline=None, database=None)
EVENT_LINES = st.one_of(
    st.sampled_from(("", "", "data", "data:", "data: ", ":", ": keep-alive", "event: a", "id: 1", "retry: 7", "x")),
    st.text("adt: \u2028\x0b\x85é😀", max_size=5).map("data:".__add__),
    st.text("adt: \u2028\x0bé", max_size=5),
)


@QUICK
@given(st.lists(EVENT_LINES, max_size=12), st.sampled_from(("\n", "\r\n", "\r")), st.booleans(), st.booleans())
def test_events_are_those_of_sseclient(lines: list[str], line_end: str, has_mark: bool, is_ended: bool) -> None:
    """Line ends are not mixed: sseclient misses a blank line whose end differs from that of the line before."""
    body = (line_end.join(lines) + line_end * is_ended).encode()
    expected = [event.data for event in sseclient.SSEClient(iter([body])).events()]
    assert list(EVENT_STREAM.events(codecs.BOM_UTF8 * has_mark + body)) == expected


def test_events_follow_the_standard_where_sseclient_does_not() -> None:
    assert list(EVENT_STREAM.events(b"data: a\n\r\ndata: b\r\n\ndata: c\r\r\n\n")) == ["a", "b", "c"]


def test_data_that_is_not_utf_8_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        list(EVENT_STREAM.documents(b'data: "\xff"\n\n'))


TEXT = st.text(max_size=20)
MESSAGES = st.lists(
    st.builds(
        aws_message, st.dictionaries(st.text(":-ab", min_size=1, max_size=9), TEXT, max_size=4), st.binary(max_size=40)
    ),
    max_size=3,
)
Message = tuple[dict[str, Any], bytes]


def by_botocore(body: bytes) -> list[Message]:
    """Return headers and payload of each message. Raises ParserError, or ValueError for what is left over."""
    buffer = EventStreamBuffer()
    buffer.add_data(body)
    messages = list(buffer)
    if sum(message.prelude.total_length for message in messages) < len(body):
        raise ValueError("cut off")
    return [(message.headers, message.payload) for message in messages]


def by_us(body: bytes) -> list[Message]:
    return [aws_parts(frame) for frame in AwsEventStream().frames(body)]


@QUICK
@given(MESSAGES)
def test_botocore_reads_our_messages(messages: list[bytes]) -> None:
    assert by_botocore(b"".join(messages)) == [aws_parts(message) for message in messages] == by_us(b"".join(messages))


@QUICK
@given(MESSAGES.filter(bool).map(b"".join), st.data())
def test_botocore_refuses_the_same_corrupt_messages(body: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(body) - 1))
    flipped = body[:at] + bytes([body[at] ^ data.draw(st.integers(1, 255))]) + body[at + 1 :]
    for corrupt in (flipped, body[:at]):
        assert_read_alike(corrupt)


def assert_read_alike(body: bytes) -> None:
    """Check that we read a body as botocore does, or refuse it as botocore does."""
    try:
        expected = by_botocore(body)
    except (ParserError, ValueError):
        with pytest.raises(ValueError, match=r"wrong|cut off"):
            by_us(body)
    else:
        assert by_us(body) == expected


def test_botocore_reads_the_recorded_messages_as_we_do() -> None:
    bodies = [
        interaction.body
        for path in sorted((CASSETTES / "bedrock").glob("*.yaml"))
        if not path.name.endswith(".scenario.yaml")
        for interaction in cassette.load(path).interactions
        if isinstance(interaction.framing, AwsEventStream)
    ]
    assert len(bodies) > 10
    for body in bodies:
        assert_read_alike(body)


def test_a_header_that_is_not_text_is_refused() -> None:
    """AWS has nine types of headers; model streams use text alone."""
    whole = bytearray(aws_message({"a": "b"}, b""))
    whole[14] = 6  # bytes, which have the form of a text
    whole[-4:] = binascii.crc32(whole[:-4]).to_bytes(4, "big")
    assert by_botocore(bytes(whole)) == [({"a": b"b"}, b"")]
    with pytest.raises(ValueError, match="a header is not text"):
        aws_parts(bytes(whole))
