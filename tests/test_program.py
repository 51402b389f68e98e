"""Adapters in other languages: a program can follow the line protocol, and one that breaks it harms no other call."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.adapter.declarations import BadAdapterError
from llm_conformance.adapter.loader import load
from llm_conformance.calling.in_program import InProgram
from llm_conformance.calling.output import PassedOn
from llm_conformance.calling.program import Program, ProgramAdapter, ProgramError, TooLateError
from llm_conformance.calling.result import CallResult, MethodCall
from llm_conformance.contract import HttpResponse
from tests import inline, miniature
from tests.miniature import RULES
from tests.test_contract import CALL

REFERENCE = Path(__file__).parent / "programs" / "reference.py"

HEAD = """\
import json, os, sys, time

def say(line):
    print(json.dumps(line), flush=True)

for line in sys.stdin:
    question = json.loads(line)
    if question["op"] == "describe":
        say({"name": "own", "version": None, "providers": ["deepseek"]})
        continue
"""
RESPONSE = {
    "id": "a-1",
    "provider": "deepseek",
    "model": "deepseek-reasoner",
    "message": "Eight.",
    "finish_reason": "stop",
    "usage": None,
}


def program(tmp_path: Path, body: str, head: str = HEAD) -> str:
    """Write a program; return its command line."""
    path = tmp_path / "program.py"
    path.write_text(head + body, "utf-8")
    return shlex.join([sys.executable, str(path)])


def started(tmp_path: Path, body: str, head: str = HEAD) -> Program:
    """Write a program; return it, to be started for its first question."""
    return Program(shlex.split(program(tmp_path, body, head)), tmp_path)


def asked(program: Program, op: str, within_s: float = 20, **call: Any) -> list[Any]:
    """Return the lines of an answer."""
    return list(program.ask({"op": op, "call": call}, within_s))


def test_a_program_can_pass(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(RULES.parent))
    spec = f"cmd:{shlex.join([sys.executable, str(REFERENCE), 'cerebras:chat', 'cohere:v1', 'zai'])}"
    result = inline.run(
        pytester,
        str(RULES),
        f"--adapter={spec}",
        "--conformance-examples=0",
        "-q",
    )
    assert result.ret == 0
    result.stdout.fnmatch_lines(["program 1", "zai:chat *", "cells: * pass*"])


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            "    os._exit(3)\n",
            "asked to describe itself: the adapter's process ended with exit code 3 instead of an answer",
        ),
        ("    print('hello', flush=True)\n", "a line that is not JSON (logs go to standard error): hello"),
        ("    say([1])\n", "the program's line is not a JSON object: [1]"),
        ("    say({'done': True})\n", "describe itself: the program answered `done` only"),
        ("    say({})\n", "`providers` has to list what the adapter supports"),
        ("    say({'providers': 3})\n", "`providers` has to be a collection of strings, not 3"),
        ("    say({'providers': ['openai'], 'methods': []})\n", "it has none of the methods"),
    ],
)
def test_a_bad_description_is_explained(tmp_path: Path, body: str, problem: str) -> None:
    head = HEAD.partition("    if question")[0]
    with pytest.raises(BadAdapterError) as refused:
        load(f"cmd:{program(tmp_path, body, head)}", tmp_path)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("command", "problem"),
    [("nosuchprogram x", "No such file or directory: 'nosuchprogram'"), ("a 'b", "No closing quotation")],
)
def test_a_bad_command_is_explained(tmp_path: Path, command: str, problem: str) -> None:
    with pytest.raises(BadAdapterError, match=problem):
        load(f"cmd:{command}", tmp_path)


def test_a_program_that_never_describes_itself_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm_conformance.calling.program.DESCRIBED_WITHIN_S", 0.5)
    with pytest.raises(ProgramError, match=r"describe itself within 0\.5 s"):
        ProgramAdapter(started(tmp_path, "time.sleep(60)\n", "import time\n"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    os._exit(3)\n", "the adapter's process ended with exit code 3 instead of an answer"),
        (
            "    print('{', flush=True)\n",
            "expected an answer; the program wrote a line that is not JSON (logs go to standard error): {",
        ),
        ("    say({'answer': 1})\n", 'the program answered {"answer": 1}, with neither'),
        ("    say({'response': 'Eight.', 'event': 1})\n", "is not a JSON object"),
        ("    say({'error': {'error_type': 'QuotaError', 'message': 'no more'}})\n", "raised QuotaError: no more"),
        ("    say({'error': 'no'})\n", "the program's error is not a JSON object: no"),
        ("    time.sleep(60)\n", "did not come back within"),
        ("    print('x' * 70_000_000, flush=True)\n", "the program wrote a line of more than 67108864 bytes"),
    ],
)
def test_a_bad_answer_fails_its_call_and_the_next_call_is_answered(
    pytester: pytest.Pytester, body: str, message: str
) -> None:
    once = f"    if not os.path.exists('once'):\n        open('once', 'w').close()\n    {body}        continue\n"
    rest = f"    say({{'response': {RESPONSE}}} if question['op'] == 'complete' else {{'done': True}})\n"
    command = program(pytester.path, once + rest)
    result, report = miniature.run(
        pytester,
        f"--adapter=cmd:{command}",
        "--conformance-examples=0",
        "--conformance-timeout=1",
        "--conformance-method=complete",
        "--conformance-rule=PRV-1",
        "--conformance-rule=SHP-1",
        apart="sleep" in body,
    )
    assert result.ret == 1
    failures = [result["message"] or "" for result in report["results"] if result["status"] == "fail"]
    assert failures
    assert all(message in failure for failure in failures)


def test_a_hung_call_gives_the_next_call_a_new_program(tmp_path: Path) -> None:
    own = started(tmp_path, "    if question['call'] == {'hang': True}: time.sleep(60)\n    say({'response': {}})\n")
    with pytest.raises(TooLateError):
        asked(own, "complete", 0.3, hang=True)
    assert asked(own, "complete") == [{"response": {}}]
    assert own.starts == 2
    own.close()


def test_the_rest_of_an_unread_stream_does_not_answer_the_next_call(tmp_path: Path) -> None:
    own = started(tmp_path, "    for n in range(3): say({'event': {'n': n}})\n    say({'done': True})\n")
    assert next(own.ask({"op": "stream", "call": {}}, 20)) == {"event": {"n": 0}}
    assert [line["event"]["n"] for line in asked(own, "stream") if "event" in line] == [0, 1, 2]
    own.close()


def test_lines_after_an_answer_do_not_answer_the_next_call(tmp_path: Path) -> None:
    own = started(tmp_path, "    say({'response': {}}); say({'done': True})\n")
    assert asked(own, "complete") == [{"response": {}}]
    time.sleep(0.3)
    with pytest.raises(ProgramError, match="more lines than were asked for"):
        asked(own, "complete")
    assert asked(own, "complete") == [{"response": {}}]
    own.close()


def test_a_program_that_has_closed_its_output_is_started_again_and_no_call_is_blamed(tmp_path: Path) -> None:
    own = started(tmp_path, "    say({'response': {}})\n    os.close(1)\n    time.sleep(60)\n")
    assert asked(own, "complete") == [{"response": {}}]
    while own.is_running:
        time.sleep(0.01)
    assert asked(own, "complete") == [{"response": {}}]
    assert own.starts == 2
    own.close()


def test_a_program_cannot_use_the_vcr_transport(pytester: pytest.Pytester) -> None:
    command = program(pytester.path, "    pass\n")
    result, _ = miniature.run(pytester, f"--adapter=cmd:{command}", "--conformance-transport=vcr")
    assert result.ret == 4
    assert (
        "--conformance-transport=vcr: replays only to adapters in this process, not to the program cmd:"
        in result.stderr.str()
    )


def called(own: Program, method: str) -> CallResult:
    """Return what comes of a call."""
    return InProgram().call(own, MethodCall(method, CALL, HttpResponse(200, {})), 20, lambda _event: None)


def test_an_error_of_a_program_has_fields_and_headers(tmp_path: Path) -> None:
    for fields in ({"retry_after": 41}, {"headers": {"Retry-After": "41"}}, {"extra_context": {"retry_after": "41"}}):
        error = {"error_type": "RateLimitError", "message": "too many", **fields}
        own = started(tmp_path, f"    say({{'error': {error}}})\n")
        result = called(own, "complete")
        own.close()
        assert result.error
        assert result.error.text == "too many"
        assert result.error.retry_after == "41"


def test_a_program_hands_over_the_librarys_own_object(tmp_path: Path) -> None:
    body = (
        "    native = {'choices': [1]}\n"
        "    if question['op'] == 'complete': say({'response': {'id': 'a'}, 'native': native}); continue\n"
        "    say({'event': {'event_type': 'response.completed', 'response': {'id': 'a'}}, 'native': native})\n"
        "    say({'done': True})\n"
    )
    own = started(tmp_path, body)
    whole, streamed = called(own, "complete"), called(own, "stream")
    own.close()
    assert whole.returned == streamed.returned == {"id": "a"}
    assert whole.returned.native == streamed.returned.native == {"choices": [1]}


def test_the_time_to_load_a_program_again_counts_in_no_call(tmp_path: Path) -> None:
    body = "    say({'response': {}})\n    os._exit(0)\n"
    slow = started(tmp_path, body, HEAD.replace("for line", "time.sleep(1.5)\n\nfor line"))
    asked(slow, "describe")
    for _ in range(2):
        asked(slow, "complete", within_s=1)
        slow.close()
    assert slow.starts == 2


def test_of_what_a_program_prints_the_first_and_the_last_is_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    body = (
        "    sys.stderr.write('begin' + 'x' * 9_000_000)\n    say({'response': {}})\n"
        "    print('end', file=sys.stderr, flush=True)\n"
    )
    program = started(tmp_path, body)
    assert asked(program, "complete") == [{"response": {}}]
    program.close()
    shown = capfd.readouterr().err
    assert shown.startswith("beginxxx")
    assert shown.endswith("xxxend\n")
    assert "\n(llm-conformance: 7885" in shown
    assert len(shown) < 2_000_000


def test_the_output_of_each_call_is_shown_with_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = started(tmp_path, "    print(question['op'], file=sys.stderr, flush=True)\n    say({'response': {}})\n")
    for op in ("complete", "parse"):
        assert asked(program, op) == [{"response": {}}]
        assert capfd.readouterr().err == f"{op}\n"
    program.close()


def test_a_thread_that_passes_on_ends_when_nobody_can_write_any_more(tmp_path: Path) -> None:
    pipe, into = os.pipe()
    with (tmp_path / "shown").open("wb") as shown:
        passed_on = PassedOn(pipe, shown.fileno(), is_bounded=True)
        os.write(into, b"all")
        os.close(into)
        passed_on.end()
        passed_on.thread.join()
    assert (tmp_path / "shown").read_bytes() == b"all"
