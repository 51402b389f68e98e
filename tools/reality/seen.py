"""The features that the answers of each API have, with their number and an example."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from llm_conformance.wire.providers import table
from tools.documents import Document
from tools.reality.features import above, features
from tools.reality.steps import steps


@dataclass
class Found:
    """A feature of the answers of an API.

    Attributes:
        example: The first scenario or recording that has it.
        count: The number of scenarios or recordings that have it.
        packages: The packages or folders of these recordings.
        grounds: The grounds of these scenarios.
    """

    example: str
    count: int = 0
    packages: set[str] = field(default_factory=set)
    grounds: set[str] = field(default_factory=set)


@dataclass
class Seen:
    """The features of the answers of some APIs, and the number of answers of each API."""

    found: dict[str, dict[str, Found]] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)

    def add(self, api: str, source: str, grounds: str, found: Iterable[str]) -> None:
        """Count the features of one source: a scenario or a recording."""
        self.answers[api] += 1
        own = self.found.setdefault(api, {})
        for feature in found:
            one = own.setdefault(feature, Found(source))
            one.count += 1
            one.packages.add(source.partition("/")[0])
            one.grounds.add(grounds)

    def beyond(self, other: Seen, api: str) -> list[tuple[int, str, int]]:
        """Return (count, feature, number of features below it) for each feature that the other side lacks.

        If the other side lacks a feature, the features below it are only counted.
        """
        found = self.found.get(api, {})
        below = tops(set(found) - set(other.found.get(api, {})))
        return sorted(
            ((found[each].count, each, number) for each, number in below.items()), key=lambda one: (-one[0], one[1])
        )

    def of_formats(self) -> dict[str, set[str]]:
        """Return the features of all APIs of each wire format."""
        result: dict[str, set[str]] = {api.wire: set() for api in table.table().values()}
        for api, found in self.found.items():
            result[wire_of(api)] |= set(found)
        return result


def tops(unseen: Iterable[str]) -> dict[str, int]:
    """Map the features that are not below another one of `unseen` to the number of features below them."""
    below: dict[str, int] = {}
    for feature in sorted(unseen, key=len):
        top = next((each for each in above(feature) if each in below), None)
        if top is None:
            below[feature] = 0
        else:
            below[top] += 1
    return below


def of_documents(found: Iterable[Document], only_steps: bool = False) -> Seen:
    """Return the features of documents, each counted once for each scenario or recording."""
    result = Seen()
    answers = (each for each in found if each.kind == "event" or (each.kind != "request" and not only_steps))
    for (api, name, grounds), group in itertools.groupby(answers, key=_answer):
        one = list(group)
        has = steps(each.value for each in one) if only_steps else features(one, wire_of(api))
        result.add(api, name, grounds, has)
    return result


def _answer(document: Document) -> tuple[str, str, str]:
    return document.api, document.scenario, document.grounds


_ENOUGH = 5


def always(recorded: Iterable[Document], written: Iterable[Document]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (API and mode, field, scenarios): a field that all recordings have, and the scenarios that lack it.

    Only answers that have the object around the field count.
    """
    by_api: dict[str, dict[str, set[str]]] = {}
    for where, name, found in _answers(recorded):
        by_api.setdefault(where, {})[name] = found
    lacking: dict[tuple[str, str], list[str]] = {}
    required = {where: _in_every(list(answers.values())) for where, answers in by_api.items()}
    for where, name, found in _answers(written):
        for feature in required.get(where, ()):
            if feature not in found and _around(feature) in found:
                lacking.setdefault((where, feature), []).append(name)
    yield from ((where, feature, names) for (where, feature), names in sorted(lacking.items()))


def wire_of(api: str) -> str:
    """Return the wire format of an API (`provider:api`)."""
    provider, _, name = api.partition(":")
    return table.table()[provider, name].wire


def _in_every(answers: Sequence[set[str]]) -> set[str]:
    """Return the fields that are in every answer that has the object around them.

    Fields in fewer than `_ENOUGH` answers are left out.
    """
    counts = Counter(feature for answer in answers for feature in answer)
    return {
        feature
        for feature, count in counts.items()
        if count >= _ENOUGH and not re.search(r"[]*]$| = ", feature) and count == counts[_around(feature)]
    }


def _around(feature: str) -> str:
    return feature.rpartition("/")[0]


def _answers(found: Iterable[Document]) -> Iterator[tuple[str, str, set[str]]]:
    """Yield (API and mode, name, features) for each answer that is no error."""
    successes = (each for each in found if each.kind in ("json", "event"))
    for (api, name, mode), group in itertools.groupby(
        successes, key=lambda each: (each.api, each.scenario, each.part.partition(" ")[0])
    ):
        yield f"{api} {mode}", name, features(group, wire_of(api)) | {""}
