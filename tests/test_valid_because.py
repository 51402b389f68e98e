"""A failure of a generated input says what is unusual in it, and on which source that rests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llm_conformance.formats.recognisers import recognise
from llm_conformance.formats.unusual import unusual, valid_because
from llm_conformance.reports import files
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from tests import inline, miniature
from tests.draws import interactions, theme_named

pytestmark = pytest.mark.usefixtures("same_draw")

ANSWERS = theme_named("answers")


def answers(api: Api) -> list[Interaction]:
    return [each for mode in ANSWERS.modes for each in interactions("answers", api, mode)]


def test_unusual_ways_have_sources_and_the_rarest_comes_first() -> None:
    api = table()["openai", "chat"]
    places = []
    for interaction in answers(api):
        ways = unusual(api, interaction)
        assert set(ways) <= set(recognise(api, interaction))
        for way in ways:
            stated = list(api.varies[way.variation])
            assert stated.index(way.way) > 0
            assert way.source == api.varies[way.variation][way.way]
        places.append([list(api.varies[way.variation]).index(way.way) for way in ways])
        text = valid_because(api, interaction)
        assert (text is None) == (not ways)
        assert text is None or (text.count("\n") == 0 and f"{ways[0]} ({ways[0].source})" in text)
    assert any(places)
    assert not all(places)
    assert all(ranks == sorted(ranks, reverse=True) for ranks in places)


def test_a_way_that_the_row_does_not_have_is_a_fault_of_the_suite() -> None:
    api = table()["openai", "chat"]
    bare = replace(api, varies={})
    texts = [text for interaction in answers(api) if (text := valid_because(bare, interaction))]
    assert texts
    assert all("a fault of llm-conformance" in text for text in texts)


def test_few_ways_are_shown() -> None:
    api = table()["openai", "chat"]
    bare = replace(api, varies={}, ids={"answer": ("x",), "call": ("x",)})
    longest = max((len(unusual(bare, each)), valid_because(bare, each) or "") for each in answers(api))
    assert longest[0] > 3
    assert longest[1].endswith(f"and {longest[0] - 3} more unusual ways")


def test_terminal_and_report_say_why_an_input_is_valid(pytester: pytest.Pytester) -> None:
    report = pytester.path / "report.json"
    junit = pytester.path / "junit.xml"
    pytester.makepyfile(
        lost_counts="""
        from adapters import ReferenceAdapters

        class Counts(ReferenceAdapters):
            name = "counts"
            providers = ["openai:chat"]
            capabilities = ["streaming"]
            complete = stream = parse = None

            def parse_stream(self, chunks, call):
                for event in super().parse_stream(chunks, call):
                    if event.response is not None and event.response.usage is None:
                        raise KeyError("usage")
                    yield event

        conformance_adapter = Counts
        """
    )
    done = inline.run(
        pytester,
        str(miniature.RULES),
        "--adapter=lost_counts.py",
        "--conformance-scenario=openai/generated-chat-answers",
        "--conformance-examples=ci",
        f"--conformance-report={report}",
        f"--junitxml={junit}",
        "-q",
    )
    assert done.ret == 1, done.stdout.str()
    source = table()["openai", "chat"].varies["counts of a stream"]["never"]
    why = f"counts of a stream: never ({source})"
    document = files.read(report)
    (shape,) = [each for each in document["results"] if (each["rule"], each["status"]) == ("SHP-1", "fail")]
    assert why in shape["example"]["valid_because"]
    assert why in document["findings"][0]["examples"][0]["valid_because"]
    done.stdout.fnmatch_lines(["    valid because: *counts of a stream: never*"])
    assert f"Valid because {shape['example']['valid_because']}" in junit.read_text("utf-8")
