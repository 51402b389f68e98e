"""The outcome of a run: verdicts from all processes, the exit code, the reports and the summary."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.judging.calls.stops import without_any_answer
from llm_conformance.judging.known import write
from llm_conformance.judging.on_disk import OnDisk
from llm_conformance.judging.status import Status, exit_code
from llm_conformance.judging.tally import NO_RECORDING_BY_NAME, Tally
from llm_conformance.options import as_typed
from llm_conformance.pytest_plugin import summary
from llm_conformance.pytest_plugin.brief import JUDGED
from llm_conformance.pytest_plugin.failures import Failures, JudgingItem
from llm_conformance.pytest_plugin.run import Run
from llm_conformance.reports import files
from llm_conformance.reports.forms.badge import NoBadgeError
from llm_conformance.reports.result import Result, document
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios import load

_TALLY = "conformance_tally"
_COLLECTED = "conformance_collected"
_RERUN = "rerun"
"""The outcome of a failure after which pytest-rerunfailures runs the item again. Only the last run counts."""


class RunOutcome:
    """The plugin that sums up the verdicts.

    Under pytest-xdist, the workers send their verdicts with the test reports, and the controller sums up.
    """

    NAME = "conformance-outcome"

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self._config = config
        self._run = run
        self._settings = run.settings
        self._is_worker = hasattr(config, "workerinput")
        self._judged = run.new_tally()
        self._judged.exchanges = OnDisk()
        self._interrupted = False
        self._exit_status = 0
        self._was_stopped = False
        self._notes: list[str] = []
        self._final: Result | None = None

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note whether the user stopped the run. For `-x`, pytest-xdist raises a subclass of KeyboardInterrupt."""
        self._interrupted = excinfo.type is KeyboardInterrupt or not isinstance(excinfo.value, KeyboardInterrupt)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the verdicts to the test report; pytest-xdist sends both to the controller."""
        report = yield
        if isinstance(item, JudgingItem) and call.when == "call":
            error = call.excinfo.value if call.excinfo else None
            if report.failed and not isinstance(error, Failures) and not item.tally.summary[Status.ERROR]:
                item.tally.add_fault()
            item.tally.outside.update(self._run.new_outside())
            setattr(report, JUDGED, not report.failed or isinstance(error, Failures))
            # As a text, because xdist cannot send every value that an adapter may return.
            setattr(report, _TALLY, json.dumps(item.tally.to_dict()))
            del item.tally  # to save memory, and because a rerun of the item starts to count again
        elif isinstance(item, JudgingItem) and call.when == "teardown":
            item.told = ()
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the verdicts of an item, from this process or a worker."""
        sent = getattr(report, _TALLY, None)
        if sent is not None and not self._is_worker and report.outcome != _RERUN:
            self._judged.absorb(json.loads(sent))
            delattr(report, _TALLY)  # pytest keeps every report in memory

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what an xdist worker has collected."""
        sent = getattr(node, "workeroutput", {}).get(_COLLECTED)
        if sent is not None:
            self._run.collected.replace_by(json.loads(sent))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Remove badges of earlier runs, so that no old badge is left if the process of this run dies."""
        if not self._is_worker and not session.config.option.collectonly:
            for path in self._settings.reports:
                if path.suffix == files.BADGE:
                    with contextlib.suppress(OSError):  # the end of the run reports a folder that cannot be written
                        path.unlink(missing_ok=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Stop adapters and runner; in the controller, decide the exit code and write the reports."""
        self._run.close()
        if self._is_worker:
            sent = json.dumps(self._run.collected.to_dict())
            self._config.workeroutput[_COLLECTED] = sent  # type: ignore[attr-defined]
            return
        if self._has_run():
            self._was_stopped = bool(session.shouldfail or session.shouldstop or self._interrupted)
            self._final = result = self._result()
            code = self._exit_code(result.tally, int(session.exitstatus))
            if not (self._was_stopped or self._is_finished()):
                planned, done = self._run.collected.items, self._judged.items
                self._notes.append(
                    f"NOT FINISHED: {done} of {planned} planned items were done, and nobody stopped the run"
                )
            is_written = self._write(result)
            session.exitstatus = code if code or is_written else int(pytest.ExitCode.USAGE_ERROR)
            self._exit_status = int(session.exitstatus)

    def _write(self, result: Result) -> bool:
        """Write reports and deviations; return False after an OSError of a report. The summary shows what failed."""
        is_written = True
        report = document(result) if self._settings.reports else {}
        for path in self._settings.reports:
            try:
                files.write(path, report)
            except (NoBadgeError, OSError) as error:
                self._notes.append(f"{path}: not written: {error}")
                is_written = is_written and isinstance(error, NoBadgeError)
        if self._settings.write_deviations is not None:
            self._notes += self._write_deviations(self._settings.write_deviations, result)
        return is_written

    def _write_deviations(self, path: Path, result: Result) -> Iterator[str]:
        """Write the file of known deviations; yield notes about it."""
        settings, rules = self._settings, catalogue()
        if self._was_stopped:
            yield f"{path}: not written: the run was stopped before all failures were found"
            return
        dead = without_any_answer(result.tally.all_verdicts)
        if dead:  # else a run in which nothing works would be green with this file
            yield from (f"{path}: not written: every call of {name} died alike: {why}" for name, why in dead.items())
            return
        try:
            count = write.write(
                path,
                result.tally.all_verdicts,
                settings.deviations,
                result.stale,
                settings.adapters,
                {id: entry.rule.harm for id, entry in rules.items()},
                set(settings.ids()),
                settings.effort,
            )
        except OSError as error:
            yield f"{path}: not written: {error}"
            return
        fill_in = f"fill in reason and link of {count} {'entry' if count == 1 else 'entries'}; then " if count else ""
        yield f"{path}: written; {fill_in}run again with {as_typed('deviations')}={path}"
        if settings.effort.examples and not settings.effort.reproducible:
            yield (
                f"--examples={settings.effort.name} draws anew in every run, so the next one may find more; write the "
                "file with --examples=ci"
            )

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """End the process even if a hung call still has a thread. Python would wait for that thread."""
        if self._run.has_hung_calls and not self._is_worker:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self._exit_status)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the matrix and the notes."""
        if self._has_run():
            summary.show(terminalreporter, self._final or self._result(), is_green=self._exit_status == 0)
            for line in self._notes:
                terminalreporter.write_line(line)

    def _has_run(self) -> bool:
        return bool(self._run.collected.modules) and not self._config.getoption("collectonly")

    def _result(self) -> Result:
        settings, collected = self._settings, self._run.collected
        tally = self._judged.copy()
        tally.absorb(collected.known.to_dict())
        if settings.other_files:
            tally.other_files[NO_RECORDING_BY_NAME] += settings.other_files
        seen = tally.borne_out | tally.undecided
        stale = frozenset(settings.deviations.stale(seen)) if self._is_whole() else frozenset()
        tally.mark_stale(stale)
        return Result(
            adapters=tuple(settings.adapters),
            scenarios_digest=load.digest(settings.files),
            tally=tally,
            deviations=settings.deviations,
            stale=stale,
            methods=tuple(settings.filters.methods),
            all_scenarios=len(settings.files),
            scenarios=len(settings.apis),
            not_covered={each.label: sum(not each.covers(api) for api in settings.apis) for each in settings.adapters},
            examples=settings.effort.examples,
            effort=settings.effort.name,
            planned=collected.items,
            edition=settings.edition,
            transport=settings.transport,
            probes="apart" if settings.probes_apart else "judge",
            restricted=settings.filters.given,
            partial=tuple(self._run.why_partial(self._judged)),
        )

    def _is_whole(self) -> bool:
        """Return True if every rule was applied to every recording."""
        return not any(self._run.why_not_whole(self._judged))

    def _is_finished(self) -> bool:
        return self._run.collected.deselected or self._judged.items >= self._run.collected.items

    def _exit_code(self, tally: Tally, pytest_exit_code: int) -> int:
        """Return the exit code of the run, the first of these that applies.

        * pytest's own code if it is not about test results (2 interrupted, 3 internal error, 4 usage error), unless
          `-x` stopped the run;
        * 4 for a bare cassette that cannot be read;
        * 3 for a fault of the suite;
        * 1 for a failure, a stale deviation, or blocked cells if no failure says why;
        * 3 if fewer items ran than planned and nobody stopped the run, unless nothing was judged;
        * pytest's own code if another test failed or `-x` stopped the run;
        * 5 if nothing was judged;
        * 0 if the adapters conform.
        """
        stopped_at_a_failure = pytest_exit_code == 2 and not self._interrupted
        if pytest_exit_code not in (0, 1, 5) and not stopped_at_a_failure:
            return pytest_exit_code
        if self._judged.bad_files:
            return int(pytest.ExitCode.USAGE_ERROR)
        code = exit_code(tally.summary)
        if code in (1, 3):
            return code
        if code == 0 and not self._was_stopped and not self._is_finished():
            return int(pytest.ExitCode.INTERNAL_ERROR)
        return pytest_exit_code if pytest_exit_code == 1 or stopped_at_a_failure else code
