"""Which features the answers of each API have, how many have each, and where one of them is."""

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
        count: How many have it.
        packages: The packages, or folders, of the recordings.
        grounds: On what the scenarios rest.
    """

    example: str
    count: int = 0
    packages: set[str] = field(default_factory=set)
    grounds: set[str] = field(default_factory=set)


@dataclass
class Seen:
    """The features of the answers of some APIs, and how many answers each API has."""

    found: dict[str, dict[str, Found]] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)

    def add(self, api: str, source: str, grounds: str, found: Iterable[str]) -> None:
        """Note the features of one source: a scenario or a recording."""
        self.answers[api] += 1
        own = self.found.setdefault(api, {})
        for feature in found:
            one = own.setdefault(feature, Found(source))
            one.count += 1
            one.packages.add(source.partition("/")[0])
            one.grounds.add(grounds)

    def beyond(self, other: Seen, api: str) -> list[tuple[int, str, int]]:
        """Return the features of an API that the other side lacks: how often, which, and how many are below it.

        Features below one that the other side lacks are not listed themselves.
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
    """Return those features that are not part of another one of them, with the number of those that are part of it."""
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
    """Yield (API and mode, field, scenarios) where all recordings have a field, and some scenarios do not.

    Only answers count in which the object around the field is there.
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
    """Return the fields that are in all answers that have the object around them, if these are enough."""
    counts = Counter(feature for answer in answers for feature in answer)
    return {
        feature
        for feature, count in counts.items()
        if count >= _ENOUGH and not re.search(r"[]*]$| = ", feature) and count == counts[_around(feature)]
    }


def _around(feature: str) -> str:
    return feature.rpartition("/")[0]


def _answers(found: Iterable[Document]) -> Iterator[tuple[str, str, set[str]]]:
    """Yield the features of each answer that is no error, with its API and mode, and its name."""
    successes = (each for each in found if each.kind in ("json", "event"))
    for (api, name, mode), group in itertools.groupby(
        successes, key=lambda each: (each.api, each.scenario, each.part.partition(" ")[0])
    ):
        yield f"{api} {mode}", name, features(group, wire_of(api)) | {""}
