"""Where a library's own object has the expected value, a failure says that the adapter may have missed it."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from llm_conformance.contract import Response, ToolCall, Usage
from llm_conformance.judging.shown.missed import missed
from llm_conformance.reports import files
from llm_conformance.scenarios.expected import Expected, ExpectedAnnotation, ExpectedToolCall
from tests import inline

NOT_STATED = frozenset[str]()


def exchange(expected: Expected, native: Any, **response: Any) -> Any:
    """Return what `missed` looks at of an exchange."""
    usual = {"id": "r1", "provider": "p", "model": "m", "message": "", "finish_reason": None, "usage": None}
    data = Response(**{**usual, **response}).to_dict()
    outcome = SimpleNamespace(returned=SimpleNamespace(native=native), response=SimpleNamespace(data=data))
    return SimpleNamespace(outcome=outcome, expected=expected)


def of(family: str) -> Any:
    """Return a rule as far as `missed` looks at it."""
    return SimpleNamespace(family=family)


CITED = Expected(NOT_STATED, annotations=(ExpectedAnnotation(0, 4, "Häh?", {"url": "https://example.org/a"}),))
CALLED = Expected(NOT_STATED, tool_calls=(ExpectedToolCall("call_1", "find", '{"a": "long"}'),))
COUNTED = Expected(NOT_STATED, usage=Usage(prompt_tokens=20, completion_tokens=9, total_tokens=29, cached_tokens=17))


@pytest.mark.parametrize(
    ("family", "expected", "native", "where"),
    [
        ("ANN", CITED, {"a": [{"b": 1}, {"link": "https://example.org/a"}]}, "/a/1/link"),
        ("ANN", CITED, {"a": "https://example.org/b"}, None),
        ("MSG", CITED, {"link": "https://example.org/a"}, None),
        ("TOOL", CALLED, [SimpleNamespace(own='{"a":"long"}')], "/0/own"),
        ("USE", COUNTED, {"counts": {"hit": 17}}, "/counts/hit"),
        ("USE", COUNTED, {"counts": {"other": 9}}, None),
        ("RSN", Expected(NOT_STATED, reasoning="because"), SimpleNamespace(_own="because"), None),
        ("RSN", Expected(NOT_STATED, reasoning="because"), {"own": "because"}, "/own"),
        ("FIN", Expected(NOT_STATED, raw_finish_reasons=("length", None)), {"why": "length"}, "/why"),
        ("PRV", Expected(NOT_STATED, ids=("resp_1",)), {"id": "resp_1"}, "/id"),
        ("ERR", Expected(NOT_STATED, message="because"), {"own": "because"}, None),
    ],
)
def test_an_expected_value_is_found_in_the_library_s_object(
    family: str, expected: Expected, native: Any, where: str | None
) -> None:
    assert missed(exchange(expected, native), of(family)) == where


def test_a_value_that_the_response_has_was_not_missed() -> None:
    has = exchange(CALLED, {"id": "call_1"}, tool_calls=[ToolCall("call_1", "find", '{"a": "long"}')])
    assert missed(has, of("TOOL")) is None


def test_the_provider_s_own_counts_in_the_response_are_not_the_response_s() -> None:
    has = exchange(
        COUNTED, {"hit": 17}, usage=Usage(prompt_tokens=20, completion_tokens=9, total_tokens=29, raw={"hit": 17})
    )
    assert missed(has, of("USE")) == "/hit"


def test_bytes_are_compared_as_base64() -> None:
    signed = Expected(NOT_STATED, attachments=({"data": "AAECAwQ="},))
    assert missed(exchange(signed, {"blob": b"\x00\x01\x02\x03\x04"}), of("ATT")) == "/blob"


def test_an_adapter_that_keeps_nothing_has_missed_nothing() -> None:
    assert missed(exchange(CITED, None), of("ANN")) is None


class Strange:
    """An object of a library that cannot be read, and contains itself."""

    def __init__(self) -> None:
        self.own = self
        self.link = "https://example.org/a"

    def model_dump(self) -> Any:
        raise RuntimeError("no")


def test_an_object_that_contains_itself_is_read_once_to_a_depth() -> None:
    assert missed(exchange(CITED, Strange()), of("ANN")) is not None
    lost = Strange()
    lost.link = ""
    assert missed(exchange(CITED, lost), of("ANN")) is None


ADAPTER = """
from adapters import ReferenceAdapters


class Answer(dict):
    native = None


class Adapter(ReferenceAdapters):
    name = "shim"
    providers = ("openai:chat",)

    def parse(self, http, call):
        native = super().parse(http, call)
        answer = Answer(native.to_dict() | {"annotations": []})
        answer.native = native
        return answer


conformance_adapter = Adapter
"""


def test_a_failure_says_that_the_adapter_may_have_missed_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(shim=ADAPTER)
    result = inline.run(
        pytester,
        "--pyargs",
        "llm_conformance",
        "--adapter=shim",
        "--conformance-scenario=openai/citation-marks-whole-link",
        "--conformance-method=parse",
        "--conformance-examples=0",
        "--conformance-report=report.json",
        "-v",
    )
    result.stdout.re_match_lines([r"In native +/annotations/0/data/\w+ has the expected value; the adapter may have"])
    told = " ".join(" ".join(result.outlines).split())  # lines are as wide as the terminal
    assert re.search(
        r"the adapter may have missed it: the library's own object has it at /annotations/0/data/\w+", told
    )
    report = files.read(pytester.path / "report.json")
    marked = {each["rule"] for each in report["results"] if each.get("missed")}
    assert marked == {each["rule"] for each in report["results"] if each["status"] == "fail"}
    assert [each["missed"] for each in report["findings"]]
