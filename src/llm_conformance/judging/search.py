"""Search for inputs that an adapter gets wrong: judge all examples, then look for smaller examples of each failure."""

from __future__ import annotations

import contextlib
import random
import unittest
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from hypothesis import Phase, reject, settings
from hypothesis.strategies import SearchStrategy

from llm_conformance.judging.effort import Effort
from llm_conformance.judging.example_judge import ExampleJudge, Failure
from llm_conformance.replay.cell import Cell
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.draw import EnoughDrawn, draw, without_local_constants

FEWEST, MOST = 20, 80
"""The lowest and the highest limit for the calls of one search that look for smaller examples.

Between these two, the limit is the number of examples that the search judged, so that failures at most double the time
of a search.
"""
_MORE = " and more"


@dataclass(frozen=True)
class _Part:
    """A number of examples that are drawn from one seed."""

    seed: int
    examples: int


@dataclass(frozen=True)
class _Place:
    """The number of an example in its part, counted from 1."""

    part: _Part
    number: int


def find_failures(
    judge: ExampleJudge,
    name: str,
    scenarios: SearchStrategy[Scenario],
    cell: Callable[[Scenario], Cell],
    effort: Effort,
    *,
    listed: Callable[[], Iterable[Scenario]] = tuple,
    shrinks: bool = True,
    remembered_as: str = "",
    excluded: Callable[[Scenario], str | None] = lambda _scenario: None,
) -> None:
    """Judge the `listed` scenarios and all that are drawn; then look for smaller ones that fail in the same way.

    Neither failures nor known deviations change what is drawn. So known failures do not end the search. If a file of
    known deviations names all failures, the next run is green. The search looks for smaller examples only with
    `shrinks`, and only if a failure is not known.

    `excluded` returns the way of a variation for which the adapter excludes an example; None for other examples.
    Excluded examples are not judged. Others are drawn in their place, if there are any.

    A reproducible search draws the same examples in every run; they depend only on `name`. Any other search also tries
    what earlier searches with the same `remembered_as` have found.
    """
    search = _Search(judge, scenarios, cell, remembered_as or name, excluded)
    for scenario in listed():
        judge.judge(cell(scenario))
    with without_local_constants() if effort.reproducible else contextlib.nullcontext():
        if not effort.reproducible:
            search.try_remembered(effort.examples)
        places: dict[Failure, _Place] = {}
        for part in _parts(name, effort):
            places |= search.judge_all(part)
        if shrinks:
            most = min(max(effort.examples, FEWEST), MOST)
            search.shrink(places, most, remembers=not effort.reproducible)


def _parts(name: str, effort: Effort) -> Iterator[_Part]:
    for number, examples in enumerate(effort.parts):
        named = zlib.crc32(f"{name}{_MORE * number}".encode())
        yield _Part(named if effort.reproducible else random.SystemRandom().getrandbits(64), examples)


class _Search:
    def __init__(
        self,
        judge: ExampleJudge,
        scenarios: SearchStrategy[Scenario],
        cell: Callable[[Scenario], Cell],
        key: str,
        excluded: Callable[[Scenario], str | None],
    ) -> None:
        self._judge = judge
        self._scenarios = scenarios
        self._cell = cell
        self._key = key
        self._excluded = excluded

    def try_remembered(self, examples: int) -> None:
        """Judge the examples that earlier searches found. Hypothesis forgets those that no longer fail."""

        def is_wrong(scenario: Scenario) -> bool:
            return self._excluded(scenario) is None and bool(self._judge.judge(self._cell(scenario)))

        with contextlib.suppress(unittest.SkipTest):  # there is nothing to try
            draw(self._scenarios, is_wrong, examples, 0, [Phase.reuse], settings().database, self._key)

    def judge_all(self, part: _Part) -> dict[Failure, _Place]:
        """Judge the examples of a part. Map each failure whose smallest example is in the part to its place."""
        places: dict[Failure, _Place] = {}
        count = left_out = 0

        def judged(scenario: Scenario) -> bool:
            nonlocal count, left_out
            if self._judge.hung or left_out > part.examples:
                raise EnoughDrawn
            way = self._excluded(scenario)
            if way is not None:
                left_out += 1
                self._judge.excluded[way] += 1
                reject()
            count += 1
            cell = self._cell(scenario)
            for failure in self._judge.judge(cell):
                if self._judge.new[failure].cell is cell:
                    places[failure] = _Place(part, count)
            return False

        draw(self._scenarios, judged, part.examples, part.seed)
        return places

    def shrink(self, places: dict[Failure, _Place], most: int, *, remembers: bool) -> None:
        """Look for smaller examples of failures, with at most `most` calls for all failures together.

        One example often has many failures. Its smaller examples are tried once for all of them.
        """
        calls = 0
        small: set[int] = set()
        for failure, place in places.items():
            if id(self._judge.new[failure].cell) in small:
                continue
            seen = 0

            def fails(scenario: Scenario, failure: Failure = failure, place: _Place = place) -> bool:
                nonlocal calls, seen
                if self._excluded(scenario) is not None:
                    reject()
                seen += 1
                if seen < place.number:  # drawn again only to reach the example that failed
                    return False
                if calls >= most or self._judge.hung:
                    raise EnoughDrawn
                calls += 1
                return failure in self._judge.judge_again(self._cell(scenario))

            draw(
                self._scenarios,
                fails,
                place.part.examples,
                place.part.seed,
                [Phase.generate, Phase.shrink],
                settings().database if remembers else None,
                self._key,
            )
            small.add(id(self._judge.new[failure].cell))
            if calls >= most or self._judge.hung:
                break
