"""What a search of generated inputs always judges, whatever it draws."""

from __future__ import annotations

from llm_conformance.adapter.declarations import describe
from llm_conformance.pytest_plugin.generated_items import Property
from llm_conformance.wire.providers.table import table
from tests.draws import theme_named

STATUSES = theme_named("statuses")
GROQ = table()["groq", "chat"]


class Sends:
    """An adapter that sends its requests."""

    providers = ("groq",)

    def complete(self, call: object) -> None:
        """Do nothing."""


class SendsAndParses(Sends):
    """An adapter that also parses responses."""

    def parse(self, http: object, call: object) -> None:
        """Do nothing."""


def listed(adapter: object, method: str) -> int:
    """Return how many scenarios a search for statuses always judges."""
    return len(list(Property(describe("mine", adapter), GROQ, STATUSES, "json", method, 1).listed()))  # type: ignore[arg-type]


def test_a_method_that_sends_is_judged_by_all_statuses_unless_a_parser_is() -> None:
    every = len(list(STATUSES.all_listed(GROQ, "json")))
    assert every > 10
    assert listed(Sends(), "complete") == every
    assert listed(SendsAndParses(), "parse") == every
    assert listed(SendsAndParses(), "complete") == -(-every // 10)
