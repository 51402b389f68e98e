"""What the badge and the other reports say was judged, and which runs give no verdict."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from llm_conformance import schema
from llm_conformance.adapter.declarations import CAPABILITIES
from llm_conformance.calling.fair_time import TOO_BUSY
from llm_conformance.replay import runner
from llm_conformance.reports import files, judged, merging
from llm_conformance.reports.forms import badge, markdown, page
from tests import inline, miniature
from tests.test_reports import ONE, WHOLE, Document, deviation, document, result
from tests.test_starved import stop_command

SVG = "{http://www.w3.org/2000/svg}"
GREEN, RED, AMBER, GREY = "#2f7d32", "#b3261e", "#8a6100", "#5f6368"
RIGHT = document(result(), result("openai/two"))


def read(svg: str) -> tuple[str, str, str]:
    """Return title, text and colour of a badge."""
    tree = ElementTree.fromstring(svg)
    texts = [each.text or "" for each in tree.iter(f"{SVG}text")]
    assert texts[0] == "llm-conformance 0.1"
    return tree.findtext(f"{SVG}title") or "", texts[1], list(tree.iter(f"{SVG}rect"))[-1].attrib["fill"]


@pytest.mark.parametrize(
    ("made", "verdict", "colour"),
    [
        (RIGHT, "conforms", GREEN),
        (WHOLE, "failing", RED),
        (
            {**document(result(), result("openai/two", "expected")), "deviations": [deviation("expected")]},
            "1 known deviation",
            AMBER,
        ),
    ],
)
def test_a_badge_has_the_verdict_and_names_adapter_and_suite(made: Document, verdict: str, colour: str) -> None:
    where = "openai:chat, parse, 2 conversations (0 recorded)"
    details = (
        f"2 synthetic conversations of openai:chat through parse; llm-conformance 0.1.0, edition 0.1, "
        f"scenarios sha256:{'0' * 64}, 25 examples per property"
    )
    assert read(badge.render([made])) == (
        f"mypkg 1.0: {verdict}: {where} ({details})",
        f"{verdict}: {where}",
        colour,
    )


def test_a_badge_of_an_adapter_that_declares_little_is_not_green() -> None:
    made = document(result(), result("openai/two"), capabilities=["tools", "raw"])
    title, text, colour = read(badge.render([made]))
    assert text == "conforms: openai:chat, parse, 2 conversations (0 recorded), 14 undeclared"
    assert colour == AMBER
    assert "; not declared: streaming, reasoning, segments, annotations, audio, round_trip, errors, " in title
    assert read(badge.render([document(result(), result("b/c"), capabilities=set(CAPABILITIES) - {"raw"})]))[2] == GREEN


def test_a_badge_counts_what_it_does_not_name() -> None:
    apis = [("openai", "chat"), ("openai", "responses"), ("groq", "chat"), ("xai", "chat")]
    results = [
        result(f"{provider}/{api}", provider=provider, api=api, method=method, mode=mode, provenance=provenance)
        for provider, api in apis
        for mode, method in (("json", "complete"), ("json", "parse"), ("stream", "stream"), ("stream", "parse_stream"))
        for provenance in ("recorded" if api == "responses" else "synthetic",)
    ]
    drawn = result("openai/generated-chat-answers", provenance="generated")
    made = document(*results, drawn, complete=True)
    (found,) = made["judged"]
    assert found["conversations"] == {"recorded": 2, "synthetic": 6, "generated": 1}
    assert found["apis"] == ["groq:chat", "openai:chat", "openai:responses", "xai:chat"]
    assert found["methods"] == ["complete", "parse", "stream", "parse_stream"]
    title, text, _ = read(badge.render([made]))
    assert text == "conforms: 4 APIs of 3 providers, all methods, 8 conversations (2 recorded)"
    everything = "2 recorded, 6 synthetic and 1 generated conversations of 4 APIs of 3 providers"
    assert f"({everything} through complete, parse, stream and parse_stream; llm-" in title


def test_a_badge_counts_two_apis_and_its_title_names_them() -> None:
    results = [result("groq/a", provider="groq"), result("openai/b")]
    title, text, _ = read(badge.render([document(*results, complete=True)]))
    assert text == "conforms: 2 APIs of 2 providers, parse, 2 conversations (0 recorded)"
    assert "of groq:chat and openai:chat through parse" in title


def test_a_conversation_that_no_rule_could_judge_is_unsupported() -> None:
    made = document(
        result(),
        result("openai/one", "unsupported", method="complete"),  # judged through the other method
        result("openai/two", "unsupported", method="complete"),
        result("openai/two", "vacuous", method="complete", rule="MSG-1"),
        result("openai/three", "vacuous"),
        result("openai/four", "unsupported", method="complete", grounds="probe"),
        complete=True,
    )
    (found,) = made["judged"]
    assert (found["methods"], found["unsupported"]) == (["parse"], 1)
    sentence = "1 synthetic conversation of openai:chat through parse; 1 conversation unsupported"
    assert judged.read(made, "mypkg").sentence == sentence
    assert f"\nJudged: {sentence}.\n" in markdown.render([made])


@pytest.mark.parametrize(
    ("made", "text", "why"),
    [
        (ONE, "partial", "some test items were deselected"),
        ({**ONE, "partial": []}, "partial", "not every rule was applied to every scenario"),
        (document(result(), result("openai/two", "error")), "suite error", "the suite itself failed"),
        (
            document(result(status="vacuous"), result("openai/two", "vacuous")),
            "nothing judged",
            "no rule had anything to judge",
        ),
        (
            document(result(), result("openai/two", "blocked")),
            "not all judged",
            "some calls could not be judged, and no failure says why",
        ),
        (
            {**RIGHT, "examples": 24},
            "too few examples",
            "it needs 25 generated examples per property, the run had 24",
        ),
    ],
)
def test_a_run_without_a_verdict_has_a_grey_badge_that_says_why(made: Document, text: str, why: str) -> None:
    title, shown, colour = read(badge.render([made]))
    assert (shown, colour) == (text, GREY)
    assert title.startswith(f"mypkg 1.0: {text} ({why}; llm-conformance ")


def test_a_badge_is_for_one_adapter() -> None:
    with pytest.raises(badge.NoBadgeError, match="for one adapter"):
        badge.render([WHOLE, WHOLE])


def test_merged_shards_say_what_all_of_them_judged() -> None:
    shards = [
        document(each, items={"planned": 2, "done": 1, "restricted": False, "faults": 0})
        for each in (result(), result("openai/two", method="complete"))
    ]
    (found,) = merging.merge(shards)["judged"]
    assert (found["conversations"], found["methods"]) == ({"synthetic": 2}, ["complete", "parse"])


def test_shards_of_which_one_was_on_a_busy_machine_are_not_complete() -> None:
    # The other shard has a known deviation, which could also be why a cell is blocked.
    busy = result("openai/two", "blocked", message=f"{TOO_BUSY}: it did not run")
    shards = [
        document(each, items={"planned": 2, "done": 1, "restricted": False, "faults": 0})
        for each in (result(status="expected"), busy)
    ]
    merged = merging.merge(shards)
    assert merged["complete"] is False
    assert read(badge.render([merged]))[1:] == ("partial", GREY)


def test_a_partial_run_replaces_an_earlier_badge(pytester: pytest.Pytester) -> None:
    path = pytester.path / "b.svg"
    files.write(path, RIGHT)
    assert read(path.read_text("utf-8"))[2] == GREEN
    made, report = miniature.run(
        pytester, "--adapter=adapters", "--conformance-examples=0", "--conformance-report=b.svg"
    )
    assert made.ret == 0
    assert read(path.read_text("utf-8"))[1:] == ("partial", GREY)
    assert list(schema.problems("report", report)) == []


PARSES_ONLY = """\
from adapters import ReferenceAdapters

class Adapter:
    name = "small"
    providers = ["avian:chat"]
    capabilities = []

    def parse(self, http, call):
        return ReferenceAdapters().parse(http, call)

conformance_adapter = Adapter
"""


def test_a_small_adapter_is_shown_as_small_everywhere(pytester: pytest.Pytester, same_draw: None) -> None:
    pytester.makepyfile(small_of_avian=PARSES_ONLY)
    reports = [pytester.path / f"r.{suffix}" for suffix in ("json", "svg", "md")]
    made = inline.run(
        pytester,
        str(miniature.RULES),
        "--adapter=small_of_avian",
        "--conformance-isolation=none",
        *(f"--conformance-report={path}" for path in reports),
    )
    assert made.ret == 0
    report = files.read(reports[0])
    (found,) = report["judged"]
    written = found["conversations"]["synthetic"]
    assert found["apis"] == ["avian:chat"]
    assert found["methods"] == ["parse"]
    assert found["not_declared"] == [name for name in CAPABILITIES if name != "raw"]
    assert found["isolation"] == "none"
    limits = f"not declared: {', '.join(found['not_declared'])}; in the process of the suite"
    made.stdout.fnmatch_lines([f"judged: avian:chat through parse; {limits}"])
    title, text, colour = read(reports[1].read_text("utf-8"))
    assert text == f"conforms: avian:chat, parse, {written} conversations (0 recorded), 15 undeclared"
    assert colour == AMBER
    assert limits in title
    assert f"{limits}.\n" in reports[2].read_text("utf-8").replace("\\_", "_")
    assert page.render([report])


STARVED = f"""\
import subprocess

import small_of_avian

class Adapter(small_of_avian.Adapter):
    def parse(self, http, call):
        if b"chatcmpl-72b9e0f4136a48d5b5c1" in http.body:
            subprocess.run(["sh", "-c", {stop_command(0.5)!r}], check=True)
            raise OSError("no answer in time")
        return super().parse(http, call)

conformance_adapter = Adapter
"""


def test_a_run_on_a_machine_that_is_too_busy_is_partial(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, same_draw: None
) -> None:
    monkeypatch.setattr(runner, "STARVED_S", 0.3)
    monkeypatch.setattr(runner, "TIMES_THE_LIMIT", (1, 1))
    pytester.makepyfile(small_of_avian=PARSES_ONLY, starved_of_avian=STARVED)
    reports = [pytester.path / f"r.{suffix}" for suffix in ("json", "svg")]
    made = inline.run(
        pytester,
        str(miniature.RULES),
        "--adapter=starved_of_avian",
        "--conformance-isolation=none",
        *(f"--conformance-report={path}" for path in reports),
    )
    made.stdout.fnmatch_lines(["NOT JUDGED, as this machine is too busy: *", "PARTIAL: *"])
    report = files.read(reports[0])
    assert report["items"]["done"] == report["items"]["planned"]
    assert report["complete"] is False
    assert read(reports[1].read_text("utf-8"))[1:] == ("partial", GREY)


def test_a_run_whose_process_dies_leaves_no_earlier_badge(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        dying="""
        import os

        class conformance_adapter:
            providers = ["deepseek"]

            def parse(self, http, call):
                os._exit(7)
        """
    )
    path = pytester.path / "b.svg"
    files.write(path, RIGHT)
    miniature.run(pytester, "--adapter=dying", "--conformance-report=b.svg", "--collect-only")
    assert path.exists()
    miniature.run(pytester, "--adapter=dying", "--conformance-report=b.svg", apart=True)
    assert not path.exists() or read(path.read_text("utf-8"))[2] != GREEN
