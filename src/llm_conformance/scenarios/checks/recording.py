"""One mode of a scenario file, with everything that the checks of the lint need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from llm_conformance.scenarios import derive
from llm_conformance.scenarios.expected import Expected, read_expected
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.wire import answers
from llm_conformance.wire.answers import WireFacts
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api

Where: TypeAlias = tuple[str | int, ...]
"""A path in a scenario file."""


class Recording:
    """One mode of a scenario file.

    Attributes:
        expected: The expected values that the scenario states.
        facts: The facts in the bytes; empty for an error status or a spoilt body.
        derived: The expected values that follow from the facts.
    """

    def __init__(self, file: ScenarioFile, mode: Mode) -> None:
        self.file = file
        self.mode: Mode = mode
        self.interaction: Interaction = file.interaction(mode)
        self.api: Api = file.api
        self.expected: Expected = read_expected(file.document["expected"], mode)
        self.facts: WireFacts = self._facts()
        profile = file.document.get("think_profile", "off")
        self.derived: Expected = derive.expect(self.facts, self.api, profile, file.document["call"]["model"])

    def _facts(self) -> WireFacts:
        facts = None
        if self.interaction.status < 400 and not self.expected.fault:
            facts = answers.derive(self.interaction, self.api)
        elif self.expected.fault == "incomplete":
            facts = answers.derive_if_readable(self.interaction, self.api)
        return facts or WireFacts()

    def where(self, key: str, *more: str | int) -> Where:
        """Return the path of a key of `expected`. The key may be below the mode, or directly in `expected`."""
        is_own = key in self.file.document["expected"].get(self.mode, {})
        return ("expected", self.mode, key, *more) if is_own else ("expected", key, *more)


Problems: TypeAlias = Iterable[tuple[str, Where]]
"""(message, path in the scenario file) of each problem."""
Check: TypeAlias = Callable[[Recording], Problems]
