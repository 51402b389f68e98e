"""The session of a run: read the settings and make the test items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from llm_conformance.corpus import places
from llm_conformance.judging import plan
from llm_conformance.pytest_plugin.bare_items import BareItem, BareRecordings
from llm_conformance.pytest_plugin.failures import JudgingItem
from llm_conformance.pytest_plugin.items import ExchangeItem, RuleModule, Scenarios
from llm_conformance.pytest_plugin.run import Run
from llm_conformance.pytest_plugin.settings import read
from llm_conformance.replay import proxies
from llm_conformance.rules.rule import Rule, always


class ConformanceSession:
    """The plugin that collects the test items. It is registered if an adapter is named.

    Under pytest-xdist every worker collects all items.
    """

    NAME = "conformance-session"

    def __init__(self, config: pytest.Config) -> None:
        proxies.keep_proxies_away()
        self._config = config
        self._settings = read.read(config)
        self._cells = list(plan.cells(self._settings.adapters, self._settings.scenarios, self._settings.filters))
        self.run = Run(self._settings)

    def rule_module(self, path: Path, parent: pytest.Collector) -> RuleModule:
        """Return the collector of one module of the suite."""
        judges = self._settings.filters.judges
        rules = [(name, rule) for name, rule in self._settings.modules[path] if judges(rule)]
        module: RuleModule = RuleModule.from_parent(parent, path=path, rules=rules, run=self.run)
        return module

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the items. They are added here because all rules are known now.

        Generated scenarios and bare recordings are added unless the user names single tests.
        """
        if not self.run.collected.modules:
            return
        rules = self.run.rules()
        before = [*self._exchange_items(session, rules)]
        after: list[pytest.Item] = []
        if not any("::" in argument for argument in self._config.args):
            after += [*self._property_items(session, rules), *self._bare_items(session, rules)]
        self.run.collected.items += len(before) + len(after)
        items[:] = [*before, *items, *after]
        # The terminal shows the number of collected items.
        report = pytest.CollectReport(self.NAME, "passed", None, [*before, *after])
        session.ihook.pytest_collectreport(report=report)

    def pytest_deselected(self, items: Iterable[pytest.Item]) -> None:
        """Note that the run is partial."""
        if any(isinstance(item, JudgingItem) for item in items):
            self.run.collected.deselected = True

    def _exchange_items(self, session: pytest.Session, rules: list[Rule]) -> Iterator[pytest.Item]:
        """Yield an item for each cell, unless all its verdicts are known without running anything."""
        parent: Scenarios = Scenarios.from_parent(session, name="scenarios", nodeid="scenarios")
        names = {name for rule in rules for name in (rule.id, rule.check.__name__)}
        # Those that need no expected values come first, as one of them usually decides.
        fastest_first = sorted(rules, key=lambda rule: rule.applies is not always)
        for cell in self._cells:
            known = list(self.run.judge.known_of_all(cell, fastest_first))
            if known or not rules:
                self.run.collected.known.add(known)
                self.run.collected.known.add_excluded_tags(cell)
                continue
            item: ExchangeItem = ExchangeItem.from_parent(
                parent, name=str(cell), nodeid=f"scenarios::{cell}", cell=cell, rules=rules, run=self.run
            )
            item.extra_keyword_matches |= names
            yield item

    def _property_items(self, session: pytest.Session, rules: list[Rule]) -> Iterator[pytest.Item]:
        if not self._settings.effort.examples:
            return
        # This imports Hypothesis, which takes longer than to judge a provider.
        from llm_conformance.pytest_plugin.generated_items import GeneratedScenarios, PropertyItem, properties

        parent: GeneratedScenarios = GeneratedScenarios.from_parent(session, name="generated", nodeid="generated")
        keep_in = self._directory_for_examples()
        has_server = self._settings.transport == "server"
        for property_ in properties(self._settings.adapters, self._settings.filters, has_server):
            yield PropertyItem.from_parent(
                parent,
                name=str(property_),
                nodeid=f"generated::{property_}",
                property_=property_,
                rules=rules,
                run=self.run,
                keep_in=keep_in,
            )

    def _directory_for_examples(self) -> Path | None:
        """Return a directory in pytest's cache; None if there is no cache or it cannot be written."""
        if not self._config.pluginmanager.get_plugin("cacheprovider"):
            return None
        try:
            directory: Path = self._config.cache.mkdir("llm-conformance")
        except OSError:
            return None
        return directory

    def _bare_items(self, session: pytest.Session, rules: list[Rule]) -> Iterator[BareItem]:
        parent: BareRecordings = BareRecordings.from_parent(session, name="bare", nodeid="bare")
        for file in self._settings.bare:
            if self._settings.filters.may_admit(file.id):
                name = file.id if places.is_public(file.directory) else file.path.as_posix()
                yield BareItem.from_parent(
                    parent,
                    name=name,
                    nodeid=f"bare::{name}",
                    file=file,
                    rules=rules,
                    run=self.run,
                )
