"""A pytest plugin that runs the collected tests once for each mutant, in forked processes."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import signal
import sys
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from mutmut.mutation import trampoline

from llm_conformance.adapter.declarations import describe
from llm_conformance.options import TIMEOUT_S
from llm_conformance.pytest_plugin.failures import Failures, JudgingItem
from llm_conformance.pytest_plugin.items import ExchangeItem
from llm_conformance.replay.server import ReplayServer
from tools.mutation.mutant import Mutant

Fate = Literal["killed", "survived", "timeout", "not reached", "harness error"]

LIMIT_S = 300
"""The least time limit for the tests of one mutant, in seconds; a mutant that exceeds its limit counts as found."""
SLOWER = 5
"""The time limit is this many times as long as all tests take without a mutant: the machine may be busier later."""

_FATES: dict[int, Fate] = {0: "survived", 1: "killed", 3: "harness error", 4: "killed"}
_SURVIVED, _KILLED, _HARNESS, _NOT_LOADED = 0, 1, 3, 4


class Judge:
    """A pytest plugin that judges mutants instead of running each test once.

    Args:
        mutants: The mutants to judge.
        jobs: The number of parallel processes.
        progress: A function that is called with each mutant, its fate, and the test that fails, if one fails.
    """

    def __init__(self, mutants: Sequence[Mutant], jobs: int, progress: Callable[[Mutant, Fate, str], None]) -> None:
        self._mutants = mutants
        self._jobs = jobs
        self._progress = progress
        self._hits: set[str] = set()
        self._at_import: set[str] = set()
        self._limit_s = LIMIT_S
        self._failing = Path()
        self.fates: dict[str, Fate] = {}
        vars(trampoline)["record_trampoline_hit"] = lambda name, caller=None: self._hits.add(name)

    def load(self, package: str) -> None:
        """Import the mutated adapters before the suite imports them, and note which functions the import calls."""
        trampoline.set_mutant_under_test("stats")
        self._instance(package)
        self._at_import = set(self._hits)
        trampoline.set_mutant_under_test("")

    @staticmethod
    def _instance(package: str) -> Any:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]
        return importlib.import_module(package).conformance_adapter()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge all mutants instead of running the tests once."""
        items = _mixed([item for item in session.items if isinstance(item, JudgingItem)])
        began = time.monotonic()
        reached = self._reached(session, items)
        self._limit_s = max(LIMIT_S, SLOWER * round(time.monotonic() - began))
        running: dict[int, Mutant] = {}
        with tempfile.TemporaryDirectory() as directory:
            self._failing = Path(directory)
            for mutant in self._mutants:
                chosen = items if mutant.hit in self._at_import else [items[each] for each in reached[mutant.hit]]
                if not chosen:
                    self._note(mutant, "not reached")
                    continue
                while len(running) >= self._jobs:
                    self._wait(running)
                running[self._fork(session, mutant, chosen)] = mutant
            while running:
                self._wait(running)
        return True

    def _reached(self, session: pytest.Session, items: Sequence[JudgingItem]) -> dict[str, Collection[int]]:
        """Run the tests once without a mutant; return the numbers of the tests that call each function."""
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "reached.json"
            pid = os.fork()
            if pid == 0:
                _quietly(lambda: self._try_out(session, items, path))
            _, status = os.waitpid(pid, 0)
            if os.waitstatus_to_exitcode(status) != _SURVIVED:
                which = path.read_text("utf-8") if path.exists() else "a fault of the suite"
                raise pytest.UsageError(f"the adapters fail without any mutant, mend that first: {which}")
            return defaultdict(list, json.loads(path.read_text("utf-8")))

    def _try_out(self, session: pytest.Session, items: Sequence[JudgingItem], path: Path) -> int:
        reached: defaultdict[str, list[int]] = defaultdict(list)
        fresh = _fresh_runner(session)
        trampoline.set_mutant_under_test("stats")
        for number, item in enumerate(items):
            self._hits.clear()
            fresh.exchange.cache_clear()  # each item has to make the exchanges that it looks at
            if _ends_again(session, item) != _SURVIVED:
                path.write_text(item.name, "utf-8")
                return _KILLED
            for function in self._hits:
                reached[function].append(number)
        path.write_text(json.dumps(reached), "utf-8")
        fresh.close()
        return _SURVIVED

    def _fork(self, session: pytest.Session, mutant: Mutant, items: Sequence[JudgingItem]) -> int:
        pid = os.fork()
        if pid == 0:
            signal.alarm(self._limit_s)
            _quietly(lambda: self._judge(session, mutant, items))
        return pid

    def _judge(self, session: pytest.Session, mutant: Mutant, items: Sequence[JudgingItem]) -> int:
        trampoline.set_mutant_under_test(mutant.name)
        if mutant.hit in self._at_import:
            try:
                instance = self._instance(mutant.name.partition(".")[0])
                describe("", instance)
            except BaseException:
                return _NOT_LOADED  # a user would get a usage error
            for item in items:
                if isinstance(item, ExchangeItem):  # all of them share one AdapterUnderTest
                    object.__setattr__(item.cell.adapter, "instance", instance)
        _fresh_runner(session)
        for item in items:
            end = _ends_again(session, item)
            if end != _SURVIVED:
                (self._failing / str(os.getpid())).write_text(item.name, "utf-8")
                return end
        return _SURVIVED

    def _wait(self, running: dict[int, Mutant]) -> None:
        pid, status = os.wait()
        mutant = running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        failing = self._failing / str(pid)
        by = failing.read_text("utf-8") if failing.exists() else ""
        self._note(mutant, "timeout" if code == -signal.SIGALRM else _FATES.get(code, "killed"), by)

    def _note(self, mutant: Mutant, fate: Fate, by: str = "") -> None:
        self.fates[mutant.name] = fate
        self._progress(mutant, fate, by)


def _mixed(items: Sequence[JudgingItem]) -> list[JudgingItem]:
    """Return the items with their scenarios in a mixed order, which is always the same.

    In this order, a failing test comes sooner than in the order of the providers. The items of a scenario stay
    together, because they share exchanges.
    """

    def place(item: JudgingItem) -> int:
        return zlib.crc32((item.cell.scenario.id if isinstance(item, ExchangeItem) else item.name).encode())

    return sorted(items, key=place)


def _ends_in(item: JudgingItem) -> int:
    try:
        item.runtest()
    except Failures:
        return _KILLED
    except (pytest.skip.Exception, pytest.xfail.Exception):
        return _SURVIVED  # also for a rule that is blocked: the rule that reports the failed call has to fail
    except Exception:
        return _HARNESS
    return _SURVIVED


def _ends_again(session: pytest.Session, item: JudgingItem) -> int:
    """Run a test, and run it again if it fails: on a busy machine, a test with a time limit may fail by chance."""
    end = _ends_in(item)
    if end != _SURVIVED:
        _fresh_runner(session)
        end = _ends_in(item)
    return end


def _fresh_runner(session: pytest.Session) -> Any:
    """Set up the session's runner again and return it: the runner's threads and connections do not survive a fork."""
    plugin: Any = session.config.pluginmanager.get_plugin("conformance-session")
    runner = plugin.run.runner
    runner.__init__(TIMEOUT_S, ReplayServer(), runner.options)
    return runner


def _quietly(work: Callable[[], int]) -> None:
    """Exit the process with the code that `work` returns; discard its output."""
    code = _HARNESS
    nowhere = io.StringIO()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), contextlib.suppress(BaseException):
        code = work()
    os._exit(code)
