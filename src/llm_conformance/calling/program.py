"""Programs that call an adapter. They read one JSON object per line, and answer in lines.

Adapters in other languages are such programs. For adapters in Python, the suite has a program that runs them in a
process of their own (`llm_conformance.adapter.host`). The lines of this program have further data under `facts`.

| line to the program | answer |
|---|---|
| `{"op": "describe"}` | `{"name", "version", "providers", "capabilities"?, "errors"?, "methods"?, ...}` |
| `{"op": "complete", "call": {...}}` | `{"response": {...}}` or `{"error": {...}}` |
| `{"op": "stream", "call": {...}}` | any number of `{"event": {...}}`, then `{"done": true}` or `{"error": {...}}` |
| `{"op": "parse", "call": {...}, "http": {"status", "headers", "body"}}` | as for `complete`; the body is base64 |
| `{"op": "parse_stream", "call": {...}, "http": {...}, "pieces": [...]}` | as for `stream`; each piece is base64 |

`methods` lists which of the four methods the program has; by default, it has `complete` and `stream`. The description
may also have `excluded_inputs`. A line with a response, or with the event `response.completed`, may have `native`: what
the library returned, for shims of other people's libraries (docs/shims.md). An error has `error_type` (the name of a
class, its own or the contract's) and `message`; it may have `status_code`, `provider`, `retry_after`, `headers`,
`original_error` and `extra_context`. The standard error of the program is passed on. If it is long, only its first and
last bytes are passed on.

If a program hangs, ends, needs too much memory or writes anything else, that call fails, and the next call starts the
program again.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from llm_conformance.calling.fair_time import FairWait
from llm_conformance.calling.place import Network, Place
from llm_conformance.calling.values import of_line, to_line

METHODS = ("complete", "stream", "parse", "parse_stream")
_METHODS_BY_DEFAULT = ("complete", "stream")
LONGEST_LINE = 64 * 1024 * 1024
"""In bytes. An answer of an image model repeats its images: as attachments, in `raw_events` and in `native`."""
MOST_MEMORY = 8 * 1024**3
"""The most main memory that a program may have, in bytes. No library needs as much for an answer of a few megabytes."""
DESCRIBED_WITHIN_S = 20.0
_ENDS_WITHIN_S = 2.0

Line = Mapping[str, Any]


class ProgramError(Exception):
    """The program broke the protocol, or ended; the message says how."""


class TooLateError(Exception):
    """The program did not answer in time; the message is what it wrote about its main thread."""


class ReportedError(Exception):
    """An error in the program's answer. Each is an instance of a subclass that is named after `error_type`."""

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


class Program:
    """A program that answers in lines. It is started for the first question, and again after it has ended.

    Args:
        command: The program and its arguments.
        directory: Its working directory.
        wants_network: Whether to give it a network of its own, if the system allows that.

    Attributes:
        described_within_s: How long the program may take to describe itself, in seconds.
        starts: How often it has been started.
        has_network: Whether it had a network of its own when it was last started.
        refused: Why it had no network of its own although it was to have one; "" in all other cases.
        starved_s: How many seconds of the last question passed while the machine did not run the program.
    """

    def __init__(self, command: Sequence[str], directory: Path, wants_network: bool = False) -> None:
        self._command = command
        self._directory = directory
        self._wants_network = wants_network
        self._place: Place | None = None
        self._lines = _Lines()
        self._busy = False
        self._is_restarted = False
        self.described_within_s = DESCRIBED_WITHIN_S
        self.starts = 0
        self.has_network = False
        self.refused = ""
        self.starved_s = 0.0

    @property
    def network(self) -> Network | None:
        """The program's own network; None if it has none. Starts the program."""
        return self._running().network

    @property
    def is_running(self) -> bool:
        """Whether the next question goes to the same process as the last one."""
        place = self._place
        if place is None or self._busy or place.process.poll() is not None:
            return False
        return not self._lines.has_ended(_pipe(place.process.stdout).fileno())

    def ask(self, question: Mapping[str, Any], within_s: float) -> Iterator[Line]:
        """Send a line, and yield the lines of the answer. The last line has `response`, `error` or `done`.

        Raises ProgramError, OSError if the program cannot be started, or TooLateError after `within_s` seconds.
        """
        place = self._running()
        if self._is_restarted and question["op"] != "describe":
            self._load(place)
        if self._lines.are_left:
            self.close()
            raise ProgramError("the program wrote more lines than were asked for after its last answer")
        yield from self._ask(place, question, within_s)

    def _load(self, place: Place) -> None:
        """Let a program that was started again describe itself, so that its loading time does not count for a call."""
        try:
            for _ in self._ask(place, {"op": "describe"}, self.described_within_s):
                self._is_restarted = False
        except TooLateError as error:
            within = f"within {self.described_within_s:g} s"
            raise ProgramError(f"the program was started again, and did not describe itself {within}") from error

    def _ask(self, place: Place, question: Mapping[str, Any], within_s: float) -> Iterator[Line]:
        self._busy = True
        waiting = FairWait(process=place.process.pid)
        try:
            _pipe(place.process.stdin).write(to_line(question))
            _pipe(place.process.stdin).flush()
        except OSError as error:
            raise ProgramError(f"the program does not read its input: {_end(place.process)}") from error
        while True:
            line = self._line(place, waiting, within_s)
            # If a caller stops reading a stream, the program stays busy.
            self._busy = not (question["op"] == "describe" or _is_last(line))
            if not self._busy:
                place.printed.drain()  # so that the output is shown with this call
            yield line
            if not self._busy:
                return

    def close(self) -> None:
        """End the program."""
        place, self._place = self._place, None
        if place is None:
            return
        with contextlib.suppress(OSError):
            _pipe(place.process.stdin).close()  # most programs end at the end of their input
        with contextlib.suppress(subprocess.TimeoutExpired):
            place.process.wait(0 if self._busy else _ENDS_WITHIN_S)
        place.kill()
        _pipe(place.process.stdout).close()

    def _running(self) -> Place:
        """Return the running process. If it has ended or has not finished its last answer, start a new process."""
        if not self.is_running:
            self.close()
        if self._place is None:
            self._busy, self._lines = False, _Lines()
            self._place = Place(self._command, self._directory, self._wants_network)
            self._is_restarted = self.starts > 0
            self.starts += 1
            self.has_network, self.refused = self._place.network is not None, self._place.refused
        return self._place

    def _line(self, place: Place, waiting: FairWait, within_s: float) -> Line:
        output = _pipe(place.process.stdout).fileno()

        def poll(seconds: float) -> bool:
            if select.select([output], [], [], seconds)[0]:
                return True
            _check_memory(place.process.pid)
            return False

        while (raw := self._lines.take()) is None:
            in_time = waiting.until(poll, within_s - waiting.counted_s)
            self.starved_s = waiting.starved_s
            if not in_time:
                where = place.where_it_hangs()
                self.close()
                raise TooLateError(where)
            if not self._lines.read(output):
                raise ProgramError(_end(place.process))
        return _read(raw)


class ProgramAdapter:
    """An adapter whose methods a program calls.

    Args:
        program: The program.
        described_within_s: How long it may take to describe itself, in seconds; None for `DESCRIBED_WITHIN_S`.

    Attributes:
        program: The program.
        methods: The methods that it has.

    Raises ProgramError if the program does not describe itself in time, and ReportedError if it says why it cannot.
    """

    def __init__(self, program: Program, described_within_s: float | None = None) -> None:
        self.program = program
        program.described_within_s = described_within_s or DESCRIBED_WITHIN_S
        description = self._describe(program.described_within_s)
        self.name = description.get("name")
        self.version = description.get("version")
        self.providers = description.get("providers", ())
        self.errors = description.get("errors")
        self.excluded_inputs = description.get("excluded_inputs")
        if "capabilities" in description:
            self.capabilities = description["capabilities"]
        methods = description.get("methods")
        named = _METHODS_BY_DEFAULT if methods is None else methods if isinstance(methods, list) else ()
        self.methods = tuple(each for each in METHODS if each in named)

    def _describe(self, within_s: float) -> Line:
        """Return the program's description of itself."""
        try:
            description = next(self.program.ask({"op": "describe"}, within_s))
            if "error" in description:
                self.program.close()
                raise reported(mapping(description["error"], "error"))
            if description.get("done") is True:
                raise ProgramError("the program answered `done` only")
        except TooLateError as error:
            raise ProgramError(f"the program did not describe itself within {within_s:g} s") from error
        except (ProgramError, OSError) as error:
            self.program.close()
            raise ProgramError(f"the program was asked to describe itself: {error}") from error
        return description


class _Lines:
    """The lines of a program's output. Bytes are buffered here, so that surplus lines can be detected."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._searched = 0

    def take(self) -> bytes | None:
        """Return the next line; None if it is incomplete. Raises ProgramError if it is longer than `LONGEST_LINE`."""
        end = self._bytes.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._bytes)
            if self._searched > LONGEST_LINE:
                raise ProgramError(f"the program wrote a line of more than {LONGEST_LINE} bytes")
            return None
        line = bytes(self._bytes[: end + 1])
        del self._bytes[: end + 1]
        self._searched = 0
        return line

    def read(self, output: int) -> bool:
        """Read what is there; return False at the end."""
        try:
            more = os.read(output, 1 << 18)
        except OSError:
            return False
        self._bytes += more
        return bool(more)

    def has_ended(self, output: int) -> bool:
        """Return True at the end of the output. If there is more output instead, read it."""
        return bool(select.select([output], [], [], 0)[0]) and not self.read(output)

    @property
    def are_left(self) -> bool:
        """Whether the program has written lines that nobody has taken."""
        return bool(self._bytes)


def _is_last(line: Line) -> bool:
    return "response" in line or "error" in line or line.get("done") is True


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Return a JSON object of a line. Raises ProgramError for anything else."""
    if not isinstance(value, dict):
        raise ProgramError(f"the program's {what} is not a JSON object: {shown(value)}")
    return value


def reported(error: Mapping[str, Any]) -> ReportedError:
    """Return the error of a line as an exception. `error_type` is the name of its class."""
    name = error.get("error_type")
    kind: type[ReportedError] = type(name if isinstance(name, str) else "ReportedError", (ReportedError,), {})
    return kind(error)


def shown(value: Any) -> str:
    """Return a value as JSON, or a text as it is. Both are shortened."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 120 else f"{text[:120]} ..."


def base64_of(data: bytes) -> str:
    """Return bytes as base64 text."""
    return base64.b64encode(data).decode("ascii")


def _read(raw: bytes) -> Line:
    try:
        line = of_line(raw)
    except (ValueError, RecursionError) as error:
        text = raw.decode("utf-8", "replace")
        raise ProgramError(
            f"the program wrote a line that is not JSON (logs go to standard error): {shown(text)}"
        ) from error
    return mapping(line, "line")


def _check_memory(process: int) -> None:
    """Raise ProgramError if a process has more than `MOST_MEMORY`, as far as the system tells."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return
    used = pages * os.sysconf("SC_PAGE_SIZE")
    if used > MOST_MEMORY:
        with contextlib.suppress(OSError):
            os.killpg(process, signal.SIGKILL)
        raise ProgramError(f"the adapter's process was ended, because it had {used / 1024**3:.1f} GiB of memory")


def _end(process: subprocess.Popen[bytes]) -> str:
    try:
        code = process.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        return "the adapter's process closed its output instead of an answer"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"the adapter's process was ended by the signal {signal.Signals(-code).name} instead of an answer"
    return f"the adapter's process ended with exit code {code} instead of an answer"


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - for the type checker: both are pipes
    return pipe
