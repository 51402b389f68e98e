"""The network guard: while a call runs, it allows connections only to the replay server.

CPython reports every name look-up and every connection of the process to audit hooks (PEP 578), whichever library makes
it. So nothing has to be patched. The guard does not see native code and child processes. Only a network of the
adapter's own (`llm_conformance.calling.enter`) stops these. An audit hook cannot be removed, and Python calls hooks
very often. So all guards share one hook, which is installed at the first call and does nothing between calls.

If the adapter has a process of its own, the hook is installed at the start, and the guard also acts between calls.
Connections outside of calls, and those of threads that started before the call, are listed separately.
"""

from __future__ import annotations

import functools
import ipaddress
import sys
import sysconfig
import threading
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from llm_conformance.locations import PACKAGE

_STDLIB = sysconfig.get_path("stdlib")
_SUITE = str(PACKAGE)
_REVERSE = 0
"""The number that takes the place of the port in a reverse look-up, which asks for the name of an address.

Such a look-up sends a request to a server, unless the address is the loopback.
"""
_LOCAL_NAMES = frozenset({"", "localhost"})


class NetworkBlockedError(OSError):
    """A connection that the guard refused."""


class Guard:
    """Refuses all connections but those to the `allowed` ports of the loopback, and notes where the refused come from.

    Args:
        allowed: The ports.
        always: Whether the guard also acts between calls.

    Attributes:
        allowed: The ports.
        outside: One line for each connection that was refused outside of calls.
    """

    def __init__(self, allowed: Collection[int], always: bool = False) -> None:
        self.allowed = allowed
        self.outside: list[str] = []
        self._always = always
        self._older_threads: frozenset[int] = frozenset()
        self._active = False
        self._attempts: list[str] = []
        self._ignored_threads: set[int] = set()
        if always:
            _install_hook()
            _REFUSING.add(self)

    @contextmanager
    def watching(self) -> Iterator[list[str]]:
        """Guard the `with` block. Yields a list that gets a line for each refused connection."""
        _install_hook()
        attempts: list[str] = []
        self._attempts = attempts
        if self._always:
            self._older_threads = frozenset(each.ident or 0 for each in threading.enumerate()) - {threading.get_ident()}
        self._active = True
        _REFUSING.add(self)
        try:
            yield attempts
        finally:
            self._active = False
            if not self._ignored_threads and not self._always:
                _REFUSING.discard(self)

    def ignore_thread(self, ident: int) -> None:
        """Refuse the connections of a hung thread until the process ends, without noting them."""
        self._ignored_threads.add(ident)
        _REFUSING.add(self)

    def check(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Raise NetworkBlockedError if an audit event is a connection that has to be refused."""
        thread = threading.get_ident()
        if not self._active and not self._always and thread not in self._ignored_threads:
            return
        target = _target(event, arguments)
        if target is None or self._is_allowed(*target):
            return
        host, port = target
        where = f"{_text(host)}:{port}" if port else _text(host)
        if not self._active or thread in self._older_threads:
            self.outside.append(f"{where}, from {_caller()}")
        elif thread not in self._ignored_threads:
            self._attempts.append(f"{where}, from {_caller()}")
        raise NetworkBlockedError(f"llm-conformance: no connection may leave the replay; {where} was refused")

    def _is_allowed(self, host: Any, port: Any) -> bool:
        if port is None:
            return _is_loopback(host) or _is_address(host)  # a look-up of an address sends nothing
        if port == _REVERSE:
            return _is_loopback(host)
        return port in self.allowed and _is_loopback(host)


_REFUSING: set[Guard] = set()
"""The guards that may refuse a connection at the moment."""


@functools.cache
def _install_hook() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _REFUSING or not event.startswith("socket."):
        return
    for guard in tuple(_REFUSING):
        guard.check(event, arguments)


def _target(event: str, arguments: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """Return (host, port) of an audit event; (host, None) for a name look-up, and None for a harmless event."""
    if event == "socket.getaddrinfo":
        return arguments[0], None
    if event == "socket.gethostbyname":
        return arguments[0], None
    if event == "socket.gethostbyaddr":
        return arguments[0], _REVERSE
    if event == "socket.getnameinfo":
        return arguments[0][0], arguments[0][1]
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        # An address that is a path is a Unix socket; None is a datagram on a connected socket.
        return (address[0], address[1]) if isinstance(address, tuple) and len(address) >= 2 else None
    return None


def _is_loopback(host: Any) -> bool:
    name = _text(host)
    return name in _LOCAL_NAMES or (_is_address(name) and ipaddress.ip_address(name).is_loopback)


def _is_address(host: Any) -> bool:
    try:
        ipaddress.ip_address(_text(host))
    except ValueError:
        return False
    return True


def _text(host: Any) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")


def _is_suite_or_stdlib(filename: str) -> bool:
    return filename.startswith(_SUITE) or (filename.startswith(_STDLIB) and "site-packages" not in filename)


def _caller() -> str:
    """Return file, line and function of the innermost frame outside the standard library and the suite."""
    stack = [frame for frame in traceback.extract_stack() if frame.filename != __file__]
    outside = [frame for frame in stack if not _is_suite_or_stdlib(frame.filename)]
    frame = (outside or stack)[-1]
    return f"{frame.filename}:{frame.lineno} in {frame.name}"
