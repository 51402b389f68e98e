"""A raise is a raise: it ends a stream, it is no success, and its class is judged by one rule alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from adapters import ReferenceAdapters
from llm_conformance.adapter import declarations
from llm_conformance.contract import Call, HttpResponse, LLMError, Response, TimeoutError
from llm_conformance.formats.errors import known_error
from llm_conformance.judging.cell_judge import CellJudge
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.status import Status
from llm_conformance.locations import CASSETTES
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios import build, dump, load
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.table import table
from tests.draws import theme_named

RULES = [entry.rule for entry in catalogue().values()]


class InternalServerError(Exception):
    """An error of a library."""

    def __init__(self, status_code: int | None) -> None:
        super().__init__("unknown finish reason")
        if status_code is not None:
            self.status_code = status_code


class RaisesAtTheEnd(ReferenceAdapters):
    """Raises an exception of a library where the stream ends, after all pieces."""

    status_code: int | None = 500
    errors: Mapping[str, str] = MappingProxyType({})

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Iterator[Any]:
        try:
            for event in super().parse_stream(chunks, call):
                if event.event_type in ("response.completed", "response.error"):
                    break
                yield event
        except Exception as error:
            raise InternalServerError(self.status_code) from error
        raise InternalServerError(self.status_code)


class RaisesWithoutAClass(RaisesAtTheEnd):
    status_code = None


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(10, ReplayServer())
    yield made
    made.close()


def scenario(id: str) -> Scenario:
    return build.build(load.read(CASSETTES / f"{id}.scenario.yaml"), CASSETTES)


def failures(adapter: ReferenceAdapters, id: str, runner: Runner) -> Mapping[str, str | None]:
    """Return the messages of the failures of `parse_stream` by rule."""
    cell = Cell(declarations.describe("own", adapter), scenario(id), "stream", "parse_stream")
    judged = CellJudge(runner, Effort(0)).judge(cell, RULES)
    return {each.verdict.rule: each.verdict.message for each in judged if each.verdict.status == Status.FAIL}


def test_an_error_after_pieces_ends_a_stream_that_may_be_an_error(runner: Runner) -> None:
    assert failures(RaisesAtTheEnd(), "local/aborted-is-no-stop", runner) == {}


def test_an_error_that_no_contract_knows_is_one_failure(runner: Runner) -> None:
    found = failures(RaisesWithoutAClass(), "local/aborted-is-no-stop", runner)
    assert set(found) == {"SHP-1"}


def test_a_raise_is_no_success_whatever_its_class(runner: Runner) -> None:
    assert failures(RaisesAtTheEnd(), "openai/error-in-stream", runner) == {}
    assert set(failures(RaisesWithoutAClass(), "openai/error-in-stream", runner)) == {"ERR-1"}


def test_any_error_is_right_where_none_is_named(runner: Runner) -> None:
    error = RaisesAtTheEnd()
    error.status_code = 418
    assert failures(error, "ollama/error-in-a-line-of-the-stream", runner) == {}
    assert set(failures(error, "openai/error-in-stream", runner)) == {"ERR-1"}


def test_a_status_that_the_library_made_up_does_not_hide_its_class(runner: Runner) -> None:
    adapter = RaisesAtTheEnd()
    adapter.errors = {"InternalServerError": "ValidationError"}
    assert failures(adapter, "deepseek/frame-cut-short", runner) == {}


class PassesOnTheBody(ReferenceAdapters):
    """Puts the provider's whole text into its error, unredacted."""

    def parse_stream(self, chunks: Iterable[bytes], call: Call) -> Iterator[Any]:
        body = b"".join(chunks).decode()
        try:
            yield from super().parse_stream([body.encode()], call)
        except LLMError as error:
            raise type(error)(body, provider=call.provider) from None


@pytest.mark.parametrize(
    ("id", "fails"), [("openai/error-401-masks-the-key", False), ("openai/error-401-repeats-the-key", True)]
)
def test_a_key_that_the_provider_masks_is_no_leak(id: str, fails: bool, runner: Runner) -> None:
    found = failures(PassesOnTheBody(), id, runner)
    assert bool(found) == fails
    assert all("without the API key" in (message or "") for message in found.values())


class TakesForATimeout(ReferenceAdapters):
    """Raises a TimeoutError for every error status."""

    def parse(self, http: HttpResponse, call: Call) -> Response:
        if http.status >= 400:
            raise TimeoutError("it took too long", provider=call.provider)
        return super().parse(http, call)


@pytest.mark.parametrize(("status", "is_right"), [(522, True), (524, True), (520, False), (502, False), (504, True)])
def test_a_gateway_for_which_a_server_was_too_slow_may_be_a_timeout(
    status: int, is_right: bool, runner: Runner
) -> None:
    statuses = theme_named("statuses")
    listed = statuses.all_listed(table()["groq", "chat"], "json")
    (answer,) = (each for each in listed if str(status) in str(known_error(each.api, each.interactions["json"])))
    cell = Cell(declarations.describe("own", TakesForATimeout()), answer, "json", "parse")
    judged = CellJudge(runner, Effort(0)).judge(cell, RULES)
    failed = {each.verdict.rule for each in judged if each.verdict.status == Status.FAIL}
    assert ("ERR-1" not in failed) == is_right
    assert dump.stated(answer.expected["json"]).get("may_raise") == (["TimeoutError"] if status in (522, 524) else None)
