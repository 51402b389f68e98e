"""Call adapters through programs: the user's own, in any language, or the program that runs an adapter in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from llm_conformance.calling.exceptions.facts import ErrorFacts, facts_of
from llm_conformance.calling.exceptions.tracebacks import place_in
from llm_conformance.calling.program import (
    Line,
    Program,
    ProgramError,
    TooLateError,
    base64_of,
    mapping,
    reported,
    shown,
)
from llm_conformance.calling.result import MAX_EVENTS, CallResult, Event, MethodCall, OnEvent, SideEffects
from llm_conformance.calling.values import Kept
from llm_conformance.shims.native import Answer

KEPT = 1024
"""The number of last answers that the process of an adapter keeps, so that later calls can refer to them."""
_ANSWERED_WITHIN_S = 10.0


class Handle(Kept):
    """An answer that the process of an adapter keeps.

    Args:
        number: Its number in that process.
        program: The process.
    """

    def __init__(self, number: int, program: Program) -> None:
        super().__init__(number)
        self._program = program
        self._start = program.starts

    def is_lost(self, newest: int) -> bool:
        """Return True if the process no longer keeps this answer; `newest` is the number of the newest answer it keeps.

        This is so if the process has ended, or has kept `KEPT` newer answers.
        """
        return not self._program.is_running or self._start != self._program.starts or newest - self.number >= KEPT

    @property
    def native(self) -> Any:
        """What the library returned; None if the process does not tell."""
        return _asked(self._program, {"op": "native", "kept": self}).get("native")


class InProgram:
    """Calls methods through programs.

    Attributes:
        starved_s: How many seconds of the last call passed while the machine did not run the program.
        outside: Maps a place in the code to the number of its connections that were refused outside of calls.
    """

    def __init__(self) -> None:
        self.starved_s = 0.0
        self.outside: Counter[str] = Counter()
        self._newest: dict[Program, int] = {}

    def is_lost(self, returned: Any) -> bool:
        """Return True if an earlier answer was kept by a process that no longer keeps it."""
        return isinstance(returned, Handle) and returned.is_lost(self._newest.get(returned._program, 0))

    def call(self, program: Program, asked: MethodCall, within_s: float, on_event: OnEvent) -> CallResult:
        """Call a method of a program's adapter. After `within_s` seconds, give the call up and end the program."""
        answer = _Answer(program, on_event)
        try:
            for line in program.ask(_question(asked), within_s):
                answer.take(line, asked.method)
            result = answer.result()
        except (ProgramError, OSError) as error:
            program.close()
            result = answer.result(fault=str(error))
        except TooLateError as error:
            place = place_in(str(error))
            where = f"; it was at {place}" if place else ""
            result = replace(answer.result(fault=f"did not come back within {within_s:g} s{where}"), hung=True)
        self.starved_s = program.starved_s
        self.outside.update(answer.outside)
        if isinstance(result.returned, Handle):
            self._newest[program] = result.returned.number
        return result


class _Answer:
    """Collects the lines of one answer."""

    def __init__(self, program: Program, on_event: OnEvent) -> None:
        self._program = program
        self._on_event = on_event
        self._events: list[Event] = []
        self._invalid: list[tuple[int, str]] = []
        self._response: Mapping[str, Any] | None = None
        self._returned: Any = None
        self._error: ErrorFacts | None = None
        self._facts: Mapping[str, Any] = {}
        self.outside: list[str] = []

    def take(self, line: Line, method: str) -> None:
        """Take the next line. Raises ProgramError if the protocol does not allow it here."""
        if line.get("done") is True and method in ("complete", "parse") and "facts" not in line:
            raise ProgramError("the program answered `done` without a response")
        if "error" in line:
            error = mapping(line["error"], "error")
            self._error = _facts(error["facts"]) if "facts" in error else facts_of(reported(error))
        elif "response" in line and method in ("complete", "parse"):
            self._response = _with_native(mapping(line["response"], "response"), line)
            self._returned = self._response
        elif "event" in line and method in ("stream", "parse_stream"):
            self._take_event(mapping(line["event"], "event"), line)
        elif "invalid_event" in line:
            self._invalid.append((len(self._events), str(line["invalid_event"])))
        elif line.get("done") is not True:
            wanted = "`response` nor" if method in ("complete", "parse") else "`event`, `done` nor"
            raise ProgramError(f"the program answered {shown(line)}, with neither {wanted} `error`")
        if len(self._events) + len(self._invalid) > MAX_EVENTS:
            raise ProgramError(f"the stream gave more than {MAX_EVENTS} events")
        if "facts" in line:
            self._facts = mapping(line["facts"], "facts")
            self.outside = list(self._facts.get("outside", ()))

    def result(self, fault: str | None = None) -> CallResult:
        """Return what was collected. A `fault` says why the answer is incomplete."""
        facts = self._facts
        if "kept" in facts:
            self._returned = Handle(facts["kept"], self._program)
        return CallResult(
            response=self._response,
            returned=self._returned,
            events=tuple(self._events),
            invalid_events=tuple(self._invalid),
            error=self._error,
            fault=fault or facts.get("fault"),
            buffered=facts.get("buffered"),
            side_effects=SideEffects(**{name: tuple(value) for name, value in facts.get("side_effects", {}).items()}),
            explain=self._explain if facts.get("explains") else None,
        )

    def _take_event(self, event: Event, line: Line) -> None:
        if isinstance(event.get("response"), dict):
            event = {**event, "response": _with_native(event["response"], line)}
            if event.get("event_type") == "response.completed":
                self._returned = event["response"]
        self._events.append(event)
        self._on_event(event)

    def _explain(self) -> tuple[str, str]:
        found = _asked(self._program, {"op": "explain"})
        return str(found.get("cause")), str(found.get("traceback"))


def _asked(program: Program, question: Mapping[str, Any]) -> Line:
    """Return the answer to a question about the last call; {} if the program does not answer."""
    try:
        return next(program.ask(question, _ANSWERED_WITHIN_S), {})
    except (ProgramError, TooLateError, OSError):
        program.close()
        return {}


def _question(asked: MethodCall) -> dict[str, Any]:
    question: dict[str, Any] = {"op": asked.method, "call": asked.call.to_dict()}
    if asked.method in ("parse", "parse_stream"):
        question["http"] = asked.http.to_dict()
    if asked.method == "parse":
        question["http"]["body"] = base64_of(asked.http.body)
    if asked.method == "parse_stream":
        question |= {"pieces": [base64_of(each) for each in asked.pieces], "watches_pieces": asked.watches_pieces}
    return question


def _facts(given: Mapping[str, Any]) -> ErrorFacts:
    return ErrorFacts(**{**given, "names": tuple(given["names"])})


def _with_native(response: Mapping[str, Any], line: Line) -> Mapping[str, Any]:
    """Return a response, with the library's own object as `native` if the line has that object."""
    if line.get("native") is None:
        return response
    answer = Answer(response)
    answer.native = line["native"]
    return answer
