"""The text of a failure has the recorded answer, or the pieces of a long one that say most."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.judging.shown.answer import excerpt
from llm_conformance.judging.shown.failure_text import _asked, _shortened
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios.cassette import save
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.providers.table import table
from tests import inline, miniature
from tests.draws import drawn

ADAPTER = """\
class conformance_adapter:
    providers = ["deepseek"]

    def parse(self, http, call):
        return {"message": "Nine."}
"""
CUTTING = """
import json


class conformance_adapter:
    providers = ["deepseek"]

    def parse_stream(self, http, call):
        for line in b"".join(http.chunks).decode().splitlines():
            if line.startswith("data: {"):
                yield {"event_type": "response.output_text.delta", "delta": str(json.loads(line[6:]))}
"""
HEAD, TAIL = "<" + "h" * 499, "t" * 499 + ">"


def test_a_failure_of_a_recording_shows_what_the_provider_sent(pytester: pytest.Pytester) -> None:
    miniature.write(pytester.path / "own")
    pytester.makepyfile(wrong=ADAPTER)
    options = ["--adapter=wrong", "--conformance-cassettes=own", "--conformance-rule=MSG-2", "-v"]
    result = inline.run(pytester, str(miniature.RULES), *options, "--conformance-scenario=mini/spider")

    result.stdout.fnmatch_lines(
        ["Requirement  MSG-2: *", 'Body         {"id": "a-1", *"content": "Eight."*', "Reproduce *"]
    )
    assert "Status" not in str(result.stdout)


def test_a_short_answer_is_shown_as_it_is() -> None:
    text = "x" * 1500
    assert excerpt(text, ["x"]) == text


def test_what_a_terminal_obeys_is_escaped() -> None:
    assert excerpt("a\x1b[2J\r\nb\u2028c", []) == "a\\x1b[2J\\r\nb\\u2028c"


def test_so_it_is_in_expected_and_returned_values() -> None:
    assert _shortened("a\x85b\nc\u2029") == f"a\\x85b\n{'':<13}c\\u2029"
    assert _shortened({"message": "a\u2028b\x7f"}) == '{"message": "a\\u2028b\\u007f"}'


def test_an_empty_body_is_said_to_be_empty(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        unread="import json\nclass conformance_adapter:\n    providers = ['cohere:chat']\n"
        "    def parse(self, http, call): return json.loads(http.body)\n"
    )
    options = ("--adapter=unread", "--conformance-scenario=cohere/empty-body", "--conformance-examples=0")
    result = inline.run(
        pytester, *options, str(miniature.RULES), "--conformance-rule=ERR-2", "--conformance-probes=judge", "-v"
    )
    result.stdout.fnmatch_lines(["Actual       JSONDecodeError: *", "Body         (empty)"])


def write(directory: Path, separator: str) -> None:
    """Write the miniature scenario with a character within its answer, as the provider sends it: without an escape."""
    path = miniature.write(directory)
    path.write_text(miniature.SCENARIO.replace("Eight.", f'"Ei\\u{ord(separator):04x}ght."'), "utf-8")
    plain, streamed = miniature.interactions()
    answers = [
        replace(plain, body=plain.body.replace(b"Eight", f"Ei{separator}ght".encode())),
        replace(streamed, body=streamed.body.replace(b"ght", f"{separator}ght".encode())),
    ]
    (directory / "mini" / "spider.yaml").unlink()
    save(directory / "mini" / "spider.yaml", miniature.PROVENANCE, answers)


@pytest.mark.parametrize(
    ("separator", "says"),
    [
        ("\u2028", "the body has U+2028 LINE SEPARATOR, at which some line splitters cut"),
        ("\x85", "the body has U+0085 NEXT LINE, at which some line splitters cut"),
        ("-", ""),
    ],
)
def test_a_character_that_cuts_lines_is_named_if_the_call_failed(
    pytester: pytest.Pytester, separator: str, says: str
) -> None:
    write(pytester.path / "own", separator)
    pytester.makepyfile(wrong=CUTTING if says else CUTTING.replace("json.loads", "json.nothing"))
    options = ["--adapter=wrong", "--conformance-cassettes=own", "--conformance-scenario=mini/spider", "-v"]
    result = inline.run(pytester, str(miniature.RULES), *options, "--conformance-method=parse_stream")
    hints = [line.removeprefix("Hint").strip() for line in result.outlines if line.startswith("Hint")]
    assert hints == [says] * bool(says)
    assert result.ret == 1


@pytest.mark.parametrize(
    ("middle", "values", "shown"),
    [
        ("m" * 2000, [], " ... 2000 characters ... "),
        ("m" * 2000, ["nowhere", 7], " ... 2000 characters ... "),
        ("m" * 2000, ["hhh", "ttt"], " ... 2000 characters ... "),
        (
            "m" * 1000 + '"https://a.b"' + "n" * 1000,
            ["m", "https://a.b"],
            f' ... 751 characters ... {"m" * 249}"https://a.b"{"n" * 238} ... 762 characters ... ',
        ),
        (
            "m" * 1000 + " 17.5 117 17," + "n" * 1000,
            [17],
            f" ... 760 characters ... {'m' * 240} 17.5 117 17,{'n' * 247} ... 753 characters ... ",
        ),
        (
            "m" * 1000 + r"gr\u00f6\u00dfer" + "n" * 1000,
            ["größer"],
            rf" ... 750 characters ... {'m' * 250}gr\u00f6\u00dfer{'n' * 234} ... 766 characters ... ",
        ),
        ("m" * 90 + "here" + "n" * 1000, ["here"], f"{'m' * 90}here{'n' * 246} ... 754 characters ... "),
        ("m" * 1000 + "here" + "n" * 90, ["here"], f" ... 750 characters ... {'m' * 250}here{'n' * 90}"),
    ],
    ids=["no value", "elsewhere", "at the ends", "text", "number", "escaped", "near the beginning", "near the end"],
)
def test_of_a_long_answer_both_ends_and_the_expected_value_are_shown(
    middle: str, values: list[Any], shown: str
) -> None:
    assert excerpt(HEAD + middle + TAIL, values) == HEAD + shown + TAIL


def first_drawn(row: tuple[str, str], theme: str, has: Callable[[Scenario], bool]) -> Scenario:
    return next(filter(has, drawn(theme, table()[row], "json")))


def test_a_failure_says_what_is_special_in_the_request() -> None:
    several = first_drawn(("openai", "chat"), "answers", lambda each: each.params["json"].keys() == {"n"})
    assert [each for each in _asked(several, "json", catalogue()["MSG-2"].rule) if "tool" not in each] == ["n: 2"]


@pytest.mark.parametrize(("rule", "end"), [("RPL-1", " (the earlier answer of RPL-1)"), ("MSG-2", "")])
def test_a_failure_names_the_earlier_answer(rule: str, end: str) -> None:
    second = first_drawn(("anthropic", "messages"), "second-turns", lambda each: bool(each.earlier))
    *others, last = _asked(second, "json", catalogue()[rule].rule)
    assert re.fullmatch(r"messages\[1\] is an answer with \d tool calls? and reasoning" + re.escape(end), last)
    assert "2 tools" in others
    assert not any("max_tokens" in each for each in others)
