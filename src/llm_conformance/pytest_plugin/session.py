"""A conformance session: set up once in each process, summed up once in the one that the user looks at."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.judging import deviations_file, evidence, plan
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.narrative import command
from llm_conformance.judging.status import Status
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import Verdict
from llm_conformance.pytest_plugin import settings, summary
from llm_conformance.pytest_plugin.bare_items import BareItem, BareRecordings
from llm_conformance.pytest_plugin.failures import Failures
from llm_conformance.pytest_plugin.generated_items import GeneratedScenarios, Property, PropertyItem, properties
from llm_conformance.pytest_plugin.items import RuleItem, RuleModule
from llm_conformance.replay import proxies
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.replay.transport import Transport
from llm_conformance.reports import files
from llm_conformance.reports.badge import NoBadgeError
from llm_conformance.reports.result import Result, document
from llm_conformance.rules.rule import Rule
from llm_conformance.scenarios import load

_ATTRIBUTE = "conformance_tally"
_SETTLED = "conformance_settled"
_OURS = (RuleItem, BareItem, PropertyItem)


class ConformanceSession:
    """The plugin that an option `--adapter` brings in.

    Under pytest-xdist the workers collect and run, and send their verdicts with the reports; the controller sums up.
    """

    NAME = "conformance-session"

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        proxies.keep_proxies_away()
        self._settings = settings.read(config)
        self._filters = self._settings.filters
        self._adapters = self._settings.adapters
        self.effort: Effort = self._settings.effort
        self.deviations = self._settings.deviations
        self._cells = list(plan.cells(self._adapters, self._settings.scenarios, self._filters))
        self._runner: Runner | None = None
        self._collected_modules: set[Path] = set()
        self._deselected = False
        self._interrupted = False
        self._exit_status = 0
        # What was known at once, and what came of items: under xdist every worker settles everything, and runs a part.
        self.keeps = bool(self._settings.reports) or self._settings.write_deviations is not None
        self._settled = Tally(self.keeps)
        self._judged = Tally(self.keeps)
        self._shown: set[str] = set()
        self._notes: list[str] = []
        self._final: Result | None = None
        self.planned = 0

    @property
    def runner(self) -> Runner:
        """The process's runner, made when the first rule is collected."""
        if self._runner is None:
            self._runner = Runner(self._settings.timeout_s, self._transport(), self._settings.replay_options)
        return self._runner

    def _transport(self) -> Transport:
        if self._settings.transport == "server":
            return ReplayServer()
        from llm_conformance.replay.vcr_transport import VcrTransport  # patches nothing yet, but is slow to import

        return VcrTransport()

    def rule_module(self, path: Path, parent: pytest.Collector) -> RuleModule:
        """Return the collector of one module of the suite."""
        rules = [(name, rule) for name, rule in self._settings.modules[path] if self._filters.judges(rule)]
        module: RuleModule = RuleModule.from_parent(parent, path=path, cells=self._cells, rules=rules, session_=self)
        return module

    def begin(self, path: Path) -> None:
        """Note that a module of the suite takes part."""
        self._collected_modules.add(path)

    def settle(self, known: Verdict) -> None:
        """Take a verdict that needed no test item."""
        self._settled.add([self.deviations.apply(known)])

    def exchange_of(self, cell: Cell) -> dict[str, dict[str, Any]]:
        """Return what reports show of a cell's exchange, once; nothing if none is asked for."""
        name = evidence.key(cell.adapter.label, cell.scenario.id, cell.method)
        if not self._settings.reports or name in self._shown:
            return {}
        self._shown.add(name)
        again = command(cell, more=self.runner.options)
        return {name: evidence.of(self.runner.exchange(cell), again)}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Bring the rules that judge one exchange together, so that few exchanges are in memory at a time.

        Bare recordings come last, unless single tests are asked for.
        """
        order = {id(cell): number for number, cell in enumerate(self._cells)}
        ours = iter(sorted((i for i in items if isinstance(i, RuleItem)), key=lambda item: order[id(item.cell)]))
        items[:] = [next(ours) if isinstance(item, RuleItem) else item for item in items]
        if self._collected_modules and not any("::" in argument for argument in self._config.args):
            items += self._property_items(session)
            items += self._bare_items(session)

    def _property_items(self, session: pytest.Session) -> Iterator[PropertyItem]:
        parent: GeneratedScenarios = GeneratedScenarios.from_parent(session, name="generated", nodeid="generated")
        keep_in = self._cache()
        for searched in self._properties():
            self.planned += 1
            yield PropertyItem.from_parent(
                parent,
                name=str(searched),
                nodeid=f"generated::{searched}",
                searched=searched,
                rules=self._rules(),
                session_=self,
                keep_in=keep_in,
            )

    def _cache(self) -> Path | None:
        """Return where found examples are kept: in pytest's cache, None if there is none or it cannot be written."""
        if not self._config.pluginmanager.get_plugin("cacheprovider"):
            return None
        try:
            made: Path = self._config.cache.mkdir("llm-conformance")
        except OSError:
            return None
        return made

    def _properties(self) -> Iterator[Property]:
        if self.effort.examples:
            yield from properties(self._adapters, self._filters, self._settings.transport == "server")

    def _rules(self) -> list[Rule]:
        """Return the rules that take part."""
        rules = (rule for path in sorted(self._collected_modules) for _, rule in self._settings.modules[path])
        return [rule for rule in rules if self._filters.judges(rule)]

    def _bare_items(self, session: pytest.Session) -> Iterator[BareItem]:
        parent: BareRecordings = BareRecordings.from_parent(session, name="bare", nodeid="bare")
        for cassette_dir, path in self._settings.bare:
            if self._filters.may_admit(path):
                self.planned += 1
                yield BareItem.from_parent(
                    parent,
                    name=path.as_posix(),
                    nodeid=f"bare::{path.as_posix()}",
                    cassette_dir=cassette_dir,
                    file=path,
                    adapters=self._adapters,
                    rules=self._rules(),
                    filters=self._filters,
                    session_=self,
                )

    def pytest_deselected(self, items: Iterable[pytest.Item]) -> None:
        """Note that the run is not whole."""
        self._deselected = self._deselected or any(isinstance(item, _OURS) for item in items)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that somebody stopped the run; `-x` does it by subclasses of KeyboardInterrupt, pytest's and xdist's."""
        stopped_itself = isinstance(excinfo.value, KeyboardInterrupt) and excinfo.type is not KeyboardInterrupt
        self._interrupted = not stopped_itself

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send the verdicts along with the report; pytest-xdist carries them to the controller."""
        made = yield
        if isinstance(item, _OURS) and call.when == "call":
            ended = call.excinfo.value if call.excinfo else None
            if made.failed and not isinstance(ended, Failures) and not item.tally.summary[Status.ERROR]:
                item.tally.add_fault()
            # As a text: what adapters return may be more than xdist can carry.
            setattr(made, _ATTRIBUTE, json.dumps(item.tally.to_dict()))
        return made

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the verdicts of an item, from whichever process it comes."""
        sent = getattr(report, _ATTRIBUTE, None)
        if sent is not None and not self._is_worker:
            self._judged.absorb(json.loads(sent))
            delattr(report, _ATTRIBUTE)  # pytest keeps every report

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what an xdist worker settled without running anything, and how much it planned."""
        output = getattr(node, "workeroutput", {}).get(_SETTLED)
        if output is None:
            return
        # Every worker collects everything, so what one of them says is all there is.
        self._settled = Tally(self.keeps)
        self._settled.absorb(json.loads(output["settled"]))
        self.planned = output["planned"]
        self._deselected = self._deselected or output["deselected"]
        self._collected_modules |= {Path(path) for path in output["modules"]}

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Stop the machinery; in the user's process decide the exit code and write the reports."""
        for each in self._adapters:
            each.close()
        if self._runner is not None:
            self._runner.close()
        if self._is_worker:
            self._config.workeroutput[_SETTLED] = {  # type: ignore[attr-defined]
                "settled": json.dumps(self._settled.to_dict()),
                "planned": self.planned,
                "deselected": self._deselected,
                "modules": [str(path) for path in self._collected_modules],
            }
            return
        if self._has_run():
            self._final = result = self._result()
            session.exitstatus = self._exit_code(result.tally, int(session.exitstatus))
            self._exit_status = int(session.exitstatus)
            self._write(result)

    def _write(self, result: Result) -> None:
        """Write reports and deviations; what could not be written is told with the summary."""
        made = document(result) if self._settings.reports else {}
        for destination in self._settings.reports:
            try:
                files.write(destination, made)
            except (NoBadgeError, OSError) as error:
                self._notes.append(f"{destination}: not written: {error}")
        path = self._settings.write_deviations
        if path is not None:
            try:
                left = deviations_file.write(path, result.tally.verdicts, self.deviations, self._adapters)
                self._notes += [f"{path}: written; reason and link are to be filled in, of {left} entries"] * bool(left)
            except OSError as error:
                self._notes.append(f"{path}: not written: {error}")

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """End the process although a call that hung may still hold a thread that Python would wait for."""
        if self._runner is not None and self._runner.gave_up and not self._is_worker:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self._exit_status)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the matrix."""
        if self._has_run():
            summary.show(terminalreporter, self._final or self._result())
            for line in self._notes:
                terminalreporter.write_line(line)

    def _has_run(self) -> bool:
        return bool(self._collected_modules) and not self._config.getoption("collectonly")

    def _result(self) -> Result:
        whole = Tally(self.keeps)
        whole.absorb(self._settled.to_dict())
        whole.absorb(self._judged.to_dict())
        apis = self._settings.apis
        stale = frozenset(self.deviations.stale(whole.borne_out)) if self._is_whole() else frozenset()
        whole.mark_stale(stale)
        return Result(
            adapters=tuple(self._adapters),
            scenarios_digest=load.digest(self._settings.files),
            tally=whole,
            deviations=self.deviations,
            stale=stale,
            methods=tuple(self._filters.methods),
            all_scenarios=len(self._settings.files),
            scenarios=len(apis),
            not_covered={each.label: sum(not each.covers(api) for api in apis) for each in self._adapters},
            examples=self.effort.examples,
            planned=self.planned,
            transport=self._settings.transport,
            restricted=self._filters.given,
            complete=self._is_whole() and self.effort.examples > 0 and not self._judged.bad_files,
        )

    def _is_whole(self) -> bool:
        """Whether every rule was applied to all that is recorded."""
        return (
            not self._filters.given
            and not self._deselected
            and self._collected_modules == set(self._settings.modules)
            and self._judged.items == self.planned
        )

    def _exit_code(self, tally: Tally, pytest_says: int) -> int:
        """Return the contract's exit code.

        Highest rule first: 4 misuse (pytest's own, left alone like any other that is not about test results, but for a
        run that `-x` stopped; or a bare cassette that is none);
        3 the harness's own error; 1 a failure or a stale entry; 5 nothing was checked; 0 conforms.
        """
        stopped_at_a_failure = pytest_says == 2 and not self._interrupted
        if pytest_says not in (0, 1, 5) and not stopped_at_a_failure:
            return pytest_says
        if self._judged.bad_files:
            return int(pytest.ExitCode.USAGE_ERROR)
        statuses = tally.summary
        if statuses[Status.ERROR]:
            return 3
        if pytest_says == 1 or statuses[Status.FAIL] or statuses[Status.STALE]:
            return 1
        if stopped_at_a_failure:
            return pytest_says
        return 0 if statuses[Status.PASS] or statuses[Status.EXPECTED] else 5
