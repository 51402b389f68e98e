"""A conformance session: set up once in each process, summed up once in the one that the user looks at."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import lint, plan, report, scenarios, subject, summary
from llm_conformance.bare_items import BareItem, BareRecordings
from llm_conformance.generate.themes import THEMES
from llm_conformance.items import RuleItem, RuleModule, invariants_in
from llm_conformance.judgement import Invariant, Status
from llm_conformance.locations import CASSETTES, RULES
from llm_conformance.plugin import TIMEOUT_S
from llm_conformance.property_items import GeneratedScenarios, Property, PropertyItem, properties
from llm_conformance.providers import table
from llm_conformance.runner import Runner
from llm_conformance.search import Effort
from llm_conformance.server import ReplayServer
from llm_conformance.serving import Transport
from llm_conformance.tally import Tally
from llm_conformance.verdict import Verdict
from llm_conformance.yaml_files import BadFileError

_ATTRIBUTE = "conformance_tally"
_SETTLED = "conformance_settled"
_LONGEST_S = 3600
_OURS = (RuleItem, BareItem, PropertyItem)


class ConformanceSession:
    """The plugin that an option `--adapter` brings in.

    Under pytest-xdist the workers collect and run, and send their verdicts with the reports; the controller sums up.
    """

    NAME = "conformance-session"

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        option = config.getoption
        directory = config.invocation_params.dir
        self._reports = report.destinations(option("conformance_report"), directory)
        self._modules = {path: list(invariants_in(path)) for path in sorted(RULES.glob("test_*.py"))}
        _keep_proxies_away()
        self._filters = plan.Filters(
            providers=option("conformance_provider"),
            scenarios=option("conformance_scenario"),
            invariants=option("conformance_invariant"),
            faces=option("conformance_face"),
        )
        try:
            more = _directories(option("conformance_cassettes"), directory)
            self._scenarios = lint.load_all([CASSETTES, *more], self._filters.admits_id)
            found = {folder: scenarios.find(folder) for folder in (CASSETTES, *more)}
            self._files = [path for files, _ in found.values() for path in files]
            self._bare = [(folder, path) for folder in more for path in found[folder][1]]
            self._subjects = subject.load_all(option("conformance_adapter"), directory)
        except BadFileError as bad:
            raise pytest.UsageError(f"{bad}\n{lint.counted(bad.problems)} in the scenarios; nothing was run") from bad
        except subject.BadAdapterError as error:
            raise pytest.UsageError(str(error)) from error
        self._timeout_s: float = option("conformance_timeout")
        self.effort = _effort(option("conformance_examples"))
        self._check_options()
        self._cells = list(plan.cells(self._subjects, self._scenarios, self._filters))
        self._runner: Runner | None = None
        self._collected_modules: set[Path] = set()
        self._deselected = False
        self._interrupted = False
        self._exit_status = 0
        # What was known at once, and what came of items: under xdist every worker settles everything, and runs a part.
        self._settled = Tally(bool(self._reports))
        self._judged = Tally(bool(self._reports))
        self.planned = 0

    @property
    def runner(self) -> Runner:
        """The process's runner, made when the first rule is collected."""
        if self._runner is None:
            self._runner = Runner(self._timeout_s, self._transport(), self._replay_options())
        return self._runner

    def _transport(self) -> Transport:
        if self._config.getoption("conformance_transport") == "server":
            return ReplayServer()
        from llm_conformance.tape import TapeTransport  # patches nothing yet, but is slow to import

        return TapeTransport()

    def _replay_options(self) -> tuple[str, ...]:
        """Return the options that a call may end differently without, unless they say what is the default."""
        options = {"transport": self._config.getoption("conformance_transport"), "timeout": f"{self._timeout_s:g}"}
        usual = {"transport": "server", "timeout": f"{TIMEOUT_S:g}"}
        return tuple(f"--conformance-{name}={value}" for name, value in options.items() if value != usual[name])

    def rule_module(self, path: Path, parent: pytest.Collector) -> RuleModule:
        """Return the collector of one module of the suite."""
        invariants = [(name, rule) for name, rule in self._modules[path] if self._filters.judges(rule)]
        module: RuleModule = RuleModule.from_parent(
            parent, path=path, cells=self._cells, invariants=invariants, session_=self
        )
        return module

    def begin(self, path: Path) -> None:
        """Note that a module of the suite takes part."""
        self._collected_modules.add(path)

    def settle(self, settled: Verdict) -> None:
        """Take a verdict that needed no test item."""
        self._settled.add([settled])

    def _ids(self) -> Iterator[str]:
        yield from map(scenarios.id_of, self._files)
        yield from (theme.scenario_id(row) for row in table().values() for theme in THEMES if theme.suits(row))

    def _check_options(self) -> None:
        known = {rule.id for rules in self._modules.values() for _, rule in rules}
        rows = {name for row in table().values() for name in (row.id, str(row))}
        problems = [
            f"--conformance-invariant={wanted}: no such invariant; there are {', '.join(sorted(known))}"
            for wanted in self._filters.invariants
            if wanted not in known
        ]
        problems += [
            f"--conformance-provider={wanted}: no scenario of that provider; there are {', '.join(sorted(rows))}"
            for wanted in self._filters.providers
            if wanted not in rows
        ]
        problems += [
            f"--conformance-scenario={pattern}: matches none of the {len(self._files)} scenarios"
            for pattern in self._filters.scenarios
            if not self._bare and not any(plan.Filters(scenarios=[pattern]).admits_id(id) for id in self._ids())
        ]
        if not 0 < self._timeout_s <= _LONGEST_S:
            problems.append(f"--conformance-timeout: has to be more than 0 seconds and at most {_LONGEST_S}")
        if problems:
            raise pytest.UsageError("\n".join(problems))

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
                invariants=self._rules(),
                runner=self.runner,
                effort=self.effort,
                keep_in=keep_in,
                keeps=bool(self._reports),
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
            has_server = self._config.getoption("conformance_transport") == "server"
            yield from properties(self._subjects, self._filters, has_server)

    def _rules(self) -> list[Invariant]:
        """Return the rules that take part."""
        rules = (rule for path in sorted(self._collected_modules) for _, rule in self._modules[path])
        return [rule for rule in rules if self._filters.judges(rule)]

    def _bare_items(self, session: pytest.Session) -> Iterator[BareItem]:
        parent: BareRecordings = BareRecordings.from_parent(session, name="bare", nodeid="bare")
        for home, path in self._bare:
            if self._filters.may_admit(path):
                self.planned += 1
                yield BareItem.from_parent(
                    parent,
                    name=path.as_posix(),
                    nodeid=f"bare::{path.as_posix()}",
                    home=home,
                    file=path,
                    subjects=self._subjects,
                    invariants=self._rules(),
                    filters=self._filters,
                    runner=self.runner,
                    effort=self.effort,
                    keeps=bool(self._reports),
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
            setattr(made, _ATTRIBUTE, self._tally_of(item).to_dict())
        return made

    def _tally_of(self, item: RuleItem | BareItem | PropertyItem) -> Tally:
        if not isinstance(item, RuleItem):
            return item.tally
        tally = Tally(bool(self._reports))
        if item.verdict is not None:
            tally.items = 1
            tally.add([item.verdict])
        return tally

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the verdicts of an item, from whichever process it comes."""
        sent = getattr(report, _ATTRIBUTE, None)
        if sent is not None and not self._is_worker:
            self._judged.absorb(sent)
            delattr(report, _ATTRIBUTE)  # pytest keeps every report

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what an xdist worker settled without running anything, and how much it planned."""
        output = getattr(node, "workeroutput", {}).get(_SETTLED)
        if output is None:
            return
        # Every worker collects everything, so what one of them says is all there is.
        self._settled = Tally(bool(self._reports))
        self._settled.absorb(output["settled"])
        self.planned = output["planned"]
        self._deselected = self._deselected or output["deselected"]
        self._collected_modules |= {Path(path) for path in output["modules"]}

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Stop the machinery; in the user's process decide the exit code and write the reports."""
        if self._runner is not None:
            self._runner.close()
        if self._is_worker:
            self._config.workeroutput[_SETTLED] = {  # type: ignore[attr-defined]
                "settled": self._settled.to_dict(),
                "planned": self.planned,
                "deselected": self._deselected,
                "modules": [str(path) for path in self._collected_modules],
            }
            return
        if self._has_run():
            session.exitstatus = self._exit_code(int(session.exitstatus))
            self._exit_status = int(session.exitstatus)
            for destination in self._reports:
                report.write(destination, self._result())

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
            summary.show(terminalreporter, self._result())

    def _has_run(self) -> bool:
        return bool(self._collected_modules) and not self._config.getoption("collectonly")

    def _result(self) -> report.Result:
        whole = Tally(bool(self._reports))
        whole.absorb(self._settled.to_dict())
        whole.absorb(self._judged.to_dict())
        admitted = [found for found in self._scenarios if self._filters.admits(found)]
        for each in self._subjects:
            whole.not_covered[each.label] += sum(not each.covers(found.provider) for found in admitted)
        return report.Result(
            subjects=tuple(self._subjects),
            scenarios_digest=scenarios.digest(self._files),
            tally=whole,
            faces=tuple(self._filters.faces),
            scenarios=len(admitted),
            examples=self.effort.examples,
            complete=self._complete(),
        )

    def _complete(self) -> bool:
        return (
            not self._filters.given
            and self.effort.examples > 0
            and not self._deselected
            and self._collected_modules == set(self._modules)
            and self._judged.items == self.planned
            and not self._judged.bad_files
        )

    def _exit_code(self, pytest_says: int) -> int:
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
        statuses = self._judged.summary
        if statuses[Status.ERROR]:
            return 3
        if pytest_says == 1 or statuses[Status.FAIL] or statuses[Status.STALE]:
            return 1
        if stopped_at_a_failure:
            return pytest_says
        return 0 if statuses[Status.PASS] or statuses[Status.EXPECTED] else 5


def _effort(named: str) -> Effort:
    try:
        return Effort.named(named)
    except ValueError as error:
        raise pytest.UsageError(f"--conformance-examples={named}: has to be {error}") from error


def _directories(names: Iterable[str], base: Path) -> list[Path]:
    """Return the directories, none twice or within another, so that no file is judged twice."""
    found = [base / name for name in names]
    problems = [f"--conformance-cassettes={path}: {problem}" for path in found if (problem := _unusable(path))]
    if problems:
        raise pytest.UsageError("\n".join(problems))
    kept: list[Path] = []
    for path in sorted(path.resolve() for path in found):  # a folder comes before what is in it
        if not any(path.is_relative_to(other) for other in (CASSETTES.resolve(), *kept)):
            kept.append(path)
    return kept


def _unusable(path: Path) -> str | None:
    """Return why no cassettes can be had there, None if they can."""
    if path.is_file():
        return "this is a file; give the directory in which it stands"
    if not path.is_dir():
        return "no such directory"
    return None if any(path.rglob("*.yaml")) else "no cassette (*.yaml) in this directory"


def _keep_proxies_away() -> None:
    """Have HTTP clients talk to the loopback directly, whatever proxy the environment names."""
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1", "localhost"]))
