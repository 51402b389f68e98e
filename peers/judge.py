"""Judge one library: install it, run the suite on it twice, and run the programs that reproduce its findings.

Each step writes into a working directory, with a digest of everything that it depends on. A step with the same digest
is not done again, so a run that was stopped can continue.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from llm_conformance.adapter.libraries import Library
from llm_conformance.corpus import places, recordings
from llm_conformance.judging.status import Status
from llm_conformance.reports import files
from llm_conformance.reports.document import Document
from llm_conformance.reports.grouping import one_by_one
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError
from peers import known, programs
from peers.environments import ROOT, Environment, NoPythonError, NotInstalledError, arguments
from peers.outcome import EVIDENCE, Evidence, Outcome
from peers.steps import digest, once

_SUITE = ("src", "conformance", "cassettes", "schemas")
_REPRODUCED_WITHIN_S = 120
_KEPT = frozenset({Status.FAIL.value, Status.EXPECTED.value, Status.STALE.value, Status.NEW.value, Status.ERROR.value})

_OPTIONS: dict[Evidence, tuple[str, ...]] = {
    "written": (),
    # The ids of recordings have a slash more than those of the suite's scenarios.
    "real": (f"--corpus={places.PUBLIC}", "--scenario=*/*/*", "--method=complete", "--method=stream"),
}


def suite_digest() -> str:
    """Return a digest of the suite: its code, rules, scenarios and schemas, and the manifest of the public corpus."""
    return digest(*(path for name in _SUITE for path in _files(ROOT / name)))


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not {"__pycache__", "node_modules"} & set(path.parts):
            yield path


@dataclass(frozen=True)
class Judge:
    """Judges libraries.

    Attributes:
        work: The directory of environments, reports and logs.
        suite: The digest of the suite.
        no_traffic: Why libraries are not judged by real traffic; "" if they are.
        say: A function that is called with the name of a library and what has been done.
        stop: Once it is set, no further step begins.
    """

    work: Path
    suite: str
    no_traffic: str
    say: Callable[[str, str], None]
    stop: threading.Event = field(default_factory=threading.Event)

    def judge(self, library: Library) -> Outcome:
        """Do all steps. Raises StoppedError."""
        log = self.work / f"{library.name}.log"
        environment = Environment(self.work / library.name, log)
        frozen = digest(*self._frozen(library), str(ROOT))
        try:
            self._once(library, "environment", frozen, lambda: self._install(library, environment))
        except NoPythonError as error:
            return Outcome(library, log, not_judged=(f"not judged here: {error}",))
        except NotInstalledError as error:
            return Outcome(library, log, broken=(f"could not be installed: {error}",))
        shim = [path for path in _files(library.folder) if path.parent.name != "reports" and path != library.deviations]
        judged_with = digest(frozen, self.suite, *shim)
        reports: dict[Evidence, Document] = {}
        broken: list[str] = []
        not_judged: list[str] = []
        for evidence, name in EVIDENCE.items():
            if evidence == "real" and (why := self.no_traffic or _no_recordings(reports.get("written"))):
                not_judged += [f"{name}: {why}"]
                continue
            path = self.work / f"{library.name}.{evidence}.json"
            if trouble := self._report(library, environment, evidence, path, judged_with):
                broken.append(f"{name}: {trouble}")
            else:
                reports[evidence] = files.read(path)
        reproductions = {
            path.name: self._reproduce(library, environment, path, digest(frozen, path))
            for path in library.reproductions
        }
        outcome = Outcome(library, log, reports, reproductions, (), tuple(broken), tuple(not_judged))
        return _with_deviations(outcome)

    def _frozen(self, library: Library) -> Iterator[Path]:
        yield from (library.folder / name for name in library.frozen)

    def _install(self, library: Library, environment: Environment) -> str:
        environment.install_frozen(library.folder / "requirements.txt", library.python)
        if library.is_node and environment.run("npm", "ci", "--ignore-scripts", "--prefix", library.folder):
            raise NotInstalledError("npm failed")
        return ""

    def _report(
        self, library: Library, environment: Environment, evidence: Evidence, path: Path, judged_with: str
    ) -> str:
        """Make a report unless it is there. Return what went wrong; "" if nothing did."""

        def make() -> str:
            path.unlink(missing_ok=True)
            spec = library.spec(library.shim.relative_to(ROOT))
            code = environment.run(*arguments(spec, *_OPTIONS[evidence], f"--report={path}"))
            if code not in (0, 1) or not path.is_file():
                return f"was not judged (exit code {code})"
            if evidence == "real":
                report = one_by_one(json.loads(path.read_text("utf-8")))
                path.write_text(json.dumps(without_bulk(report), ensure_ascii=False), "utf-8")
            return ""

        return self._once(library, evidence, judged_with, make)

    def _reproduce(self, library: Library, environment: Environment, path: Path, made_of: str) -> int | None:
        def run() -> str:
            command = programs.command(path, is_node=library.is_node)
            try:
                return str(environment.run(*command, timeout=_REPRODUCED_WITHIN_S))
            except (subprocess.TimeoutExpired, NotInstalledError):
                return ""

        # A step that hung may have lacked processor time, so the next run tries it again.
        code = self._once(library, f"reports-{path.name}", made_of, run, keeps=bool)
        return int(code) if code else None

    def _once(
        self,
        library: Library,
        step: str,
        made_of: str,
        action: Callable[[], str],
        keeps: Callable[[str], bool] = lambda result: not result,
    ) -> str:
        """Do a step, and keep its result with the digest. If an earlier run has kept the result, return that."""
        done = self.work / f"{library.name}.{step}.done"
        if not (self.work / library.name).is_dir():
            done.unlink(missing_ok=True)
        return once(
            done, made_of, action, keeps, lambda what: self.say(library.name, f"{_shown(step)}: {what}"), self.stop
        )


def _with_deviations(outcome: Outcome) -> Outcome:
    """Apply the known deviations of the library to its reports."""
    if not outcome.reports:
        return outcome
    report, *_ = outcome.reports.values()
    try:
        deviations = known.deviations_of(outcome.library, report, has_recordings="real" in outcome.reports)
    except BadFileError as error:
        return replace(outcome, broken=(*outcome.broken, str(error)))
    reports = {evidence: known.applied(each, deviations) for evidence, each in outcome.reports.items()}
    return replace(outcome, reports=reports, stale=tuple(known.stale_entries(deviations, reports.values())))


def _shown(step: str) -> str:
    names = {str(evidence): name for evidence, name in EVIDENCE.items()}
    return names.get(step, step.replace("reports-", "reports/"))


def forget(work: Path, names: Iterable[str]) -> None:
    """Let the next run judge these libraries again, in new environments."""
    for name in names:
        for path in work.glob(f"{name}.*.done"):
            path.unlink()


def without_bulk(report: Document) -> Document:
    """Return a report without exchanges.

    Its results are only the failures, and one result of each passing conversation.
    """
    passing = {(each["scenario"], each["mode"]): each for each in report["results"] if each["status"] == Status.PASS}
    results = [each for each in report["results"] if each["status"] in _KEPT]
    return {**report, "results": [*results, *passing.values()], "exchanges": [], "counterexamples": []}


def _no_recordings(written: Document | None) -> str:
    """Return why there is no real traffic for the adapter of a report; "" if there is some."""
    if written is None:
        return "not asked, because the written scenarios could not be judged"
    names = {name for adapter in written["adapters"] for name in adapter["providers"]}

    def is_wanted(api: Api) -> bool:
        return not names.isdisjoint((api.provider, str(api)))

    return "" if recordings.wanted(is_wanted) else "the public corpus has no recordings of its APIs"
