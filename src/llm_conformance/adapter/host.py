"""The program that runs an adapter in Python: `host.main([SPEC, DIRECTORY])`.

It speaks the line protocol of `llm_conformance.calling.program`. Beyond that protocol, it answers `explain` (where the
last exception came from) and `native` (what the library returned). It searches everything that the adapter prints for
the API key. It passes the prints on to standard error, so that they cannot break the protocol. It turns the adapter's
objects into plain data within the time limit of the call; nothing else leaves this process. It keeps the last answers,
so that a later call gets the very objects that the adapter returned.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import faulthandler
import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from llm_conformance.adapter.declarations import AdapterUnderTest, BadAdapterError
from llm_conformance.calling.attempt import Attempt
from llm_conformance.calling.in_program import KEPT
from llm_conformance.calling.network_guard import Guard
from llm_conformance.calling.output import Output
from llm_conformance.calling.place import CONTROL
from llm_conformance.calling.result import CallResult, Event, MethodCall, shows_content
from llm_conformance.calling.values import Kept, exact, of_line, to_line
from llm_conformance.contract import Call, HttpResponse
from llm_conformance.contract.call import CANARY_KEY
from llm_conformance.shims import native

_MOST_OUTSIDE = 20
_PRINTED = "the adapter printed it"
_DEEPEST_NATIVE = 40
_PROCESS = os.getpid()
_CALL_FIELDS = frozenset(each.name for each in fields(Call))


def main(arguments: list[str]) -> int:
    """Answer questions until there are no more of them."""
    spec, directory = arguments
    questions, answers, errors = _take_over_standard_streams()
    guard = Guard((), always=True)
    _tell_where_it_hangs()
    host = Host(spec, Path(directory), guard, answers, Output(CANARY_KEY, errors))
    while line := _next(questions):
        host.answer(of_line(line))
    return 0


def _next(questions: io.BufferedReader) -> bytes:
    """Return the next question; b"" if there are no more.

    A call may have left an alarm on, which may raise here. The exception is then printed, so that the next call does
    not fail because of it.
    """
    while True:
        try:
            return questions.readline()
        except Exception:
            traceback.print_exc()


class Host:
    """An adapter and the answers that it has given.

    Args:
        spec: The SPEC that names the adapter.
        directory: The directory in which relative paths start.
        guard: Refuses connections to anything but the replay.
        answers: The stream for the answers, one JSON document a line.
        output: What the adapter prints.
    """

    def __init__(self, spec: str, directory: Path, guard: Guard, answers: io.RawIOBase, output: Output) -> None:
        self._spec = spec
        self._directory = directory
        self._guard = guard
        self._out = answers
        self._output = output
        self._loop = asyncio.new_event_loop()
        self._adapter: AdapterUnderTest | None = None
        self._kept: dict[int, Any] = {}
        self._number = 0
        self._last: CallResult | None = None

    def answer(self, question: Mapping[str, Any]) -> None:
        """Write the answer to a question."""
        match question["op"]:
            case "describe":
                self._describe()
            case "explain":
                explain = self._last.explain if self._last else None
                cause, told = explain() if explain else (None, None)
                self._write({"done": True, "cause": cause, "traceback": told})
            case "native":
                kept = self._kept.get(question["kept"].number)
                self._write({"done": True, "native": readable(getattr(kept, "native", None))})
            case _:
                self._call(question)

    def _describe(self) -> None:
        try:
            adapter = self._loaded()
        except BadAdapterError as error:
            self._write({"error": {"error_type": "BadAdapterError", "message": str(error)}})
            return
        said = {name: getattr(adapter, name) for name in ("name", "version", "errors", "excluded_inputs")}
        lists = {name: sorted(getattr(adapter, name)) for name in ("providers", "capabilities", "methods")}
        self._write(exact({**said, **lists}))

    def _loaded(self) -> AdapterUnderTest:
        if self._adapter is None:
            from llm_conformance.adapter import loader  # only now: the guard has to be in place before any import

            self._adapter = loader.load(self._spec, self._directory)
        return self._adapter

    def _call(self, question: Mapping[str, Any]) -> None:
        asked = self._asked(question)
        self._guard.allowed = () if (port := urlsplit(asked.call.base_url).port) is None else (port,)
        lines = _Lines(self._out)
        attempt = Attempt(self._loaded().instance, asked, lines.event)
        side_effects = attempt.watched(self._guard, lambda: attempt.run(self._loop))
        if self._output.had_secret():
            side_effects = replace(side_effects, logs=(*side_effects.logs, _PRINTED))
        result = self._last = attempt.result(side_effects)
        lines.write(*self._ending(result))

    def _ending(self, result: CallResult) -> Iterator[Mapping[str, Any]]:
        """Yield the last lines about a call: invalid events, then the response or the error, with the facts."""
        for at, text in result.invalid_events:
            yield {"invalid_event": text, "at": at}
        outside, self._guard.outside = self._guard.outside[:_MOST_OUTSIDE], []
        told: dict[str, Any] = {
            "side_effects": asdict(result.side_effects),
            "outside": outside,
            "fault": result.fault,
            "buffered": result.buffered,
            "explains": result.explain is not None,
        }
        if result.returned is not None:
            told["kept"] = self._keep(result.returned)
        if result.error is not None:
            facts = asdict(result.error)
            yield {"error": {"error_type": facts["names"][0], "message": facts["text"], "facts": facts}, "facts": told}
        elif result.response is not None:
            yield {"response": result.response, "facts": told}
        else:
            yield {"done": True, "facts": told}

    def _keep(self, returned: Any) -> int:
        self._number += 1
        self._kept[self._number] = returned
        self._kept.pop(self._number - KEPT, None)
        return self._number

    def _asked(self, question: Mapping[str, Any]) -> MethodCall:
        given = {name: value for name, value in question["call"].items() if name in _CALL_FIELDS}
        http = given.pop("http", None)
        messages = [self._kept[each.number] if isinstance(each, Kept) else each for each in given.pop("messages")]
        call = Call(
            **{**given, "tools": tuple(given["tools"])},
            messages=tuple(messages),
            http=HttpResponse(http["status"], http["headers"]) if http else None,
        )
        whole = question.get("http") or {"status": 200, "headers": {}}
        return MethodCall(
            question["op"],
            call,
            HttpResponse(whole["status"], whole["headers"], base64.b64decode(whole.get("body", ""))),
            tuple(map(base64.b64decode, question.get("pieces", ()))),
            question.get("watches_pieces", False),
        )

    def _write(self, line: Mapping[str, Any]) -> None:
        _write_all(self._out, to_line(line))


class _Lines:
    """Writes the events of a stream.

    The first content is written at once, because the suite waits for it. The rest is written later.
    """

    def __init__(self, out: io.RawIOBase) -> None:
        self._out = out
        self._waiting: list[bytes] = []
        self._content_shown = False

    def event(self, event: Event) -> None:
        """Write an event at once if it shows the first content; else keep it."""
        self._waiting.append(to_line({"event": event}))
        if not self._content_shown and shows_content(event):
            self._content_shown = True
            self.write()

    def write(self, *lines: Mapping[str, Any]) -> None:
        """Write all events that were kept, then these lines."""
        waiting, self._waiting = self._waiting, []
        _write_all(self._out, b"".join([*waiting, *map(to_line, lines)]))


def readable(value: Any, depth: int = 0) -> Any:
    """Return the fields of a library's own object as plain values, at every depth.

    Values that are too deep become None.
    """
    if depth > _DEEPEST_NATIVE:
        return None
    if isinstance(value, list | tuple):
        return [readable(each, depth + 1) for each in value]
    if value is None or isinstance(value, str | int | float | bytes):
        return exact(value)
    try:
        read = native.fields(value)
    except Exception:  # reading the object may run any code of the library
        own = getattr(value, "__dict__", None)
        read = {key: each for key, each in own.items() if str(key)[:1] != "_"} if isinstance(own, dict) else {}
    return {str(key): readable(each, depth + 1) for key, each in read.items()}


def _take_over_standard_streams() -> tuple[io.BufferedReader, io.RawIOBase, int]:
    """Return (stream of questions, stream for answers, descriptor for prints); the adapter's stdin becomes empty."""
    questions = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return questions, answers, os.dup(2)


def _tell_where_it_hangs() -> None:
    """On SIGUSR1, write the main thread's traceback to the suite, even while the interpreter runs no Python code."""
    with contextlib.suppress(KeyError, ValueError, AttributeError):
        faulthandler.register(signal.SIGUSR1, file=int(os.environ.pop(CONTROL)), all_threads=False)


def _write_all(out: io.RawIOBase, data: bytes) -> None:
    if os.getpid() != _PROCESS:  # a child that the adapter forked; its answer would be taken for the next call's
        os._exit(1)
    left = memoryview(data)
    while left:
        left = left[out.write(left) or 0 :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
