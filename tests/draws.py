"""Themes by name, and generated scenarios: the same in every run, and drawn once for all tests of a process."""

from __future__ import annotations

from collections.abc import Sequence

from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.draw import draw, without_local_constants
from llm_conformance.themes.theme import THEMES, Theme
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api

_DRAWN: dict[tuple[str, int, Mode, int], tuple[Api, Sequence[Scenario]]] = {}
"""The scenarios by what they were drawn from. An API has no hash, so its key is its id; the value keeps it alive."""


def theme_named(name: str) -> Theme:
    """Return the theme with this name."""
    (found,) = (theme for theme in THEMES if theme.name == name)
    return found


def drawn(theme: str, api: Api, mode: Mode, examples: int = 60) -> Sequence[Scenario]:
    """Return scenarios of a theme, as many as `examples`."""
    key = (theme, id(api), mode, examples)
    if key not in _DRAWN:
        found: list[Scenario] = []

        def keep(scenario: Scenario) -> bool:
            found.append(scenario)
            return False

        with without_local_constants():
            draw(theme_named(theme).scenarios(api, mode), keep, examples, seed=1)
        _DRAWN[key] = api, tuple(found)
    return _DRAWN[key][1]


def interactions(theme: str, api: Api, mode: Mode, examples: int = 60) -> list[Interaction]:
    """Return the interactions of `drawn` in its mode."""
    return [scenario.interactions[mode] for scenario in drawn(theme, api, mode, examples)]
