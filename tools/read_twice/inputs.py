"""The responses that are read twice: recordings, scenarios and drawn answers, with their expected values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from llm_conformance.corpus import recordings as public
from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios import bare, lint, load
from llm_conformance.scenarios.bare import BareFile, NotJudged
from llm_conformance.scenarios.bare_expected import Undecided, expected_from_bytes
from llm_conformance.scenarios.expected import Expected
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire import answers
from llm_conformance.wire.answers import WireFacts
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError
from tools import documents

PUBLIC = "public"
SUITE = "suite"


@dataclass(frozen=True)
class Recording:
    """One recorded response and its expected values.

    Attributes:
        id: The id of the scenario or the bare recording.
        api: `provider:api`.
        mode: Whether it is a stream.
        model: The model of the request.
        expected: The expected values. Those of a bare recording are what its bytes decide, also bytes that the
            recorder altered.
        facts: The facts of its bytes; empty for an error.
    """

    id: str
    api: str
    mode: Mode
    model: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    expected: Expected = field(repr=False)
    facts: WireFacts = field(repr=False)


def of(source: str, left_out: Counter[str], is_wanted: Callable[[Api], bool]) -> Iterator[Recording]:
    """Yield the responses of a source. `left_out` counts the responses that are not judged, by reason.

    Args:
        source: `public`, `suite`, or a directory of bare recordings.
        left_out: A counter, to which reasons are added.
        is_wanted: A function that returns False for an API whose responses are not wanted.

    Raises:
        BadFileError: If a scenario is wrong.
        llm_conformance.corpus.recordings.NotFetchedError: If packages of the public corpus are not fetched.
    """
    if source == SUITE:
        for scenario in _suite():
            if is_wanted(scenario.api):
                yield from _of_scenario(scenario, left_out)
        return
    for file in _files(source):
        try:
            found = list(bare.recordings_of(file))
        except BadFileError:
            left_out["no cassette"] += 1
            continue
        for each in found:
            if isinstance(each, NotJudged):
                left_out[each.why.partition(" at ")[0] if each.unknown_at else each.why] += 1
            elif is_wanted(each.api):
                yield from _of_scenario(each, left_out)


def of_generated(apis: Iterable[str], number: int) -> Iterator[Recording]:
    """Draw `number` answers for each theme and mode of the APIs (`provider:api`), with their expected values."""
    for _, scenario in documents.drawn(apis, number):
        yield from _of_scenario(scenario, Counter())


def _suite() -> Iterator[Scenario]:
    yield from (scenario for scenario in lint.load_all([CASSETTES]) if scenario.grounds != "probe")


def _files(source: str) -> Iterator[BareFile]:
    if source == PUBLIC:
        yield from public.of(lambda _: True)
    else:
        directory = Path(source)
        yield from (bare.file_in(path, directory) for path in sorted(load.cassettes_below(directory)))


def _of_scenario(scenario: Scenario, left_out: Counter[str]) -> Iterator[Recording]:
    api = scenario.api
    for mode, interaction in scenario.interactions.items():
        expected: Expected | Undecided = scenario.expected[mode]
        if scenario.is_bare:
            expected = expected_from_bytes(interaction, api, scenario.model, scenario.think_profile)
        if isinstance(expected, Undecided):
            left_out[expected.why] += 1
            continue
        if expected.fault == "connection":
            left_out["the connection fails"] += 1
            continue
        if expected.error is None:  # drawn values do not name the counts that adapters cannot read
            facts = answers.derive(interaction, api)
            expected = replace(expected, oversized=api.oversized(facts.usage), unread=api.unread(facts.usage))
        else:
            facts = WireFacts()
        yield Recording(
            id=scenario.id,
            api=str(api),
            mode=mode,
            model=scenario.model,
            status=interaction.status,
            headers=interaction.headers,
            body=interaction.body,
            expected=expected,
            facts=facts,
        )
