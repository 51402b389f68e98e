"""A partial run says in its summary what it leaves out."""

from __future__ import annotations

import re

import pytest

from llm_conformance.judging.plan import Filters
from llm_conformance.reports import files
from llm_conformance.rules.catalogue import catalogue
from tests import inline, miniature


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        (Filters(), []),
        (Filters(providers=["groq"]), ["only the provider groq"]),
        (Filters(providers=["groq", "openai:chat"]), ["only the providers groq and openai:chat"]),
        (Filters(scenarios=["a/*"], methods=["parse"]), ["only the scenario a/*", "only the method parse"]),
        (Filters(rules=["MSG-1"], cuts="/3"), ["only the rule MSG-1", "streams only cut at /3"]),
    ],
)
def test_each_filter_is_a_reason(filters: Filters, words: list[str]) -> None:
    assert list(filters.reasons()) == words
    assert bool(words) == filters.given


def test_a_filter_on_rules_may_be_a_glob() -> None:
    rules = [each.rule for each in catalogue().values()]
    counts = [each.id for each in rules if Filters(rules=["USE-*"]).judges(each)]
    assert counts == [id for id in catalogue() if id.startswith("USE-")]
    assert len(counts) == 5


def test_the_summary_gives_all_reasons_in_one_line(pytester: pytest.Pytester) -> None:
    miniature.write(pytester.path / "own")
    options = ("--adapter=adapters", "--conformance-cassettes=own", "--conformance-scenario=mini/*")
    reports = ("--conformance-report=part.json", "--conformance-report=part.md")
    part = inline.run(
        pytester, *options, *reports, "--conformance-examples=0", str(miniature.RULES / "test_message.py")
    )
    reasons = r"only the scenario mini/\*; only \d+ of \d+ rules; no generated inputs \(--conformance-examples=0\)"
    part.stdout.re_match_lines([f"PARTIAL: {reasons}$"])
    assert part.ret == 0
    part.stdout.no_fnmatch_line("OK: *")
    assert re.fullmatch(reasons, "; ".join(files.read(pytester.path / "part.json")["partial"]))
    summary = (pytester.path / "part.md").read_text()
    assert re.search(r"^Partial: only the scenario .*=0\)\. So there is no verdict", summary, re.M)


def test_the_summary_names_a_provider_that_the_suite_does_not_have(pytester: pytest.Pytester) -> None:
    miniature.write(pytester.path / "own")
    (pytester.path / "private.py").write_text(
        "class conformance_adapter:\n    providers = ['mycorp:chat', 'openai:chat']\n    parse = staticmethod(dict)\n"
    )
    options = ("--adapter=private.py", "--conformance-scenario=openai/refusal", "--conformance-examples=0")
    part = inline.run(pytester, *options, str(miniature.RULES / "test_message.py"))
    part.stdout.fnmatch_lines(["not judged: mycorp:chat: no such provider; did you mean cohere:chat? `llm-conf*"])


def test_the_summary_names_a_capability_that_no_method_can_show(pytester: pytest.Pytester) -> None:
    miniature.write(pytester.path / "own")
    (pytester.path / "private.py").write_text(
        "class conformance_adapter:\n    providers = ['openai:chat']\n    capabilities = ['streaming', 'tools']\n"
        "    parse = staticmethod(dict)\n"
    )
    options = ("--adapter=private.py", "--conformance-scenario=openai/refusal", "--conformance-examples=0")
    part = inline.run(pytester, *options, str(miniature.RULES / "test_message.py"))
    why = "because the adapter has no method stream or parse_stream"
    assert [line for line in part.outlines if "the capability" in line] == [
        f"not judged: the capability streaming, {why}"
    ]
