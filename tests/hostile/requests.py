"""Methods that send requests, and send none, too many, or wrong ones."""

from __future__ import annotations

import http.client
import socket
from typing import Any
from urllib.parse import urlsplit

from llm_conformance.contract import Call
from tests.hostile.expected import breaks, fault, right
from tests.hostile.healthy import answer, asked, complete, stream, whole


def _connected(call: Call) -> socket.socket:
    url = urlsplit(call.base_url)
    return socket.create_connection((url.hostname, url.port), timeout=call.timeout_s)


@fault("never asked call.base_url for anything")
def an_answer_without_a_request(call: Call) -> Any:
    return answer()


@fault("never asked call.base_url for anything", method="stream")
def a_stream_without_a_request(call: Call) -> Any:
    return whole()


@fault("before it asked call.base_url for anything")
def an_error_before_the_request(call: Call) -> Any:
    raise RuntimeError("no client")


@fault("before it asked call.base_url for anything", "SHP-1", "PRV-11")
def another_host(call: Call) -> Any:
    http.client.HTTPConnection("192.0.2.1", timeout=1).request("GET", "/")


@fault("before it asked call.base_url for anything", "SHP-1", "PRV-11")
def a_name_that_is_looked_up(call: Call) -> Any:
    socket.getaddrinfo("example.invalid", 443)


@fault("never asked call.base_url for anything")
def a_connection_without_a_request(call: Call) -> Any:
    _connected(call).close()
    return answer()


@fault("never asked call.base_url for anything")
def half_a_request(call: Call) -> Any:
    with _connected(call) as connection:
        connection.sendall(b"POST /exch")
    return answer()


@fault("never asked call.base_url for anything")
def a_request_that_is_no_http(call: Call) -> Any:
    with _connected(call) as connection:
        connection.sendall(b"\x16\x03\x01\x00\xff" * 9 + b"\r\n\r\n")
    return answer()


@right
def a_connection_that_is_left_open(call: Call) -> Any:
    _OPEN.append(_connected(call))
    return complete(call)


_OPEN: list[Any] = []


@breaks("PRV-11")
def another_host_beside_the_right_one(call: Call) -> Any:
    try:
        http.client.HTTPConnection("192.0.2.1", timeout=1).request("GET", "/")
    except OSError:
        return complete(call)


@breaks("PRV-11", method="stream")
def another_host_in_the_midst_of_a_stream(call: Call) -> Any:
    for each in stream(call):
        yield each
        try:
            http.client.HTTPConnection("192.0.2.1", timeout=1).request("GET", "/")
        except OSError:
            continue


@right
def a_body_that_is_not_read(call: Call) -> Any:
    asked(call).close()
    return answer()


@breaks("RPL-4")
def a_request_that_asks_something_else(call: Call) -> Any:
    asked(call, messages=[{"role": "user", "content": "Hi."}]).read()
    return answer()


@breaks("RPL-4")
def a_request_for_another_model(call: Call) -> Any:
    asked(call, model="deepseek-chat").read()
    return answer()


@fault("raised RuntimeError: after the answer")
def an_error_after_the_answer(call: Call) -> Any:
    complete(call)
    raise RuntimeError("after the answer")


@right
async def an_asynchronous_method(call: Call) -> Any:
    return complete(call)
