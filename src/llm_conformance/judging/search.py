"""Searching for an input that an adapter gets wrong, with Hypothesis."""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Callable

from hypothesis import Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure
from hypothesis.strategies import DrawFn, SearchStrategy

from llm_conformance.judging.effort import Effort
from llm_conformance.scenarios.scenario import Scenario


class _Found(Exception):  # noqa: N818 - the search has succeeded
    """The example is wrong; Hypothesis goes on to look for a smaller one."""


class _Drawn:
    """A scenario without a repr: Hypothesis makes one of what has failed, and warns that it is long."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario


@st.composite
def _drawn(draw: DrawFn, scenarios: SearchStrategy[Scenario]) -> _Drawn:
    return _Drawn(draw(scenarios))


def search(
    name: str, scenarios: SearchStrategy[Scenario], is_wrong: Callable[[Scenario], bool], effort: Effort
) -> None:
    """Draw scenarios until `is_wrong` says of one that it is; then smaller and smaller ones for as long as it does.

    The last wrong one that `is_wrong` has seen is the smallest. `name` is that of the property: found examples are
    remembered under it, in Hypothesis' own database, and tried first the next time.
    """

    def examine(drawn: _Drawn) -> None:
        if is_wrong(drawn.scenario):
            raise _Found

    examine.__name__ = "property_" + re.sub(r"\W", "_", name)
    # What its pytest plugin sets to tell parametrized tests apart in the database: all properties are one function.
    setattr(examine, "_hypothesis_internal_add_digest", name.encode())  # noqa: B010
    wanted = settings(
        max_examples=effort.examples,
        deadline=None,  # an adapter is slow at first, and each call has a limit of its own
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.reuse, Phase.generate, Phase.shrink),
    )
    test = given(_drawn(scenarios))(examine)
    if effort.reproducible:
        # Hypothesis' own way, `derandomize`, would draw the same for every property: they are all this function.
        wanted = settings(wanted, database=None)
        test = seed(zlib.crc32(name.encode()))(test)
    # FlakyFailure: it was wrong once, and right, or not asked for, when it was tried again.
    with contextlib.suppress(_Found, FlakyFailure):
        wanted(test)()
