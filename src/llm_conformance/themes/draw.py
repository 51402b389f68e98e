"""Drawing scenarios with Hypothesis."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase
from hypothesis.errors import FlakyFailure
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.scenarios.scenario import Scenario


class EnoughDrawn(KeyboardInterrupt):
    """`is_wanted` raises this to end `draw`.

    Hypothesis would take any other exception for a failure of the test, and would go on to shrink it.
    """


class _Drawn:
    """A scenario without a repr. Hypothesis makes the repr of everything that it finds, and warns if a repr is long."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario


@st.composite
def _drawn(draw: DrawFn, scenarios: SearchStrategy[Scenario]) -> _Drawn:
    return _Drawn(draw(scenarios))


class _WantedError(Exception):
    """Tells Hypothesis that a scenario is wanted."""


def draw(
    scenarios: SearchStrategy[Scenario],
    is_wanted: Callable[[Scenario], bool],
    examples: int,
    seed: int,
    phases: Collection[Phase] = (Phase.generate,),
    database: ExampleDatabase | None = None,
    key: str = "",
) -> None:
    """Draw scenarios until `is_wanted` returns True for one. Then draw smaller wanted ones until there are none.

    Args:
        scenarios: The strategy to draw from.
        is_wanted: Judges a scenario. It may raise EnoughDrawn.
        examples: How many scenarios are drawn at most before one is wanted.
        seed: With the same seed, the same scenarios are drawn in the same order until one is wanted.
        phases: `reuse` draws scenarios from the database, `generate` draws new ones, `shrink` draws smaller ones.
        database: Where Hypothesis keeps the wanted scenarios, under the `key`.
        key: See `database`.
    """
    wanted = settings(
        # These are all settings that a profile may change. Hypothesis has its own profile for `CI`, and that draws the
        # same choices for every property.
        max_examples=examples,
        database=database,
        phases=tuple(phases),
        backend="hypothesis",
        derandomize=False,
        deadline=None,  # the first call of an adapter is slow, and every call has its own limit
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )

    # `wanted` is applied last, because a seed makes Hypothesis forget the database.
    @wanted
    @hypothesis.seed(seed)
    @given(_drawn(scenarios))
    def judge(drawn: _Drawn) -> None:
        if is_wanted(drawn.scenario):
            raise _WantedError

    # Hypothesis has no argument for a key, except in `find`, which forgets the database if it gets a seed.
    vars(judge)["_hypothesis_internal_database_key"] = f"llm-conformance {key}".encode()
    # FlakyFailure: the scenario was wanted the first time, but not the second.
    with contextlib.suppress(_WantedError, FlakyFailure, EnoughDrawn):
        judge()


@contextlib.contextmanager
def without_local_constants() -> Iterator[None]:
    """Keep Hypothesis from drawing constants of loaded modules, because these differ from run to run.

    Hypothesis has no setting for this. Versions without these names draw no such constants. If a newer version draws
    them in another way, `tests/test_same_draw.py` fails.
    """
    empty = providers.Constants() if hasattr(providers, "Constants") else None
    own: dict[str, Any] = {
        "_get_local_constants": lambda: empty,
        "CONSTANTS_CACHE": _CACHE,  # not Hypothesis' own, which has what other tests draw
    }
    before = {name: getattr(providers, name) for name in own if hasattr(providers, name)}
    for name in before:
        setattr(providers, name, own[name])
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(providers, name, value)


_CACHE: Any = type(providers.CONSTANTS_CACHE)(1024) if hasattr(providers, "CONSTANTS_CACHE") else None
