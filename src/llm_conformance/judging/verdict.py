"""One verdict a cell and invariant: running the rule, and turning how it ends into a status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.contract.values import plain
from llm_conformance.judging.status import Status
from llm_conformance.replay.cell import Cell
from llm_conformance.rules.rule import Rule


@dataclass(frozen=True)
class Verdict:
    """A result as the report lists it; `message` is None for a pass.

    `example` is what a search found: the body, where it was cut, the truth, and what came back. `deviation` is the
    position of the known deviation that names the cell.
    """

    adapter: str
    rule: str
    scenario: str
    provider: str
    api: str
    mode: str
    method: str
    status: str
    message: str | None
    provenance: str
    example: Mapping[str, Any] | None = None
    deviation: int | None = None

    @property
    def headline(self) -> str:
        """What is said of it, in one line."""
        return f"{self.rule}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as a result of the JSON report."""
        absent = {key for key in ("example", "deviation") if getattr(self, key) is None}
        return {key: plain(value) for key, value in vars(self).items() if key not in absent}


def verdict(
    cell: Cell,
    rule: Rule,
    status: Status,
    message: str | None = None,
    example: Mapping[str, Any] | None = None,
) -> Verdict:
    """Return the verdict on a cell."""
    scenario = cell.scenario
    return Verdict(
        adapter=cell.adapter.label,
        rule=rule.id,
        scenario=scenario.id,
        provider=scenario.api.provider,
        api=scenario.api.name,
        mode=cell.mode,
        method=cell.method,
        status=status.value,
        message=message,
        provenance=scenario.provenance,
        example=example,
    )
