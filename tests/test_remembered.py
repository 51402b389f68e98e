"""What an exploring search finds is kept in Hypothesis' database, and tried first by the next search."""

from __future__ import annotations

from hypothesis import Phase
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.draw import draw
from llm_conformance.wire.providers.table import table
from tests.draws import theme_named

ANSWERS = theme_named("answers")
SCENARIOS: st.SearchStrategy[Scenario] = ANSWERS.scenarios(table()["cerebras", "chat"], "json")


def body(scenario: Scenario) -> bytes:
    return scenario.interactions["json"].body


def is_rare(scenario: Scenario) -> bool:
    return body(scenario).count(b'"arguments"') > 1


def drawn(database: InMemoryExampleDatabase, examples: int, seed: int, phases: list[Phase]) -> list[bytes]:
    """Search for a rare scenario; return the bodies of all that were tried."""
    tried = []

    def wanted(scenario: Scenario) -> bool:
        tried.append(body(scenario))
        return is_rare(scenario)

    draw(SCENARIOS, wanted, examples, seed, phases, database, "rare")
    return tried


def test_what_one_search_finds_the_next_one_tries() -> None:
    database = InMemoryExampleDatabase()
    found = drawn(database, 300, 1, [Phase.generate])[-1]
    assert found.count(b'"arguments"') > 1
    assert drawn(database, 1, 2, [Phase.reuse])[0] == found
    assert drawn(InMemoryExampleDatabase(), 300, 1, [Phase.generate])[-1] == found


def test_a_search_without_a_database_finds_the_same() -> None:
    found: list[bytes] = []
    for database in (None, InMemoryExampleDatabase()):
        tried: list[bytes] = []

        def kept(scenario: Scenario, tried: list[bytes] = tried) -> bool:
            tried.append(body(scenario))
            return False

        draw(SCENARIOS, kept, 20, 3, database=database, key="same")
        found.append(b"".join(tried))
    assert found[0] == found[1]
