"""What the test items of a run share: settings, runner, judge, and what was collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from llm_conformance.judging.calls.stops import Stops
from llm_conformance.judging.cell_judge import CellJudge
from llm_conformance.judging.plan import DESELECTED
from llm_conformance.judging.shown import exchange_details
from llm_conformance.judging.shown.failure_text import reproduce_command
from llm_conformance.judging.tally import Tally
from llm_conformance.options import as_typed
from llm_conformance.pytest_plugin.settings.settings import Settings
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.transport import new_transport
from llm_conformance.rules.rule import Rule
from llm_conformance.wording import counted


@dataclass
class Collected:
    """What a process has collected.

    Under pytest-xdist, every worker collects everything, runs a part, and sends this object to the controller.

    Attributes:
        known: The verdicts of the cells for which nothing has to be run.
        modules: The modules of rules that take part.
        rules: The ids of the rules that take part.
        items: The number of test items.
        deselected: Whether the user deselected some of the items.
    """

    known: Tally
    modules: set[Path] = field(default_factory=set)
    rules: set[str] = field(default_factory=set)
    items: int = 0
    deselected: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "known": self.known.to_dict(),
            "modules": [str(path) for path in self.modules],
            "rules": sorted(self.rules),
            "items": self.items,
            "deselected": self.deselected,
        }

    def replace_by(self, sent: Mapping[str, Any]) -> None:
        """Take what a worker sent. Each worker sends everything."""
        self.known = Tally(self.known.keeps)
        self.known.absorb(sent["known"])
        self.modules |= {Path(path) for path in sent["modules"]}
        self.rules |= set(sent["rules"])
        self.items = sent["items"]
        self.deselected = self.deselected or sent["deselected"]


class Run:
    """What the test items of a run share in one process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.collected = Collected(self.new_tally())
        self.stops = Stops(is_active=settings.write_deviations is None)
        self._reported: set[str] = set()

    def new_tally(self, items: int = 0) -> Tally:
        """Return an empty tally. It keeps its verdicts if a file needs them."""
        return Tally(bool(self.settings.reports) or self.settings.write_deviations is not None, items=items)

    def rules(self) -> list[Rule]:
        """Return the rules that take part, in the order of the modules. It must be called after the collection."""
        return [rule for id, rule in self.settings.rules.items() if id in self.collected.rules]

    @cached_property
    def runner(self) -> Runner:
        """The runner. It is made when it is first needed."""
        return Runner(self.settings.timeout_s, new_transport(self.settings.transport), self.settings.replay_options)

    @cached_property
    def judge(self) -> CellJudge:
        """The judge of recorded scenarios."""
        settings = self.settings
        return CellJudge(
            self.runner,
            settings.effort,
            settings.deviations,
            settings.probes_apart,
            settings.edition,
            shrinks=settings.write_deviations is None,
            stops=self.stops,
            cuts=settings.filters.cuts,
        )

    def exchange_details(self, cell: Cell) -> dict[str, Mapping[str, Any]]:
        """Return {key: details} of a cell's exchange if a report needs the details and lacks them so far; else {}."""
        key = exchange_details.key(cell.adapter.label, cell.scenario.id, cell.method)
        is_stopped = self.stops.cause(cell.callee, cell.scenario.id) is not None
        if is_stopped or not self.settings.reports or key in self._reported:
            return {}
        self._reported.add(key)
        command = reproduce_command(cell, more=self.runner.options)
        return {key: exchange_details.details(self.runner.exchange(cell), command)}

    def new_outside(self) -> Counter[str]:
        """Return how many connections outside of adapter calls were refused, by place. Then start to count anew."""
        if "runner" not in vars(self):
            return Counter()
        new = Counter(self.runner.outside)
        self.runner.outside.clear()
        return new

    def why_partial(self, judged: Tally) -> Iterator[str]:
        """Yield short reasons why the run does not show that an adapter conforms; nothing if the run is complete."""
        yield from self.why_not_whole(judged)
        if not self.settings.effort.examples:
            yield f"no generated inputs ({as_typed('examples')}=0)"
        if judged.bad_files:
            yield f"{counted(len(judged.bad_files), 'recording')} cannot be read"
        if judged.too_busy:
            yield f"{counted(len(judged.too_busy), 'call')} not judged, as this machine is too busy"

    def why_not_whole(self, judged: Tally) -> Iterator[str]:
        """Yield the reasons why some rule was not applied to some recording; nothing if there was no such case."""
        settings, collected = self.settings, self.collected
        yield from settings.filters.reasons()
        if collected.deselected:
            yield DESELECTED
        if not settings.filters.rules and collected.rules != settings.rules.keys():
            yield f"only {len(collected.rules)} of {len(settings.rules)} rules"
        if judged.items != collected.items and not collected.deselected:
            yield f"only {judged.items} of {collected.items} test items were done"
        if judged.not_asked:
            yield "some conversations were not asked, as every call died alike"

    @property
    def has_hung_calls(self) -> bool:
        """Whether a call hung and may still be running in a thread."""
        return "runner" in vars(self) and self.runner.gave_up

    def close(self) -> None:
        """Stop the adapters, and the runner if it was made."""
        for adapter in self.settings.adapters:
            adapter.close()
        if "runner" in vars(self):
            self.runner.close()
