"""The reasons for which a generated input is valid begin with the source of its fault."""

from __future__ import annotations

import re

import pytest

from llm_conformance.judging.shown.grounds import fault_grounds, grounds
from llm_conformance.scenarios.core_faults import CORE_FAULTS
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.table import table
from tests.draws import drawn

MISTRAL = table()["mistral", "chat"]


@pytest.mark.parametrize("theme", ["disconnected", "silent", "outages"])
@pytest.mark.parametrize("mode", ["json", "stream"])
def test_a_lost_connection_and_an_outage_have_a_source(theme: str, mode: Mode) -> None:
    assert all("(https://" in (fault_grounds(each, mode) or "") for each in drawn(theme, MISTRAL, mode))


@pytest.mark.parametrize("mode", ["json", "stream"])
def test_a_body_that_is_no_answer_has_a_source(mode: Mode) -> None:
    empty = [each for each in drawn("malformed", MISTRAL, mode) if not each.interactions[mode].body]
    (why,) = {fault_grounds(each, mode) for each in empty}
    assert str(why).startswith("a proxy answers with an empty body and status 200 (https://")
    found = drawn("malformed", MISTRAL, mode)
    pages = [each for each in found if each.interactions[mode].body.startswith(b"<!DOCTYPE")]
    assert all(CORE_FAULTS["html"].source in (fault_grounds(each, mode) or "") for each in pages)
    assert pages


@pytest.mark.parametrize("theme", ["answers", "statuses", "mistyped"])
def test_answers_errors_and_probes_have_no_fault(theme: str) -> None:
    assert {fault_grounds(each, "json") for each in drawn(theme, MISTRAL, "json")} == {None}


def test_the_fault_comes_first() -> None:
    for each in drawn("outages", MISTRAL, "stream"):
        assert str(grounds(each, "stream")).startswith(str(fault_grounds(each, "stream")))


@pytest.mark.parametrize("mode", ["json", "stream"])
def test_what_is_unusual_in_an_earlier_answer_comes_before_the_rest(mode: Mode) -> None:
    found = [str(grounds(each, mode)) for each in drawn("second-turns", table()["anthropic", "messages"], mode)]
    assert any(re.match(r"in messages\[1\], .*redacted reasoning \(anthropic/", each) for each in found)
