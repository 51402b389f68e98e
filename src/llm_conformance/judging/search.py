"""The search for an input that an adapter gets wrong, with Hypothesis."""

from __future__ import annotations

import contextlib
import random
import zlib
from collections.abc import Callable, Iterable

from hypothesis import Phase, Verbosity, find, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure, NoSuchExample
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.judging.effort import Effort
from llm_conformance.judging.example_judge import ExampleJudge
from llm_conformance.replay.cell import Cell
from llm_conformance.scenarios.scenario import Scenario


class _Drawn:
    """A scenario without a repr: Hypothesis makes the repr of what it has found, and warns if it is long."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario


@st.composite
def _drawn(draw: DrawFn, scenarios: SearchStrategy[Scenario]) -> _Drawn:
    return _Drawn(draw(scenarios))


class _Seed(random.Random):
    """The seed of a reproducible search: `find` takes one number of 64 bits from it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._number = zlib.crc32(name.encode())

    def getrandbits(self, _bits: int, /) -> int:
        return self._number


def find_failures(
    judge: ExampleJudge,
    name: str,
    scenarios: SearchStrategy[Scenario],
    cell: Callable[[Scenario], Cell],
    effort: Effort,
    *,
    listed: Callable[[], Iterable[Scenario]] = tuple,
    collects: bool = False,
    to_its_end: bool = True,
) -> None:
    """Judge the `listed` scenarios and drawn ones until one is wrong; then, `to_its_end`, all of them once more.

    With `collects` nothing is wrong, if the search is reproducible: it then draws exactly what it will draw when all
    of these failures are known.
    """

    def is_wrong(scenario: Scenario) -> bool:
        return judge.is_wrong(cell(scenario))

    if collects and effort.reproducible:
        judge.collect()
    for last in (False, True):
        if not any(map(is_wrong, listed())):
            # Hypothesis forgets what it found under a name once that passes. A reproducible search remembers nothing.
            is_other = last and not effort.reproducible
            search(f"{name} to its end" if is_other else name, scenarios, is_wrong, effort)
        if last or not to_its_end or not judge.needs_another_search():
            break


def search(
    name: str, scenarios: SearchStrategy[Scenario], is_wrong: Callable[[Scenario], bool], effort: Effort
) -> None:
    """Draw scenarios until `is_wrong` returns True for one, then smaller ones for as long as it does.

    The last scenario for which `is_wrong` returned True is the smallest. `name` is the name of the property: Hypothesis
    remembers under it what it has found, and tries that first in the next run. A reproducible search draws the same
    scenarios in every run and remembers nothing.
    """
    wanted = settings(
        max_examples=effort.examples,
        deadline=None,  # the first call of an adapter is slow, and every call has its own limit
        print_blob=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.reuse, Phase.generate, Phase.shrink),
    )
    if effort.reproducible:
        # The setting `derandomize` would draw the same for every property: to Hypothesis all of them are one function.
        wanted = settings(wanted, database=None)
    # FlakyFailure: the scenario was wrong at first, and then right, or `is_wrong` stopped judging.
    with contextlib.suppress(NoSuchExample, FlakyFailure):
        find(
            _drawn(scenarios),
            lambda drawn: is_wrong(drawn.scenario),
            settings=wanted,
            random=_Seed(name) if effort.reproducible else None,
            database_key=f"llm-conformance {name}".encode(),
        )
