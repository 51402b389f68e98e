"""Counterexamples: exchanges that break a rule, as reports and failure texts show them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llm_conformance import secrets
from llm_conformance.judging.shown.exchange_details import as_json, recorded_and_expected
from llm_conformance.judging.shown.failure_text import failure_text
from llm_conformance.replay.cell import Cell
from llm_conformance.rules.exchange import Exchange
from llm_conformance.rules.rule import Rule
from llm_conformance.rules.violation import Violation
from llm_conformance.scenarios.save import save_generated, saved_id


@dataclass(frozen=True)
class Counterexample:
    """An exchange that breaks a rule.

    Attributes:
        beside: What else is wrong with the exchange, as (id of a rule, cause).
    """

    cell: Cell
    exchange: Exchange
    violation: Violation
    beside: tuple[tuple[str, str], ...] = ()

    @functools.cached_property
    def id(self) -> str:
        """The id for saving a generated input. Inputs that differ only in their requests have different ids."""
        return saved_id(self.cell.scenario)

    @property
    def size(self) -> tuple[int, int]:
        """(number of bytes, number of cuts). The search looks for the smallest."""
        scenario = self.cell.scenario
        return len(scenario.interactions[self.cell.mode].body), len(scenario.cuts or ())

    @property
    def returned(self) -> Any:
        """What the adapter returned, as JSON values, or the error that it raised; None if it did neither."""
        outcome = self.exchange.outcome
        if outcome.raised is not None:
            return secrets.hide(str(outcome.raised))
        return None if outcome.response is None else as_json(outcome.response.data)

    @functools.cached_property
    def valid_because(self) -> str | None:
        """What is unusual in a generated answer, its fault first, with the sources; None if nothing is unusual."""
        scenario = self.cell.scenario
        if scenario.provenance != "generated":
            return None
        from llm_conformance.judging.shown.grounds import grounds  # imports Hypothesis, which is slow

        return grounds(scenario, self.exchange.mode)

    def details(self) -> Mapping[str, Any]:
        """Return the details as JSON values: the answer, its cuts, the expected values, and what came back."""
        why = {"valid_because": self.valid_because} if self.valid_because else {}
        return {**why, **recorded_and_expected(self.cell.scenario, self.exchange.mode), "returned": self.returned}

    def kept_in(self, directory: Path | None) -> Cell:
        """If there is a directory, write a generated scenario to it. Return the cell with the written scenario."""
        scenario = self.cell.scenario
        if directory is None or scenario.provenance != "generated":
            return self.cell
        try:
            return replace(self.cell, scenario=save_generated(scenario, directory))
        except OSError:  # the failure is still reported, and its text says that the example was not kept
            return self.cell


def failure_texts(
    found: Iterable[tuple[Rule, Counterexample]], directory: Path | None, options: Iterable[str]
) -> Iterator[str]:
    """Yield the texts of failures. Only the first text about an example shows the example.

    Rules that an example breaks with the same message share one text.
    """
    alike: dict[tuple[str, str], list[tuple[Rule, Counterexample]]] = {}
    for rule, counterexample in found:
        alike.setdefault((counterexample.id, str(counterexample.violation)), []).append((rule, counterexample))
    shown = set()
    for (example, _), ((rule, counterexample), *more) in alike.items():
        others = [other for other, _ in more]
        details = None if example in shown else counterexample.details()
        shown.add(example)
        yield failure_text(counterexample.kept_in(directory), rule, counterexample.violation, options, details, others)
