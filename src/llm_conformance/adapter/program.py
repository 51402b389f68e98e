"""Adapters in other languages: a program that reads one JSON object per line and answers in lines.

| line to the program | answer |
|---|---|
| `{"op": "describe"}` | `{"name", "version", "providers", "capabilities"?, "errors"?, "methods"?, ...}` |
| `{"op": "complete", "call": {...}}` | `{"response": {...}}` or `{"error": {...}}` |
| `{"op": "stream", "call": {...}}` | any number of `{"event": {...}}`, then `{"done": true}` or `{"error": {...}}` |

`methods` lists which of `complete` and `stream` the program has; without it, it has both. The description may also have
`excluded_inputs`. A line with a response, or with the event `response.completed`, may have `native`: what the library
returned, for shims of other people's libraries (docs/shims.md). An error has `error_type` (the name of a class, its own
or the contract's) and `message`; it may have `status_code`, `provider`, `retry_after`, `headers`, `original_error` and
`extra_context`. The program's standard error is passed through.

If a program hangs, ends or writes anything else, that call fails, and the next call starts the program again.
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
from llm_conformance.shims.native import Answer

PREFIX = "cmd:"
METHODS = ("complete", "stream")
LONGEST_LINE = 64 * 1024 * 1024
"""An answer of an image model has its images several times: as attachments, in `raw_events` and in `native`."""
DESCRIBED_WITHIN_S = 20.0
_ENDS_WITHIN_S = 2.0


class ProgramError(Exception):
    """The program broke the protocol; the message says how."""


class ReportedError(Exception):
    """An error in the program's answer; it is raised as a subclass named after `error_type`."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error.get("message"), dict(error))
        self.provider = error.get("provider")
        self.status_code = error.get("status_code")
        self.original_error = error.get("original_error")
        self.extra_context = error.get("extra_context")
        self.retry_after = error.get("retry_after")
        self.headers = error.get("headers")

    def __str__(self) -> str:
        """Return the program's message."""
        return str(self.args[0])


class ProgramAdapter:
    """An adapter whose methods send their call to a program.

    Args:
        command: The command line of the program.
        directory: Its working directory.
        described_within_s: How long it may take to describe itself, in seconds; None for `DESCRIBED_WITHIN_S`.

    Raises ProgramError if the program does not describe itself in time.
    """

    def __init__(self, command: str, directory: Path, described_within_s: float | None = None) -> None:
        self._described_within_s = described_within_s or DESCRIBED_WITHIN_S
        self._command = shlex.split(command)
        self._directory = directory
        self._program: tuple[subprocess.Popen[bytes], _Lines] | None = None
        self._busy = False
        description = self._describe()
        self.name = description.get("name")
        self.version = description.get("version")
        self.providers = description.get("providers", ())
        self.errors = description.get("errors")
        self.excluded_inputs = description.get("excluded_inputs")
        if "capabilities" in description:
            self.capabilities = description["capabilities"]
        for method in METHODS:
            if method not in description.get("methods", METHODS):
                setattr(self, method, None)

    def complete(self, call: Call) -> Mapping[str, Any]:
        """Return the program's response to a call."""
        for line in self._ask({"op": "complete", "call": call.to_dict()}):
            if "response" in line:
                return _with_native(_mapping(line["response"], "response"), line)
            raise ProgramError(f"the program answered {_shown(line)}, with neither `response` nor `error`")
        raise ProgramError("the program answered `done` without a response")

    def stream(self, call: Call) -> Iterator[Mapping[str, Any]]:
        """Yield the events of the program's answer to a call."""
        for line in self._ask({"op": "stream", "call": call.to_dict()}):
            if "event" not in line:
                raise ProgramError(f"the program answered {_shown(line)}, with neither `event`, `done` nor `error`")
            event = _mapping(line["event"], "event")
            if isinstance(event.get("response"), dict):
                event = {**event, "response": _with_native(event["response"], line)}
            yield event

    def close(self) -> None:
        """End the program."""
        running, self._program = self._program, None
        if running is None:
            return
        process, _ = running
        with contextlib.suppress(OSError):
            _pipe(process.stdin).close()  # most programs end at the end of their input
        try:
            process.wait(0 if self._busy else _ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _pipe(process.stdout).close()

    def _describe(self) -> Mapping[str, Any]:
        """Return the program's description of itself. A timer stops a program that does not answer."""
        timer = threading.Timer(self._described_within_s, self.close)
        timer.start()
        try:
            description = next(self._ask({"op": "describe"}), None)
            if description is None:
                raise ProgramError("it answered `done` only")
            self._busy = False
            return description
        except (ProgramError, ReportedError, OSError) as error:
            self.close()
            raise ProgramError(f"the program was asked to describe itself: {error}") from error
        finally:
            timer.cancel()

    def _ask(self, question: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Send a line, and yield the lines of the answer. Raises ReportedError if one is an error, or ProgramError."""
        process, lines = self._running()
        self._busy = True
        try:
            _pipe(process.stdin).write(json.dumps(question).encode() + b"\n")
            _pipe(process.stdin).flush()
        except OSError as error:
            raise ProgramError(f"the program does not read its input: {_end(process)}") from error
        while True:
            line = _line(process, lines)
            if "error" in line:
                self._busy = False
                raise _reported(_mapping(line["error"], "error"))
            if line.get("done") is True:
                self._busy = False
                return
            # A response is the last line of an answer. If a caller stops reading a stream, the program stays busy.
            self._busy = "response" not in line
            yield line

    def _running(self) -> tuple[subprocess.Popen[bytes], _Lines]:
        """Return the running program, or a new one if it has ended or has not finished its last answer."""
        if self._program is not None and (self._busy or self._program[0].poll() is not None):
            self.close()
        if self._program is not None and self._program[1].are_left:
            self.close()
            raise ProgramError("the program wrote more lines than were asked for after its last answer")
        if self._program is None:
            self._busy = False
            process = subprocess.Popen(  # noqa: S603 - the user's own command
                self._command, cwd=self._directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
            self._program = (process, _Lines(process))
        return self._program


class _Lines:
    """The lines of a program's output. Bytes are buffered here, so that surplus lines can be detected."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._output = _pipe(process.stdout).fileno()
        self._bytes = bytearray()

    def next(self) -> bytes:
        """Return the next line; b"" at the end. Raises ProgramError for a line of more than `LONGEST_LINE` bytes."""
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
        """Whether the program has written lines that nobody has read."""
        return bool(self._bytes) or bool(select.select([self._output], [], [], 0)[0] and self._process.poll() is None)


def _line(process: subprocess.Popen[bytes], lines: _Lines) -> Mapping[str, Any]:
    try:
        raw = lines.next()
    except OSError as error:  # the pipe was closed because the call was given up
        raise ProgramError("the program was ended") from error
    if not raw:
        raise ProgramError(_end(process))
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError) as error:
        text = raw.decode("utf-8", "replace")
        raise ProgramError(
            f"the program wrote a line that is not JSON (logs go to standard error): {_shown(text)}"
        ) from error
    return _mapping(line, "line")


def _end(process: subprocess.Popen[bytes]) -> str:
    try:
        return f"it ended with exit code {process.wait(_ENDS_WITHIN_S)} instead of an answer"
    except subprocess.TimeoutExpired:
        return "it closed its output instead of an answer"


def _with_native(response: Mapping[str, Any], line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a response with the library's own object, if its line has one."""
    if line.get("native") is None:
        return response
    answer = Answer(response)
    answer.native = line["native"]
    return answer


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ProgramError(f"the program's {what} is not a JSON object: {_shown(value)}")
    return value


def _reported(error: Mapping[str, Any]) -> ReportedError:
    name = error.get("error_type")
    kind: type[ReportedError] = type(name if isinstance(name, str) else "ReportedError", (ReportedError,), {})
    return kind(error)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:120]} ..."


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - for the type checker: both are pipes
    return pipe
