"""Ways out to the network: each function tries to reach a port of this machine that is not the replay's.

The audit hook of Python sees a `python_way`. It does not see a `child_way`, which starts another program, or a
`native_way`, which calls the system past Python: only a network namespace stops these.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import ctypes
import ftplib
import http.client
import imaplib
import multiprocessing
import os
import poplib
import smtplib
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
import urllib.request
import weakref
import xmlrpc.client
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Function = Callable[[int], Any]
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Way:
    """A way out.

    Attributes:
        run: Tries to reach a port.
        seen_by_hook: Whether Python's audit hook sees it, and so stops it in a process that shares our network.
        packets: Whether it sends packets without a connection.
        is_named: Whether the record of the connection names the place in this module.
    """

    run: Function
    seen_by_hook: bool
    packets: bool = False
    is_named: bool = True


WAYS: dict[str, Way] = {}


def python_way(function: Function) -> Function:
    """Add a way that Python makes."""
    WAYS[function.__name__] = Way(function, seen_by_hook=True)
    return function


def packets(function: Function) -> Function:
    """Add a way that Python makes, and that sends packets without a connection."""
    WAYS[function.__name__] = Way(function, seen_by_hook=True, packets=True)
    return function


def unnamed(function: Function) -> Function:
    """Add a way that Python makes, from code without a file, or out of sight of the caller."""
    WAYS[function.__name__] = Way(function, seen_by_hook=True, is_named=False)
    return function


def child_way(function: Function) -> Function:
    """Add a way by another program."""
    WAYS[function.__name__] = Way(function, seen_by_hook=False)
    return function


native_way = child_way


@python_way
def connect(port: int) -> None:
    with socket.socket() as own:
        own.connect((HOST, port))


@python_way
def connect_ex(port: int) -> None:
    with socket.socket() as own:
        own.connect_ex((HOST, port))


@python_way
def connect_without_waiting(port: int) -> None:
    with socket.socket() as own:
        own.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            own.connect((HOST, port))


@python_way
def create_connection(port: int) -> None:
    socket.create_connection((HOST, port), 1).close()


@python_way
def create_connection_by_name(port: int) -> None:
    socket.create_connection(("localhost", port), 1).close()


@python_way
def connect_to_any_address(port: int) -> None:
    socket.create_connection(("0.0.0.0", port), 1).close()


@python_way
def connect_to_a_short_address(port: int) -> None:
    socket.create_connection(("127.1", port), 1).close()


@python_way
def connect_to_another_loopback_address(port: int) -> None:
    socket.create_connection(("127.0.0.2", port), 1).close()


@python_way
def connect_by_a_mapped_address(port: int) -> None:
    with socket.socket(socket.AF_INET6) as own:
        own.connect((f"::ffff:{HOST}", port))


@python_way
def connect_with_a_bound_address(port: int) -> None:
    socket.create_connection((HOST, port), 1, source_address=(HOST, 0)).close()


@python_way
def connect_by_a_subclass(port: int) -> None:
    class Own(socket.socket):
        pass

    with Own() as own:
        own.connect((HOST, port))


@python_way
def connect_by_the_module_of_c(port: int) -> None:
    import _socket

    own = _socket.socket()
    own.connect((HOST, port))
    own.close()


@python_way
def connect_from_a_copied_descriptor(port: int) -> None:
    with socket.socket() as own, socket.socket(fileno=os.dup(own.fileno())) as other:
        other.connect((HOST, port))


@python_way
def connect_twice(port: int) -> None:
    with contextlib.suppress(OSError):
        connect(port)
    connect(port)


@python_way
def http_client(port: int) -> None:
    http.client.HTTPConnection(HOST, port, timeout=1).request("GET", "/")


@python_way
def urlopen(port: int) -> None:
    urllib.request.urlopen(f"http://{HOST}:{port}/", timeout=1)


@python_way
def urlopen_with_a_proxy(port: int) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": f"http://{HOST}:{port}"}))
    opener.open("http://provider.example/", timeout=1)


@python_way
def urlopen_of_ftp(port: int) -> None:
    urllib.request.urlopen(f"ftp://{HOST}:{port}/x", timeout=1)


@python_way
def urlretrieve(port: int) -> None:
    urllib.request.urlretrieve(f"http://{HOST}:{port}/")


@python_way
def ftp(port: int) -> None:
    ftplib.FTP().connect(HOST, port, timeout=1)


@python_way
def smtp(port: int) -> None:
    smtplib.SMTP(HOST, port, timeout=1)


@python_way
def imap(port: int) -> None:
    imaplib.IMAP4(HOST, port, timeout=1)


@python_way
def pop(port: int) -> None:
    poplib.POP3(HOST, port, timeout=1)


@python_way
def xml_rpc(port: int) -> None:
    xmlrpc.client.ServerProxy(f"http://{HOST}:{port}").ping()


@python_way
def tls(port: int) -> None:
    with socket.socket() as own, ssl.create_default_context().wrap_socket(own, server_hostname="x") as secured:
        secured.connect((HOST, port))


@python_way
def logging_by_http(port: int) -> None:
    import logging.handlers

    record = logging.makeLogRecord({"msg": "hello"})
    handler = logging.handlers.HTTPHandler(f"{HOST}:{port}", "/")
    handler.handleError = _raise  # type: ignore[assignment]
    handler.emit(record)


@python_way
def logging_by_socket(port: int) -> None:
    import logging.handlers

    handler = logging.handlers.SocketHandler(HOST, port)
    handler.handleError = _raise  # type: ignore[assignment]
    handler.emit(logging.makeLogRecord({"msg": "hello"}))


@python_way
def manager_of_processes(port: int) -> None:
    from multiprocessing.managers import BaseManager

    BaseManager((HOST, port), b"x").connect()


@python_way
def client_of_processes(port: int) -> None:
    from multiprocessing.connection import Client

    Client((HOST, port)).close()


@python_way
def open_connection(port: int) -> None:
    asyncio.run(_open(port))


@python_way
def asyncio_in_a_thread(port: int) -> None:
    _in_thread(lambda: asyncio.run(_open(port)))


@python_way
def sock_connect(port: int) -> None:
    async def go() -> None:
        with socket.socket() as own:
            own.setblocking(False)
            await asyncio.get_running_loop().sock_connect(own, (HOST, port))

    asyncio.run(go())


@python_way
def happy_eyeballs(port: int) -> None:
    async def go() -> None:
        await asyncio.open_connection("localhost", port, happy_eyeballs_delay=0.01)

    asyncio.run(go())


@python_way
def thread(port: int) -> None:
    _in_thread(lambda: connect(port))


@python_way
def timer(port: int) -> None:
    own = threading.Timer(0.01, connect, [port])
    own.start()
    own.join()


@python_way
def executor(port: int) -> None:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(connect, port).result()


@python_way
def finalizer(port: int) -> None:
    class Held:
        pass

    weakref.finalize(Held(), connect, port)


@python_way
def deletion(port: int) -> None:
    class Held:
        def __del__(self) -> None:
            connect(port)

    Held()


@python_way
def exit_handler(port: int) -> None:
    atexit.register(connect, port)
    atexit._run_exitfuncs()


@python_way
def generator_that_is_closed(port: int) -> None:
    def go() -> Any:
        try:
            yield
        finally:
            connect(port)

    next(go())


@unnamed
def code_that_is_compiled(port: int) -> None:
    exec(f"import socket; socket.create_connection(({HOST!r}, {port}))", {})


@python_way
def server_that_answers_itself(port: int) -> None:
    with socketserver.TCPServer((HOST, 0), socketserver.BaseRequestHandler):
        connect(port)


@python_way
def patched_module(port: int) -> None:
    socket.socket.connect = socket.socket.connect  # type: ignore[method-assign]
    connect(port)


@python_way
def hook_that_is_added(port: int) -> None:
    sys.addaudithook(lambda *_: None)
    connect(port)


ELSEWHERE = "198.51.100.7"
"""An address of nobody (RFC 5737)."""
NAME = "provider.example"


@python_way
def look_up_a_name(port: int) -> None:
    socket.getaddrinfo(NAME, port)


@python_way
def look_up_a_name_by_gethostbyname(port: int) -> None:
    socket.gethostbyname(NAME)


@python_way
def look_up_a_name_by_gethostbyname_ex(port: int) -> None:
    socket.gethostbyname_ex(NAME)


@python_way
def look_up_an_address(port: int) -> None:
    socket.gethostbyaddr(ELSEWHERE)


@python_way
def look_up_the_full_name_of_an_address(port: int) -> None:
    socket.getfqdn(ELSEWHERE)


@python_way
def look_up_an_address_with_a_port(port: int) -> None:
    socket.getnameinfo((ELSEWHERE, port), 0)


@unnamed
def look_up_a_name_in_asyncio(port: int) -> None:
    async def go() -> None:
        await asyncio.get_running_loop().getaddrinfo(NAME, port)

    asyncio.run(go())


@python_way
def connect_to_a_name(port: int) -> None:
    socket.create_connection((NAME, port), 1)


@python_way
def urlopen_of_a_name(port: int) -> None:
    urllib.request.urlopen(f"https://{NAME}/", timeout=1)


@python_way
def connect_elsewhere(port: int) -> None:
    socket.create_connection((ELSEWHERE, port), 0.1)


@python_way
def connect_to_the_other_loopback(port: int) -> None:
    with socket.socket(socket.AF_INET6) as own:
        own.connect(("::1", port))


@packets
def datagram_elsewhere(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.sendto(b"hello", (ELSEWHERE, port))


@packets
def datagram_to_all(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        own.sendto(b"hello", ("255.255.255.255", port))


@packets
def datagram_to_a_group(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.sendto(b"hello", ("224.0.0.251", port))


@packets
def datagram(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.sendto(b"hello", (HOST, port))


@packets
def datagram_by_message(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.sendmsg([b"hello"], [], 0, (HOST, port))


@packets
def datagram_of_a_connected_socket(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.connect((HOST, port))
        own.send(b"hello")


@packets
def datagram_of_asyncio(port: int) -> None:
    async def go() -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=(HOST, port))
        transport.sendto(b"hello")

    asyncio.run(go())


@packets
def system_log(port: int) -> None:
    import logging.handlers

    handler = logging.handlers.SysLogHandler((HOST, port))
    handler.handleError = _raise  # type: ignore[assignment]
    handler.emit(logging.makeLogRecord({"msg": "hello"}))


@packets
def datagram_to_a_mapped_address(port: int) -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as own:
        own.sendto(b"hello", (f"::ffff:{HOST}", port))


def _program(port: int) -> list[str]:
    code = f"import socket; socket.create_connection(({HOST!r}, {port}), 1).sendall(b'hello')"
    return [sys.executable, "-IS", "-c", code]


@child_way
def child(port: int) -> None:
    subprocess.run(_program(port), check=False, stderr=subprocess.DEVNULL)


@child_way
def child_in_a_session_of_its_own(port: int) -> None:
    subprocess.run(_program(port), check=False, stderr=subprocess.DEVNULL, start_new_session=True)


@child_way
def child_without_an_environment(port: int) -> None:
    subprocess.run(_program(port), check=False, stderr=subprocess.DEVNULL, env={})


@child_way
def child_of_a_shell(port: int) -> None:
    subprocess.run(["bash", "-c", f"echo hello >/dev/tcp/{HOST}/{port}"], check=False, stderr=subprocess.DEVNULL)


@child_way
def child_by_system(port: int) -> None:
    os.system(f"bash -c 'echo hello >/dev/tcp/{HOST}/{port}' 2>/dev/null")


@child_way
def child_by_popen(port: int) -> None:
    os.popen(f"bash -c 'echo hello >/dev/tcp/{HOST}/{port}' 2>/dev/null").read()


@child_way
def child_by_spawn(port: int) -> None:
    command = _program(port)
    os.waitpid(os.posix_spawn(command[0], command, os.environ), 0)


@child_way
def child_by_spawnv(port: int) -> None:
    command = _program(port)
    os.spawnv(os.P_WAIT, command[0], command)


@child_way
def child_of_a_child(port: int) -> None:
    program = _program(port)
    code = f"import subprocess; subprocess.run({program!r}, stderr=subprocess.DEVNULL)"
    subprocess.run([sys.executable, "-IS", "-c", code], check=False)


@child_way
def child_of_asyncio(port: int) -> None:
    async def go() -> None:
        own = await asyncio.create_subprocess_exec(*_program(port), stderr=asyncio.subprocess.DEVNULL)
        await own.wait()

    asyncio.run(go())


@child_way
def child_of_multiprocessing(port: int) -> None:
    code = f"import socket; socket.create_connection(({HOST!r}, {port}), 1).sendall(b'hello')"
    own = multiprocessing.get_context("spawn").Process(target=exec, args=(code, {}))
    own.start()
    own.join()


@child_way
def child_that_becomes_another_program(port: int) -> None:
    command = _program(port)
    if (process := os.fork()) == 0:
        os.execv(command[0], command)
    os.waitpid(process, 0)


@unnamed
def forked_child(port: int) -> None:
    if (process := os.fork()) == 0:
        with contextlib.suppress(BaseException):
            connect(port)
        os._exit(0)
    os.waitpid(process, 0)
    raise OSError("the child was refused, or was not")


def _address(port: int) -> bytes:
    return struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton(HOST))


@native_way
def connect_of_c(port: int) -> None:
    libc = ctypes.CDLL(None)
    own = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    libc.connect(own, _address(port), 16)
    libc.close(own)


@native_way
def connect_of_c_with_a_socket_of_python(port: int) -> None:
    with socket.socket() as own:
        ctypes.CDLL(None).connect(own.fileno(), _address(port), 16)


@native_way
def connect_of_c_in_a_thread(port: int) -> None:
    _in_thread(lambda: connect_of_c(port))


@native_way
def call_of_the_system(port: int) -> None:
    libc = ctypes.CDLL(None)
    with socket.socket() as own:
        number = 42 if os.uname().machine == "x86_64" else 203
        libc.syscall(number, own.fileno(), _address(port), 16)


async def _open(port: int) -> None:
    _, writer = await asyncio.open_connection(HOST, port)
    writer.close()


def _in_thread(action: Callable[[], Any]) -> None:
    failed: list[BaseException] = []

    def run() -> None:
        try:
            action()
        except BaseException as error:
            failed.append(error)

    own = threading.Thread(target=run)
    own.start()
    own.join()
    if failed:
        raise failed[0]


def _raise(*_: Any) -> None:
    raise
