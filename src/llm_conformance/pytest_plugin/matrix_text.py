"""The matrix of the terminal: conversations right of conversations judged, by API and family of rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.judging.tally import Conversation
from llm_conformance.reports import conversations
from llm_conformance.reports.findings import PROVENANCES
from llm_conformance.rules.catalogue import FAMILIES

_ALL, _GENERATED = "all", "generated"


@dataclass
class Right:
    """How many conversations were judged, and in how many of them nothing fails."""

    judged: int = 0
    right: int = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row of `conversations.counts`."""
        self.judged += row["judged"]
        self.right += row["right"]

    def __str__(self) -> str:
        """Return `right/judged`, one number if all are right, and `-` if none was judged."""
        if not self.judged:
            return "-"
        return str(self.right) if self.right == self.judged else f"{self.right}/{self.judged}"


class Matrix:
    """The counts of one adapter; generated conversations have a column of their own."""

    def __init__(self, counted: Mapping[Conversation, conversations.Families], adapter: str) -> None:
        self._fields: dict[tuple[str, str], Right] = {}
        self.by_provenance: dict[str, Right] = {}
        mine = {key: families for key, families in counted.items() if key[0] == adapter}
        for row in conversations.counts(mine):
            api, family = f"{row['provider']}:{row['api']}", row["family"]
            if family is None:
                self.by_provenance.setdefault(row["provenance"], Right()).add(row)
            if row["provenance"] != _GENERATED:
                self._field(api, family or _ALL).add(row)
            elif family is None:
                self._field(api, _GENERATED).add(row)

    def _field(self, api: str, column: str) -> Right:
        return self._fields.setdefault((api, column), Right())

    @property
    def apis(self) -> list[str]:
        """The APIs of which a conversation was judged, sorted."""
        return sorted({api for api, _ in self._fields})

    @property
    def written(self) -> Right:
        """The conversations that were not generated."""
        total = Right()
        for provenance, each in self.by_provenance.items():
            if provenance != _GENERATED:
                total.judged, total.right = total.judged + each.judged, total.right + each.right
        return total

    @property
    def generated(self) -> Right:
        """The generated ones: a property of an API in one mode is one conversation."""
        return self.by_provenance.get(_GENERATED, Right())

    def of_judged(self, provenance: Mapping[str, int]) -> str:
        """Return how many conversations a finding touches, of how many."""
        touched = Counter(provenance)
        generated = touched.pop(_GENERATED, 0)
        written = f"{touched.total()} of {self.written.judged} conversations" if touched else ""
        drawn = f"{generated} of {self.generated.judged} generated" if generated else ""
        return " and ".join(filter(None, (written, drawn)))

    def rows(self) -> Iterator[tuple[str, list[Right]]]:
        """Yield the name of each API with its fields."""
        for api in self.apis:
            yield api, [self._fields.get((api, column), Right()) for column in self.columns]

    @property
    def columns(self) -> list[str]:
        """The names of the columns that have anything."""
        present = {column for _, column in self._fields}
        return [each for each in (_ALL, *FAMILIES, _GENERATED) if each in present]

    def provenances(self) -> Iterator[str]:
        """Yield how many conversations of each provenance are right."""
        for each in PROVENANCES:
            found = self.by_provenance.get(each)
            if found is not None:
                yield f"{found.right} of {found.judged} {each}"
