"""An adapter in a process of its own: what comes back, and what its process does beside the calls."""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from llm_conformance.adapter import host, libraries, loader
from llm_conformance.adapter.declarations import AdapterUnderTest, BadAdapterError
from llm_conformance.calling.program import Program
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.outcome import Outcome
from llm_conformance.scenarios.scenario import Scenario
from tests import miniature

HEAD = """\
import dataclasses, json, os, re, socket, sys, threading, time
"""
ADAPTER = """\
class Adapter:
    providers = {"deepseek"}

    def parse(self, http, call):
        message = json.loads(http.body)["choices"][0]["message"]
        answer = {"provider": "deepseek", "message": message["content"]}
BODY
        return answer

conformance_adapter = Adapter
"""


@pytest.fixture
def runner() -> Iterator[Runner]:
    """Return a runner with a short limit."""
    made = Runner(0.5, ReplayServer())
    yield made
    made.close()


@pytest.fixture
def scenario(scenarios: list[Scenario]) -> Scenario:
    """Return a plain answer with reasoning."""
    return next(each for each in scenarios if each.id == "deepseek/reasoning-beside-content")


def load(tmp_path: Path, body: str = "", head: str = "") -> AdapterUnderTest:
    """Load an adapter whose `parse` does something before it returns."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    path = tmp_path / f"adapter_{tmp_path.name}.py"
    path.write_text(HEAD + head + ADAPTER.replace("BODY", lines), "utf-8")
    return loader.load(str(path), tmp_path, (), "process")


def outcome(runner: Runner, adapter: AdapterUnderTest, scenario: Scenario) -> Outcome:
    """Return what comes of a call."""
    return runner.run(Cell(adapter, scenario, "json", "parse")).outcome


def test_an_endless_regular_expression_is_named_and_the_next_call_answered(
    tmp_path: Path, runner: Runner, scenario: Scenario
) -> None:
    once = "if not os.path.exists('once'):\n    open('once', 'w').close()\n    re.match('(a+)+$', 'a' * 40 + 'b')"
    adapter = load(tmp_path, once.replace("'once'", repr(str(tmp_path / "once"))))
    first, second = outcome(runner, adapter, scenario), outcome(runner, adapter, scenario)
    adapter.close()
    assert first.hung
    assert f"adapter_{tmp_path.name}.py:10 in parse; call.timeout_s was 0.5" in (first.fault or "")
    assert second.response
    assert not runner.gave_up


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("os._exit(0)", "the adapter's process ended with exit code 0 instead of an answer"),
        ("os.kill(os.getpid(), 11)", "the adapter's process was ended by the signal SIGSEGV instead of an answer"),
        ("sys.exit(0)", "raised SystemExit: 0"),
    ],
)
def test_an_end_of_the_process_is_the_failure_of_its_call(
    body: str, says: str, tmp_path: Path, runner: Runner, scenario: Scenario
) -> None:
    adapter = load(tmp_path, body)
    found = outcome(runner, adapter, scenario)
    adapter.close()
    assert found.fault == says


def test_an_alarm_between_two_calls_does_not_end_the_process(capsys: pytest.CaptureFixture[str]) -> None:
    class Questions(io.BufferedReader):
        alarms = 1

        def readline(self, size: int | None = -1, /) -> bytes:
            if self.alarms:
                self.alarms -= 1
                raise TimeoutError("too late")
            return super().readline(size)

    questions = Questions(io.BytesIO(b"{}\n"))
    assert host._next(questions) == b"{}\n"
    assert host._next(questions) == b""
    assert "TimeoutError: too late" in capsys.readouterr().err


def test_too_much_memory_is_the_failure_of_its_call(
    tmp_path: Path, runner: Runner, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = load(tmp_path, "kept = bytearray(os.urandom(64)) * 2_000_000\ntime.sleep(60)")
    monkeypatch.setattr("llm_conformance.calling.program.MOST_MEMORY", 100_000_000)
    found = outcome(runner, adapter, scenario)
    adapter.close()
    assert "the adapter's process was ended, because it had 0." in (found.fault or "")


def test_what_it_prints_breaks_nothing_and_is_searched_for_the_key(
    tmp_path: Path, runner: Runner, scenario: Scenario
) -> None:
    adapter = load(tmp_path, "print(call.api_key)\nprint('x' * 3_000_000, file=sys.stderr)")
    found = outcome(runner, adapter, scenario)
    adapter.close()
    assert found.response
    assert found.logs == ("the adapter printed it",)


def test_a_number_of_another_library_has_a_name(tmp_path: Path, runner: Runner, scenario: Scenario) -> None:
    head = "class int64:\n    def __int__(self): return 3\nint64.__module__ = 'numpy'\n"
    adapter = load(tmp_path, "answer['usage'] = {'prompt_tokens': int64()}", head)
    found = outcome(runner, adapter, scenario)
    adapter.close()
    assert found.response
    assert repr(found.response.data["usage"]["prompt_tokens"]) == "<numpy.int64>"


def test_connections_of_a_thread_belong_to_no_call(tmp_path: Path, runner: Runner, scenario: Scenario) -> None:
    head = (
        "def phone():\n    while True:\n        try: socket.create_connection(('198.51.100.7', 80), 1)\n"
        "        except OSError: time.sleep(0.01)\n"
        "threading.Thread(target=phone, daemon=True).start()\n"
    )
    adapter = load(tmp_path, "time.sleep(0.1)", head)
    found = outcome(runner, adapter, scenario)
    adapter.close()
    assert found.connections == ()
    ((place, count),) = runner.outside.items()
    assert place.startswith("198.51.100.7:80, from ")
    assert place.endswith(" in phone")
    assert count > 0


@pytest.mark.parametrize(
    "late",
    [
        """print('{"response": {"message": "Seven."}}')""",
        "1 / 0",
        "call.params.clear() or call.messages[0].clear()",
        "socket.create_connection(('198.51.100.7', 80), 1)",
    ],
)
def test_what_a_thread_of_an_earlier_call_does_is_no_failure_of_the_next(
    late: str, tmp_path: Path, runner: Runner, scenario: Scenario
) -> None:
    body = f"begun = threading.Event()\nthreading.Timer(0.1, lambda: [begun.set(), {late}]).start()\n"
    once = "if not hasattr(self, 'begun'):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    adapter = load(tmp_path, f"{once}    self.begun = begun\nelse:\n    self.begun.wait()\n    time.sleep(0.1)")
    first, second = outcome(runner, adapter, scenario), outcome(runner, adapter, scenario)
    adapter.close()
    assert first.response
    assert second.response
    assert second.response.data == first.response.data
    for each in (first, second):
        assert (each.fault, each.connections, each.mutations, each.logs) == (None, (), (), ())


def test_a_child_that_comes_back_from_the_call_does_not_answer_the_next(
    tmp_path: Path, runner: Runner, scenario: Scenario
) -> None:
    body = (
        "self.calls = getattr(self, 'calls', 0) + 1\nanswer['message'] = str(self.calls)\n"
        "if self.calls > 1: time.sleep(0.3)\nelif os.fork() == 0: time.sleep(0.1)"
    )
    adapter = load(tmp_path, body)
    answers = [outcome(runner, adapter, scenario) for _ in range(2)]
    adapter.close()
    assert [each.response and each.response.message for each in answers] == ["1", "2"]


def test_an_earlier_answer_is_the_very_object_and_is_asked_for_again_if_its_process_has_ended(
    scenarios: list[Scenario], runner: Runner, tmp_path: Path
) -> None:
    scenario = next(each for each in scenarios if each.id == "deepseek/reasoning-goes-back-in-a-later-question")
    adapter = loader.load("adapters", tmp_path, (), "process")
    cell = Cell(adapter, scenario, "json", "complete")
    runner = Runner(10, ReplayServer())
    first = runner.run(cell).outcome
    assert adapter.program
    adapter.program.close()
    second = runner.run(cell).outcome
    adapter.close()
    runner.close()
    assert first.request
    assert first.request == second.request


def test_an_adapter_that_cannot_be_loaded_is_explained_alike(tmp_path: Path) -> None:
    path = tmp_path / "failing_import.py"
    path.write_text("import nosuchmodule\n", "utf-8")
    told: list[str] = []
    for isolation in ("none", "process"):
        with pytest.raises(BadAdapterError) as refused:
            loader.load(str(path), tmp_path, (), isolation)
        told.append(str(refused.value))
        sys.modules.pop("failing_import", None)
    assert told[0] == told[1]


def test_declarations_are_the_same_in_a_process(tmp_path: Path) -> None:
    here, there = (loader.load("adapters", tmp_path, (), isolation) for isolation in ("none", "process"))
    there.close()
    assert vars(replace(here, instance=None)) == vars(replace(there, instance=None))


def test_a_library_behind_a_program_is_asked_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "shim.py"
    program.write_text(
        "import json\nfor line in iter(input, ''):\n"
        "    print(json.dumps({'providers': ['deepseek'], 'methods': ['complete']}), flush=True)\n",
        "utf-8",
    )
    library = next(each for each in libraries.libraries().values() if each.is_node)
    monkeypatch.setattr(type(library), "check", lambda _self, _directory: None)
    monkeypatch.setattr(type(library), "shim_beside", lambda _self, _directory: program)
    monkeypatch.setattr(
        type(library), "spec", staticmethod(lambda shim: f"cmd:{shlex.join([sys.executable, str(shim)])}")
    )
    adapter = loader.load(library.name, tmp_path, (), "process")
    adapter.close()
    assert adapter.methods == {"complete"}


def test_a_network_that_the_system_refuses_is_explained(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Program, "has_network", property(lambda _self: False, lambda _self, _value: None), raising=False
    )
    monkeypatch.setattr(
        Program, "refused", property(lambda _self: "unshare: no", lambda _self, _value: None), raising=False
    )
    result, _ = miniature.run(pytester, "--adapter=adapters", "--conformance-isolation=namespace")
    assert result.ret == 4
    says = "--conformance-isolation=namespace: this system gives the adapter no network of its own (unshare: no); leave"
    assert says in result.stderr.str()


@pytest.mark.parametrize(
    ("named", "transport", "where"),
    [("auto", "server", "namespace"), ("auto", "vcr", "none"), ("process", "server", "process")],
)
def test_the_default_depends_on_the_transport(named: str, transport: str, where: str) -> None:
    assert loader.isolation(named, transport) == where


def test_the_vcr_transport_needs_the_process_of_the_suite(pytester: pytest.Pytester) -> None:
    options = ("--conformance-isolation=process", "--conformance-transport=vcr")
    result, _ = miniature.run(pytester, "--adapter=adapters", *options)
    assert result.ret == 4
    assert "the transport vcr replays within the process of the suite only" in result.stderr.str()
