"""The reasons for which a generated input is valid begin with the source of its fault."""

from __future__ import annotations

import re

import pytest

from llm_conformance.judging.shown.grounds import fault_grounds, grounds
from llm_conformance.scenarios.core_faults import CORE_FAULTS
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.draw import draw
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table

MISTRAL = table()["mistral", "chat"]


def drawn(theme_name: str, mode: Mode, api: Api = MISTRAL) -> list[Scenario]:
    (theme,) = (theme for theme in THEMES if theme.name == theme_name)
    found: list[Scenario] = []

    def see(scenario: Scenario) -> bool:
        found.append(scenario)
        return False

    draw(theme.scenarios(api, mode), see, 60, seed=1)
    return found


@pytest.mark.parametrize("theme", ["disconnected", "silent", "outages"])
@pytest.mark.parametrize("mode", ["json", "stream"])
def test_a_lost_connection_and_an_outage_have_a_source(theme: str, mode: Mode) -> None:
    assert all("(https://" in (fault_grounds(each, mode) or "") for each in drawn(theme, mode))


@pytest.mark.parametrize("mode", ["json", "stream"])
def test_a_body_that_is_no_answer_has_a_source(mode: Mode) -> None:
    empty = [each for each in drawn("malformed", mode) if not each.interactions[mode].body]
    (why,) = {fault_grounds(each, mode) for each in empty}
    assert str(why).startswith("a proxy answers with an empty body and status 200 (https://")
    pages = [each for each in drawn("malformed", mode) if each.interactions[mode].body.startswith(b"<!DOCTYPE")]
    assert all(CORE_FAULTS["html"].source in (fault_grounds(each, mode) or "") for each in pages)
    assert pages


@pytest.mark.parametrize("theme", ["answers", "statuses", "mistyped"])
def test_answers_errors_and_probes_have_no_fault(theme: str) -> None:
    assert {fault_grounds(each, "json") for each in drawn(theme, "json")} == {None}


def test_the_fault_comes_first() -> None:
    for each in drawn("outages", "stream"):
        assert str(grounds(each, "stream")).startswith(str(fault_grounds(each, "stream")))


@pytest.mark.parametrize("mode", ["json", "stream"])
def test_what_is_unusual_in_an_earlier_answer_comes_before_the_rest(mode: Mode) -> None:
    found = [str(grounds(each, mode)) for each in drawn("second-turns", mode, table()["anthropic", "messages"])]
    assert any(re.match(r"in messages\[1\], .*redacted reasoning \(anthropic/", each) for each in found)
