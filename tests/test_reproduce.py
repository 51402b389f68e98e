"""The command that stands beside a failure of a search finds this failure again, whatever the effort of the run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.reports import files
from llm_conformance.wire import named_cuts
from tests import inline, miniature

BROKEN = Path(__file__).with_name("broken")
TRIMS = (
    f"--adapter={BROKEN / 'message.py'}:TrimmedMessage",
    "--conformance-scenario=zai/generated-chat-answers",
    "--conformance-method=parse",
    "--conformance-rule=MSG-2",
)
TEARS = (
    f"--adapter={BROKEN / 'streaming.py'}:PiecesDecodedOneByOne",
    "--conformance-scenario=zai/trace-with-outer-white-space",
    "--conformance-method=parse_stream",
    "--conformance-rule=STR-4",
)


@pytest.fixture(autouse=True)
def short_nights(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(short_nights="from llm_conformance.judging import effort\n\neffort.DEEP = 60\n")
    monkeypatch.setenv("CI", "1")  # Hypothesis then remembers nothing


def failures(pytester: pytest.Pytester, *arguments: str) -> list[dict[str, Any]]:
    report = pytester.path / "report.json"
    pytester.runpytest_subprocess(
        str(miniature.RULES), "-q", "-p", "short_nights", f"--conformance-report={report}", *arguments
    )
    return [each for each in files.read(report)["results"] if each["status"] == "fail"]


@pytest.mark.parametrize(
    ("cuts", "name"), [((), "none"), ((3, 6, 9), "/3"), ((3, 6), "3,6"), ((1,), "1"), ((1, 5, 9), "1,5,9")]
)
def test_ways_to_cut_have_names(cuts: tuple[int, ...], name: str) -> None:
    assert named_cuts.name_of(cuts, 10) == name
    assert named_cuts.is_well_formed(name)
    assert named_cuts.named(name, 10) == cuts


def test_a_stream_gets_so_many_cuts_at_most() -> None:
    assert len(named_cuts.named("/1", 10_000)) == named_cuts.MOST
    assert named_cuts.named("7,99,3", 10) == (3, 7)


@pytest.mark.parametrize("name", ["", "0", "3;4", "/0", "all", "1,,2"])
def test_a_bad_name_is_no_way_to_cut(name: str) -> None:
    assert not named_cuts.is_well_formed(name)


def test_a_bad_name_is_refused(pytester: pytest.Pytester) -> None:
    arguments = ("--adapter=adapters", "--conformance-scenario=zai/content-begins-*", "--conformance-cuts=all")
    result = inline.run(pytester, str(miniature.RULES), *arguments)
    result.stderr.fnmatch_lines(["*--conformance-cuts=all: must be byte offsets (12,57), *"])


# An effort that is a number draws other examples in each run. Of 200, at least one has outer white space.
SEARCHES = [(TRIMS, "ci"), (TRIMS, "200"), *((TEARS, effort) for effort in ("quick", "ci", "40", "deep"))]


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.usefixtures("with_cache")
@pytest.mark.parametrize(("search", "effort"), SEARCHES)
def test_the_command_reproduces_the_failure(pytester: pytest.Pytester, search: tuple[str, ...], effort: str) -> None:
    found = failures(pytester, *search, f"--conformance-examples={effort}")
    assert found
    for each in found[:2]:
        command = shlex.split(each["command"])
        again = failures(pytester, *(word for word in command if word.startswith("--")))
        assert [(one["rule"], one["cause"], one["message"]) for one in again] == [
            (each["rule"], each["cause"], each["message"])
        ]
