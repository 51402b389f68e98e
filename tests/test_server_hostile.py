"""Servers that mean harm, or speak something else: each run ends, and says in one message why."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from llm_conformance.cli.main import main
from tests.servers.reference import KEY

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
MESSAGE = {"role": "assistant", "content": "Paris"}
ANSWER = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
ANSWER["choices"] = [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]
Answer = Callable[[socket.socket, bytes], None]


def first(connection: socket.socket, sent: bytes) -> None:
    """Answer as documented."""
    body = json.dumps(ANSWER).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
    connection.sendall(head % len(body) + body)


@contextmanager
def serving(*answers: Answer, family: int = socket.AF_INET, host: str = "127.0.0.1") -> Iterator[str]:
    """Yield the base URL of a server that answers each connection otherwise; the last answer is for all others."""
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.bind((host, 0))
        listening.listen()

        def serve() -> None:
            for number in range(1000):
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(20)
                    try:
                        sent = b""
                        while b"}" not in sent:
                            sent += connection.recv(65536)
                        answers[min(number, len(answers) - 1)](connection, sent)
                    except OSError:
                        pass

        threading.Thread(target=serve, daemon=True).start()
        port = listening.getsockname()[1]
        try:
            yield f"http://[{host}]:{port}/v1" if family == socket.AF_INET6 else f"http://{host}:{port}/v1"
        finally:
            listening.shutdown(socket.SHUT_RDWR)


def judged(url: str, directory: Path, *options: str) -> int:
    """Ask a server the simplest conversation; write all that a run can write."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REFERENCE_KEY", KEY)
        written = [
            f"--keep={directory}/kept",
            *(f"--report={directory}/report.{form}" for form in ("json", "html", "md")),
        ]
        named = ["--model=m", "--key-env=REFERENCE_KEY", "--conversation=plain"]
        return main(["server", url, *named, *written, *options])


def test_a_stream_without_end_is_read_no_further_than_an_answer_can_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def endless(connection: socket.socket, sent: bytes) -> None:
        connection.sendall(HEAD)
        while True:
            connection.sendall(b"data: {}\n\n" * 6000)

    with serving(first, endless) as url:
        assert judged(url, tmp_path, "--max-tokens=1", "--rule=WIRE-2") == 1

    assert "expected a complete body; got broken: it is too long, after 52" in capsys.readouterr().out
    assert sum(each.stat().st_size for each in (tmp_path / "kept").iterdir()) < 2_000_000


def encoded(body: bytes, encoding: bytes, status: bytes = b"200 OK") -> Answer:
    """Return what answers with a body that is said to be encoded."""
    head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-encoding: %s\r\ncontent-length: %d\r\n\r\n"
    return lambda connection, _: connection.sendall(head % (status, encoding, len(body)) + body)


BOMB = gzip.compress(bytes(16 * 1024 * 1024)) * 75
"""A body of 1.2 million bytes that expands to 1.2 gigabytes: members of gzip may be joined."""


@pytest.mark.parametrize(("body", "encoding"), [(BOMB, b"gzip"), (b"\x8b\x02\x80{}\x03", b"br")], ids=["bomb", "br"])
def test_a_body_that_is_encoded_is_a_finding_and_is_not_decoded(
    body: bytes, encoding: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    tracemalloc.start()
    try:
        with serving(encoded(body, encoding)) as url:
            assert judged(url, tmp_path) == 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    out = capsys.readouterr().out
    assert f"Found      expected no content encoding; got {encoding.decode()}\n" in out
    assert "1 finding: " in out
    assert peak < 64 * 1024 * 1024
    assert time.monotonic() - began < 60
    assert sum(each.stat().st_size for each in (tmp_path / "kept").iterdir()) < 100_000


def test_an_error_that_is_encoded_ends_the_run_with_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(encoded(gzip.compress(KEY.encode()), b"gzip", b"400 No")) as url:
        assert judged(url, tmp_path) == 4

    told = "with status 400: it has the content encoding gzip, and the request accepts none\n"
    assert capsys.readouterr().err.endswith(told)


@pytest.mark.parametrize("encoding", [b"identity", b"none", b"utf-8", b""])
def test_what_is_no_encoding_is_read_as_it_is(encoding: bytes, tmp_path: Path) -> None:
    with serving(encoded(json.dumps(ANSWER).encode(), encoding)) as url:
        assert judged(url, tmp_path, "--mode=json", "--rule=WIRE-29", "--rule=WIRE-4") == 0


def test_an_encoded_answer_that_repeats_the_key_is_in_no_file(tmp_path: Path) -> None:
    whole = gzip.compress(KEY.encode())
    with serving(encoded(whole, b"x, GZIP")) as url:
        assert judged(url, tmp_path) == 1

    kept = [json.loads(each.read_text("utf-8")) for each in sorted((tmp_path / "kept").glob("plain*"))]
    assert [each["interactions"][0]["response"]["body"] for each in kept] == [{"string": ""}] * 3
    assert main(["server", f"--replay={tmp_path}/kept", "--conversation=plain"]) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"\x00\xff\x17 no HTTP \x80\r\n", "nothing that is HTTP (broken: RemoteProtocolError)"),
        (b"", "nothing that is HTTP (broken: RemoteProtocolError)"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: %s\r\n" % (b"a" * 1_000_000), "nothing that is HTTP (broken: "),
        (b"HTTP/1.1 401 No\r\ncontent-length: 42\r\n\r\nno: %s" % KEY.encode(), "status 401: no: redacted"),
        (b"HTTP/1.1 400 No\r\ncontent-length: 4\r\n\r\n\x1b[2J", r"status 400: \x1b[2J"),
        (b"HTTP/1.1 400 No\r\ncontent-length: 0\r\n\r\n", "the simplest request with status 400\n"),
    ],
    ids=["garbage", "nothing", "huge header", "key", "escapes", "empty"],
)
def test_what_is_no_answer_ends_the_run_with_one_message(
    answer: bytes, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(lambda connection, _: connection.sendall(answer)) as url:
        assert judged(url, tmp_path) == 4

    errors = capsys.readouterr().err
    assert told in errors
    assert KEY not in errors
    assert errors.count("\n") == 1


def test_a_server_that_says_nothing_ends_the_run_at_the_time_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    is_over = threading.Event()

    def silent(connection: socket.socket, sent: bytes) -> None:
        is_over.wait(10)

    with serving(silent) as url:
        assert judged(url, tmp_path, "--timeout=0.5") == 4
        is_over.set()

    assert "answers the simplest request with nothing within " in capsys.readouterr().err


def test_a_head_that_comes_byte_by_byte_ends_at_the_time_limit_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def slow(connection: socket.socket, sent: bytes) -> None:
        for byte in HEAD[:-2] + b"x: 1\r\n" * 100:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)

    began = time.monotonic()
    with serving(slow) as url:
        assert judged(url, tmp_path, "--timeout=1") == 4

    assert "answers the simplest request with nothing within " in capsys.readouterr().err
    assert time.monotonic() - began < 15  # the head takes 35 seconds


def test_a_connection_that_the_server_closes_behind_an_answer_is_no_fault(tmp_path: Path) -> None:
    def closing(connection: socket.socket, sent: bytes) -> None:
        body = json.dumps(ANSWER).encode()
        connection.sendall(HEAD.split(b"content-type")[0] + b"content-length: %d\r\n\r\n" % len(body) + body)

    with serving(closing) as url:
        assert judged(url, tmp_path, "--rule=WIRE-2") == 0


def test_a_key_in_pieces_is_in_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def pieces(connection: socket.socket, sent: bytes) -> None:
        deltas = ({"choices": [{"index": 0, "delta": {"content": each}}]} for each in KEY)
        events = b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in deltas)
        connection.sendall(HEAD.replace(b"\r\n\r\n", b"\r\nx-seen: %s\r\n\r\n" % KEY.encode()) + events)

    with serving(first, pieces) as url:
        assert judged(url, tmp_path, "-v") == 1

    files = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert len(files) == 3 + 4
    texts = [capsys.readouterr().out, *(each.read_text("utf-8") for each in files)]
    assert "unsafe: SRV-3" in texts[0]
    assert [each for each in texts if KEY in each or f'"{KEY[0]}"' in each] == []


SECRET = "pw-9f8e7d6c5b4a39281706"


@pytest.mark.parametrize(
    "url",
    [
        f"http://127.0.0.1:9/v1?key={SECRET}",
        f"http://127.0.0.1:9/v1/chat?x=1&key={SECRET}",
        f"http://user:{SECRET}@127.0.0.1:9/v1",
        f"http://{SECRET}@127.0.0.1:9/v1",
        f"http://127.0.0.1:9/v1#{SECRET}",
        "http:///v1",
        "http://127.0.0.1:0/v1",
        "http://127.0.0.1:65536/v1",
        "http://xn--/v1",
        "http://a..b/v1",
        f"http://{'a' * 64}/v1",
        "http://[::1/v1",
        "ftp://127.0.0.1/v1",
        "127.0.0.1:9/v1",
    ],
)
def test_what_is_no_base_url_is_refused_in_one_message_that_does_not_repeat_it(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged(url, tmp_path, "--yes") == 4

    out, errors = capsys.readouterr()
    assert (out, errors.count("\n")) == ("", 1)
    assert "give the base URL of the server, such as http://localhost:8080/v1, without a user, a query" in errors
    assert SECRET not in errors
    assert list(tmp_path.rglob("*")) == []


def test_a_host_that_does_not_exist_ends_the_run_with_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged("http://nowhere.invalid/v1", tmp_path, "--yes") == 4  # RFC 6761 keeps this name free

    errors = capsys.readouterr().err
    assert errors.endswith("http://nowhere.invalid/v1: this machine finds no such host; is the name right?\n")
    assert errors.count("\n") == 1


def test_a_server_without_tls_at_https_ends_the_run_with_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")

        threading.Thread(target=refuse, daemon=True).start()
        url = f"https://127.0.0.1:{listening.getsockname()[1]}/v1"
        assert judged(url, tmp_path) == 4

    errors = capsys.readouterr().err
    assert errors.endswith(f"{url}: it does not speak TLS; is it at http:// instead?\n")
    assert errors.count("\n") == 1


def test_a_server_that_waits_for_more_at_https_ends_the_run_with_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert judged(f"https://127.0.0.1:{listening.getsockname()[1]}/v1", tmp_path, "--timeout=0.5") == 4

    errors = capsys.readouterr().err
    assert errors.endswith("; if it does not speak TLS, it is at http:// instead\n")
    assert errors.count("\n") == 1


def test_a_server_at_an_address_of_ipv6_is_asked(tmp_path: Path) -> None:
    try:
        with serving(first, family=socket.AF_INET6, host="::1") as url:
            assert judged(url, tmp_path, "--mode=json", "--rule=WIRE-4") == 0
    except OSError:
        pytest.skip("this machine has no IPv6")


TAMPERED = {
    "no JSON": lambda text: text[:-20],
    "no list": lambda text: text.replace('"interactions"', '"others"'),
    "status": lambda text: text.replace('"code": 200', '"code": "many"'),
    "mode": lambda text: text.replace('"mode": "json"', '"mode": "../../x"'),
    "number": lambda text: text.replace('"number": 1', '"number": "1"'),
    "request": lambda text: text.replace('"body": "{', '"body": "['),
    "arrival": lambda text: text.replace('"arrival": [', '"arrival": [7, '),
    "conversation": lambda text: text.replace('"conversation": "plain"', '"conversation": 7'),
    "header": lambda text: text.replace('"content-type": [', '"content-type": [7, '),
    "half a character": lambda text: text.replace("Paris", "\\ud83d"),
    "another answer": lambda text: text.replace('"conversation": "plain"', '"conversation": "system"'),
    "deep": lambda text: "[" * 100_000,
}


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED)
def test_kept_answers_that_were_changed_are_refused_in_one_message(
    change: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(first) as url:
        judged(url, tmp_path, "--mode=json")
    path = tmp_path / "kept" / "plain.json.json"
    text = path.read_text("utf-8")
    path.write_text(change(text), "utf-8")
    assert path.read_text("utf-8") != text
    capsys.readouterr()

    assert main(["server", f"--replay={tmp_path}/kept"]) == 4

    errors = capsys.readouterr().err
    assert f"llm-conformance: {path}:1: is " in errors
    assert errors.count("\n") == 1
