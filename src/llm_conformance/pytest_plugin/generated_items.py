"""Test items of generated scenarios: one for each property. All rules judge every example."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import editions
from llm_conformance.adapter.declarations import AdapterUnderTest, Method
from llm_conformance.adapter.exclusions import excluded_way
from llm_conformance.compare import encodable
from llm_conformance.judging.calls.stops import REPORTS_FAULTS, reason
from llm_conformance.judging.effort import SENDING, Effort
from llm_conformance.judging.example_judge import ExampleJudge, RuleResult
from llm_conformance.judging.plan import Filters
from llm_conformance.judging.search import find_failures
from llm_conformance.judging.shown.counterexamples import Counterexample, failure_texts
from llm_conformance.judging.shown.failure_text import reproduce_command
from llm_conformance.judging.status import Status, of_probe
from llm_conformance.judging.verdict import Verdict, held_to, shown_profile
from llm_conformance.locations import CASSETTES
from llm_conformance.pytest_plugin.failures import Failures, JudgingItem
from llm_conformance.pytest_plugin.run import Run
from llm_conformance.replay.cell import PURE, Callee, Cell, a_parser_gets_the_bytes
from llm_conformance.rules.outcome import Outcome
from llm_conformance.rules.rule import Rule
from llm_conformance.rules.violation import Violation
from llm_conformance.scenarios.save import texts
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES, Theme
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table


@dataclass(frozen=True)
class Property:
    """A search: one theme, for one API, through one method of an adapter.

    `alike` is the number of APIs of the same wire format that the adapter supports. It includes APIs that the filters
    leave out, so that a filtered run draws the same as the whole run.
    """

    adapter: AdapterUnderTest
    api: Api
    theme: Theme
    mode: Mode
    method: Method
    alike: int

    @property
    def name(self) -> str:
        """What decides which examples are drawn: theme, API and method, not the adapter."""
        return f"{self.theme.scenario_id(self.api)} {self.method}"

    def share(self, effort: Effort) -> Effort:
        """Return the effort of this search in a run with the given effort."""
        return effort.times(self.theme.effort * self._share, self.alike)

    def listed(self) -> Iterator[Scenario]:
        """Yield the listed scenarios of the theme, or the same share of them as of the examples."""
        yield from itertools.islice(self.theme.all_listed(self.api, self.mode), 0, None, round(1 / self._share))

    @property
    def _share(self) -> float:
        parsed = a_parser_gets_the_bytes(self.adapter, self.mode, self.method) and not self.theme.over_http
        return SENDING if parsed else 1

    def __str__(self) -> str:
        """Return the name of the test item."""
        return f"{self.adapter.label}-{self.theme.scenario_id(self.api)}-{self.method}"


def properties(adapters: Iterable[AdapterUnderTest], filters: Filters, has_server: bool) -> Iterator[Property]:
    """Yield the properties of a run. Themes in which a connection fails need the replay server (`has_server`)."""
    for adapter in adapters:
        apis = [api for api in table().values() if adapter.covers(api) and filters.admits_api(api)]
        alike = Counter(api.wire for api in table().values() if adapter.covers(api))
        for api in apis:
            for theme in THEMES:
                if theme.suits(api) and filters.admits_id(theme.scenario_id(api)):
                    for mode in theme.modes:
                        for method in adapter.methods_for(mode):
                            possible = not theme.over_http or (has_server and method not in PURE)
                            if possible and (not filters.methods or method in filters.methods):
                                yield Property(adapter, api, theme, mode, method, alike[api.wire])


class GeneratedScenarios(pytest.Collector):
    """The generated scenarios of a run, as a node of pytest's tree."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield nothing; the session makes the items."""
        yield from ()


class PropertyItem(JudgingItem):
    """One property. It draws scenarios, and every rule that finds something to judge in a scenario judges it."""

    def __init__(
        self, *, property_: Property, rules: Collection[Rule], run: Run, keep_in: Path | None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._property = property_
        self._run = run
        self._judge = ExampleJudge(run.runner, rules, self._known)
        self._effort = property_.share(run.settings.effort)
        self._keep_in = keep_in
        self.judged = property_.adapter.label
        self.heading = property_.name

    def runtest(self) -> None:
        """Search for counterexamples."""
        theme, api, mode = self._property.theme, self._property.api, self._property.mode
        self._skip_if_calls_die()
        find_failures(
            self._judge,
            self._property.name,
            theme.scenarios(api, mode),
            self._cell,
            self._effort,
            listed=self._property.listed,
            shrinks=self._run.settings.write_deviations is None,
            remembered_as=self.name,
            excluded=self._excluded,
        )
        self._count_excluded()
        self._judge.prefer_whole_streams()
        results = self._judge.results
        verdicts = {rule: self._verdict(rule, result) for rule, result in results.items()}
        self.tally.add(verdicts.values())
        self._note_if_calls_die(verdicts)
        failed = {rule: verdict for rule, verdict in verdicts.items() if verdict.status == Status.FAIL}
        if wrong := [(rule, found) for rule in failed for found in results[rule].new]:
            texts = list(failure_texts(wrong, self._keep_in, self._run.runner.options))
            raise Failures(texts, [verdict.headline for verdict in failed.values()])
        deviations = self._run.settings.deviations
        known = [deviations.reason(each) for each in verdicts.values() if each.status == Status.EXPECTED]
        if known:
            pytest.xfail("; ".join(dict.fromkeys(known)))
        new = [each.headline for each in verdicts.values() if each.status == Status.NEW]
        if new:
            pytest.xfail(f"new: {'; '.join(new)}")
        probes = [each.headline for each in verdicts.values() if each.status == Status.PROBE_FAILED]
        if probes:
            pytest.xfail(encodable(f"probe: {'; '.join(probes)}"))
        if not (self.tally.summary[Status.PASS] or self.tally.summary[Status.PROBE_PASSED]):
            pytest.skip("no rule had anything to judge")

    def _excluded(self, scenario: Scenario) -> str | None:
        return excluded_way(self._property.adapter.excluded_inputs, scenario, self._property.mode)

    def _count_excluded(self) -> None:
        """Count the excluded examples. If all examples are excluded, the adapter does not support the property."""
        adapter, judge = self._property.adapter, self._judge
        for way, count in judge.excluded.items():
            self.tally.excluded[adapter.label, str(self._property.api), way] += count
        if judge.excluded and not any(result.statuses for result in judge.results.values()):
            why = "; ".join(f"{way}: {adapter.excluded_inputs[way]}" for way in judge.excluded)
            for result in judge.results.values():
                result.statuses[Status.UNSUPPORTED] = f"the adapter excludes all that was drawn: {why}"

    def _cell(self, scenario: Scenario) -> Cell:
        searched = self._property
        return Cell(searched.adapter, scenario, searched.mode, searched.method)

    @property
    def _is_probe(self) -> bool:
        """Whether no provider is known to send these inputs, and the run counts them separately."""
        return self._property.theme.is_probe and self._run.settings.probes_apart

    @property
    def _callee(self) -> Callee:
        searched = self._property
        return searched.adapter.label, str(searched.api), searched.method

    def _skip_if_calls_die(self) -> None:
        """Skip the search if all calls of the method for the API died in the same way. All rules are then blocked."""
        cause = self._run.stops.cause(self._callee)
        if cause is None:
            return
        why = reason(self._callee, cause)
        blocked = RuleResult({Status.BLOCKED: why})
        verdicts = [self._verdict(rule, blocked) for rule in self._judge.results]
        self.tally.add(verdicts)
        self.tally.add_not_asked(self._callee, cause, verdicts[0].scenario, self._property.mode)
        pytest.skip(encodable(f"{Status.BLOCKED}: {why}"))

    def _note_if_calls_die(self, verdicts: Mapping[Rule, Verdict]) -> None:
        """Note once for each search whether calls work.

        Smaller examples of a failure do not count as further failures.
        """
        for rule, result in self._judge.results.items():
            if rule.id != REPORTS_FAULTS:
                continue
            if Status.PASS in result.statuses:
                self._run.stops.note(self._callee, Status.PASS, Outcome())
            elif result.counterexample is not None:
                self._run.stops.note(self._callee, verdicts[rule].status, result.counterexample.exchange.outcome)

    def _known(self, rule: Rule, violation: Violation) -> Sequence[int] | None:
        settings = self._run.settings
        if self._is_probe or editions.any_is_newer((rule.since, self._property.theme.since), settings.edition):
            return ()
        verdict = self._verdict(rule, RuleResult())
        return settings.deviations.naming(replace(verdict, status=Status.FAIL.value, **_told(violation))) or None

    def _verdict(self, rule: Rule, result: RuleResult) -> Verdict:
        searched = self._property
        verdict = Verdict(
            adapter=searched.adapter.label,
            rule=rule.id,
            scenario=searched.theme.scenario_id(searched.api),
            provider=searched.api.provider,
            api=searched.api.name,
            mode=searched.mode,
            method=searched.method,
            status=result.status.value,
            message=result.message,
            provenance="generated",
            grounds="probe" if searched.theme.is_probe else None,
        )
        settings = self._run.settings
        found = result.shown
        if self._is_probe:
            verdict = replace(verdict, status=of_probe(result.status).value)
        elif found is None:
            verdict = settings.deviations.apply(verdict)
        if found is not None:
            example = self._example(rule, found)
            profile = shown_profile(found.cell.scenario)
            more = {"example": example, "command": example["command"], "think_profile": profile}
            verdict = replace(verdict, **more, **_told(found.violation), **result.fields)
            further = tuple(self._further(rule, each) for each in result.new[1:])
            verdict = replace(verdict, other_failures=further)
        return held_to(settings.edition, verdict, rule.since, searched.theme.since)

    def _further(self, rule: Rule, found: Counterexample) -> Mapping[str, Any]:
        example, profile = self._example(rule, found), shown_profile(found.cell.scenario)
        fields = {"example": example, "command": example["command"], "think_profile": profile, **_told(found.violation)}
        return {name: value for name, value in fields.items() if value is not None}

    def _example(self, rule: Rule, counterexample: Counterexample) -> Mapping[str, Any]:
        cell = counterexample.kept_in(self._keep_in)
        kept = cell.scenario.cassette_dir != CASSETTES
        id = counterexample.id
        if self._run.settings.reports:
            self.tally.counterexamples[id] = texts(counterexample.cell.scenario)
        return {
            **counterexample.details(),
            "beside": [list(each) for each in counterexample.beside],
            "id": id,
            "kept": str(cell.scenario.path) if kept else None,
            "command": reproduce_command(cell, rule, self._run.runner.options) if kept else None,
        }

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the heading. There is no file and no line."""
        return self.path, None, str(self._property)


def _told(violation: Violation) -> dict[str, Any]:
    return {"message": str(violation), "cause": violation.cause, "traceback": violation.traceback}
