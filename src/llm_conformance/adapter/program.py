"""Adapters in other languages: a program that reads one JSON object a line, and answers in lines.

| asked | answered |
|---|---|
| `{"op": "describe"}` | `{"name", "version", "providers", "capabilities"?, "errors"?, "methods"?}` |
| `{"op": "complete", "call": {...}}` | `{"response": {...}}` or `{"error": {...}}` |
| `{"op": "stream", "call": {...}}` | any number of `{"event": {...}}`, then `{"done": true}` or `{"error": {...}}` |

`methods` are those of `complete` and `stream` that the program has; without it, both. An error has an `error_type` (a
class name of its own or of the contract) and a `message`, and where there are any `status_code`, `provider`,
`original_error` and `extra_context`. What the program writes to its standard error is passed through.

A program that hangs, dies or writes what is no answer has failed that call, and is started anew for the next.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from llm_conformance.contract import Call

PREFIX = "cmd:"
METHODS = ("complete", "stream")
LONGEST_LINE = 16 * 1024 * 1024
DESCRIBED_WITHIN_S = 20.0
_ENDS_WITHIN_S = 2.0


class ProgramError(Exception):
    """The program did not do what the protocol asks; the message says what it did instead."""


class ReportedError(Exception):
    """An error that the program answered with; its class is named as the program says."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        super().__init__(said.get("message"), dict(said))
        self.provider = said.get("provider")
        self.status_code = said.get("status_code")
        self.original_error = said.get("original_error")
        self.extra_context = said.get("extra_context")

    def __str__(self) -> str:
        """Return what the program says."""
        return str(self.args[0])


class ProgramAdapter:
    """An adapter whose methods are those of a program, which runs as long as it answers.

    Args:
        command: The command line.
        directory: Where it runs.

    Raises ProgramError if the program does not describe itself.
    """

    def __init__(self, command: str, directory: Path) -> None:
        self._command = shlex.split(command)
        self._directory = directory
        self._running_now: tuple[subprocess.Popen[bytes], _Lines] | None = None
        self._busy = False
        said = self._describe()
        self.name = said.get("name")
        self.version = said.get("version")
        self.providers = said.get("providers", ())
        self.errors = said.get("errors")
        if "capabilities" in said:
            self.capabilities = said["capabilities"]
        for method in METHODS:
            if method not in said.get("methods", METHODS):
                setattr(self, method, None)

    def complete(self, call: Call) -> Mapping[str, Any]:
        """Have the program answer a call."""
        for line in self._ask({"op": "complete", "call": call.to_dict()}):
            if "response" in line:
                return _mapping(line["response"], "response")
            raise ProgramError(f"the program answered {_shown(line)}, with neither `response` nor `error`")
        raise ProgramError("the program answered `done`, with no response before")

    def stream(self, call: Call) -> Iterator[Mapping[str, Any]]:
        """Have the program answer a call, event by event."""
        for line in self._ask({"op": "stream", "call": call.to_dict()}):
            if "event" not in line:
                raise ProgramError(f"the program answered {_shown(line)}, with neither `event`, `done` nor `error`")
            yield _mapping(line["event"], "event")

    def close(self) -> None:
        """End the program."""
        running, self._running_now = self._running_now, None
        if running is None:
            return
        process, _ = running
        with contextlib.suppress(OSError):
            _pipe(process.stdin).close()  # the polite way: most programs end when nothing more comes
        try:
            process.wait(0 if self._busy else _ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _pipe(process.stdout).close()

    def _describe(self) -> Mapping[str, Any]:
        """Return what the program says of itself; one that says nothing in time is ended, which ends the waiting."""
        timer = threading.Timer(DESCRIBED_WITHIN_S, self.close)
        timer.start()
        try:
            said = next(self._ask({"op": "describe"}), None)
            if said is None:
                raise ProgramError("it said nothing")
            self._busy = False
            return said
        except (ProgramError, ReportedError, OSError) as error:
            self.close()
            raise ProgramError(f"the program was asked to describe itself: {error}") from error
        finally:
            timer.cancel()

    def _ask(self, question: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Ask, and yield the lines of the answer up to its end. Raises ReportedError for an error in it."""
        process, lines = self._running()
        self._busy = True
        try:
            _pipe(process.stdin).write(json.dumps(question).encode() + b"\n")
            _pipe(process.stdin).flush()
        except OSError as error:
            raise ProgramError(f"the program takes no question: {_end(process)}") from error
        while True:
            line = _line(process, lines)
            if "error" in line:
                self._busy = False
                raise _reported(_mapping(line["error"], "error"))
            if line.get("done") is True:
                self._busy = False
                return
            # After a response nothing more comes; whoever stops reading a stream leaves the program busy.
            self._busy = "response" not in line
            yield line

    def _running(self) -> tuple[subprocess.Popen[bytes], _Lines]:
        """Return the program: the one that runs, or a new one if it died, or has not finished what it was asked."""
        if self._running_now is not None and (self._busy or self._running_now[0].poll() is not None):
            self.close()
        if self._running_now is not None and self._running_now[1].are_left:
            self.close()
            raise ProgramError("the program wrote more lines than it was asked for, after its answer before")
        if self._running_now is None:
            self._busy = False
            process = subprocess.Popen(  # noqa: S603 - it is what the user named
                self._command, cwd=self._directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
            self._running_now = (process, _Lines(process))
        return self._running_now


class _Lines:
    """What a program writes, line by line; the bytes are kept here, so that it can be seen whether there are more."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._output = _pipe(process.stdout).fileno()
        self._bytes = bytearray()

    def next(self) -> bytes:
        """Return the next line, b"" at the end."""
        searched = 0
        while (end := self._bytes.find(b"\n", searched)) < 0:
            searched = len(self._bytes)
            if searched > LONGEST_LINE:
                raise ProgramError(f"the program wrote a line of more than {LONGEST_LINE} bytes")
            more = os.read(self._output, 65536)
            if not more:
                return b""
            self._bytes += more
        line = bytes(self._bytes[: end + 1])
        del self._bytes[: end + 1]
        return line

    @property
    def are_left(self) -> bool:
        """Whether the program has written more than was asked for."""
        return bool(self._bytes) or bool(select.select([self._output], [], [], 0)[0] and self._process.poll() is None)


def _line(process: subprocess.Popen[bytes], lines: _Lines) -> Mapping[str, Any]:
    try:
        raw = lines.next()
    except OSError as error:  # closed, as the call was given up
        raise ProgramError("the program was ended") from error
    if not raw:
        raise ProgramError(_end(process))
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError) as error:
        text = raw.decode("utf-8", "replace")
        raise ProgramError(
            f"the program wrote a line that is no JSON (logs go to standard error): {_shown(text)}"
        ) from error
    return _mapping(line, "line")


def _end(process: subprocess.Popen[bytes]) -> str:
    try:
        return f"it ended with exit code {process.wait(_ENDS_WITHIN_S)} instead of an answer"
    except subprocess.TimeoutExpired:
        return "it closed its output instead of an answer"


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ProgramError(f"the program's {what} is no JSON object: {_shown(value)}")
    return value


def _reported(said: Mapping[str, Any]) -> ReportedError:
    name = said.get("error_type")
    kind: type[ReportedError] = type(name if isinstance(name, str) else "ReportedError", (ReportedError,), {})
    return kind(said)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:120]} ..."


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - both are pipes; for the type checker
    return pipe
