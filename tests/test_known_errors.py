"""The errors that scenarios show and searches draw are those of the provider table, and its sources exist."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import Phase, given, settings

from llm_conformance.contract import error_for_status
from llm_conformance.formats.errors import known_error
from llm_conformance.formats.gateways import GATEWAYS, Gateway
from llm_conformance.formats.recognisers import ERRORS, recognise
from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios import load
from llm_conformance.scenarios.expected import Expected, read_expected
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.conversation import interaction
from llm_conformance.themes.draw import EnoughDrawn
from llm_conformance.themes.failing import class_meant
from llm_conformance.wire.answers import derive_if_readable
from llm_conformance.wire.framings.base import Frame, Writing
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.errors import StatusError, StreamError, fits
from llm_conformance.wire.providers.table import table
from tests.draws import theme_named

APIS = list(table().values())
NO_ERROR_IN_A_STREAM = "No source shows an error inside a stream"


@dataclass(frozen=True)
class Shown:
    """What a scenario shows in one mode."""

    id: str
    api: Api
    expected: Expected
    interaction: Interaction


def shown_by_scenarios() -> Iterator[Shown]:
    for path in load.find(CASSETTES)[0]:
        file = load.read(path, check=False)
        if file.cassette.metadata.get("grounds") != "probe":
            for mode in file.modes:
                expected = read_expected(file.document["expected"], mode)
                yield Shown(load.id_of(path), file.api, expected, file.interaction(mode))


@pytest.fixture(scope="module")
def shown() -> list[Shown]:
    return list(shown_by_scenarios())


def reports_an_error(each: Shown) -> bool:
    """Return True if the provider says that something failed: not if a connection ended or a body is spoilt."""
    if each.interaction.status >= 400:
        return True
    facts = derive_if_readable(each.interaction, each.api)
    return bool(each.expected.error and not each.expected.fault and facts and facts.error)


def test_errors_of_scenarios_are_errors_of_the_row(shown: list[Shown]) -> None:
    failed = [each for each in shown if reports_an_error(each)]
    assert len(failed) > 100
    for each in failed:
        error = known_error(each.api, each.interaction)
        assert isinstance(error, StatusError | StreamError | Gateway), each.id
        meant = error_for_status(error.status).__name__ if isinstance(error, Gateway) else class_meant(error)
        assert meant == each.expected.error, each.id


def test_answers_are_no_errors(shown: list[Shown]) -> None:
    answers = [each for each in shown if each.expected.error is None]
    assert len(answers) > 500
    assert [each.id for each in answers if known_error(each.api, each.interaction)] == []


def drawn(
    api: Api, mode: Mode, theme: str, most: int = 60, is_enough: Callable[[list[Scenario]], bool] = lambda _: False
) -> list[Scenario]:
    """Return the scenarios that a theme lists, and up to `most` drawn ones. `is_enough` can end the drawing earlier."""
    found = theme_named(theme)
    scenarios = list(found.all_listed(api, mode))

    @settings(max_examples=most, derandomize=True, deadline=None, database=None, phases=[Phase.generate])
    @given(found.scenarios(api, mode))
    def draw(scenario: Scenario) -> None:
        scenarios.append(scenario)
        if is_enough(scenarios):
            raise EnoughDrawn

    with contextlib.suppress(EnoughDrawn):
        draw()
    return scenarios


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", APIS, ids=str)
@pytest.mark.parametrize("mode", ["json", "stream"])
def test_errors_that_are_drawn_are_known_and_all_are_drawn(api: Api, mode: Mode) -> None:
    found = [known_error(api, scenario.interactions[mode]) for scenario in drawn(api, mode, "statuses")]
    assert None not in found
    assert {str(error) for error in api.statuses if error.answers(mode)} <= {str(error) for error in found}


def test_all_answers_of_gateways_are_drawn() -> None:
    scenarios = drawn(table()["groq", "chat"], "json", "statuses", 300)
    bodies = {(scenario.interactions["json"].status, scenario.interactions["json"].body) for scenario in scenarios}
    assert {(gateway.status, gateway.body) for gateway in GATEWAYS} <= bodies


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", [api for api in APIS if api.stream_errors], ids=str)
def test_all_errors_of_a_stream_are_drawn_and_recognised(api: Api) -> None:
    of_each = 50 * max(1, len(api.backends))  # an error may be one of a single backend
    errors = {str(error) for error in api.stream_errors}
    found: set[str] = set()

    def are_all_found(scenarios: list[Scenario]) -> bool:
        error = known_error(api, scenarios[-1].interactions["stream"])
        found.update([str(error)] if error else ())
        return found >= errors and len(scenarios) >= of_each

    drawn(api, "stream", "broken-streams", of_each * len(errors), are_all_found)
    assert found == errors


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", [api for api in APIS if not api.stream_errors], ids=str)
def test_rows_without_errors_in_streams_are_sent_none(api: Api) -> None:
    for scenario in drawn(api, "stream", "broken-streams"):
        facts = derive_if_readable(scenario.interactions["stream"], api)
        assert facts is None or facts.error is None


@pytest.mark.parametrize("api", APIS, ids=str)
def test_notes_say_whether_there_are_errors_in_streams(api: Api) -> None:
    assert any(note.startswith(NO_ERROR_IN_A_STREAM) for note in api.notes) == (not api.stream_errors)


@pytest.mark.parametrize("api", APIS, ids=str)
def test_sources_that_are_scenarios_exist(api: Api) -> None:
    assert api.statuses
    errors: list[StatusError | StreamError] = [*api.statuses, *api.stream_errors]
    for error in errors:
        if re.fullmatch(r"[a-z]+/[a-z0-9-]+", error.source):
            assert (CASSETTES / f"{error.source}{load.SUFFIX}").exists(), error.source
        else:
            assert re.search(r"https://|measured: |\d\.\d", error.source), error.source


def test_an_error_is_a_way_with_its_source() -> None:
    api = table()["groq", "chat"]
    scenario = drawn(api, "json", "statuses")[0]
    (way,) = recognise(api, scenario.interactions["json"])
    assert (way.variation, way.way) == (ERRORS, str(api.statuses[0]))
    assert way.source == api.statuses[0].source


def test_an_error_that_nobody_knows_is_a_way_without_a_source() -> None:
    api = table()["groq", "chat"]
    body = b'{"error": {"message": "no", "type": "some_error", "code": "some_code"}}'
    interaction = Interaction(api.base_urls[0] + api.path, {}, 429, {"content-type": "application/json"}, body)
    (way,) = recognise(api, interaction)
    assert way.source is None


def test_templates_fit_what_they_stand_for() -> None:
    template = {"error": {"message": "$message", "code": 429, "param": "$param", "type": None}}
    assert fits(template, {"error": {"message": "no", "code": 429}, "id": "1"})
    assert not fits(template, {"error": {"message": "no", "code": 429.0}})
    assert not fits(template, {"error": {"message": None, "code": 429}})
    assert not fits(template, {"error": {"message": "no", "code": 429, "type": "some_error"}})
    assert not fits([template], [])


@pytest.mark.parametrize("api", [api for api in APIS if api.stream_errors], ids=str)
def test_errors_of_streams_are_read_also_as_the_first_event(api: Api) -> None:
    framing = api.framing
    for error in (each for each in api.stream_errors if each.event.endswith("Exception")):
        frame = Frame({"message": "it broke down"}, error.event, ends=True)
        body = b"".join(framing.write([frame], Writing(), lambda *ways: ways[0]))
        facts = derive_if_readable(interaction(api, "stream", body, next(iter(api.models))), api)
        assert facts is not None
        assert facts.error, error.event
