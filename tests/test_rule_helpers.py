"""What rules are written with: leaks, citations, folded streams, token counts of providers, comparisons."""

from __future__ import annotations

import json
import re

import pytest

from llm_conformance.compare import show
from llm_conformance.contract import Annotation
from llm_conformance.rules import folding, leaks, shapes
from llm_conformance.rules.violation import Violation, expect_equal, expect_text
from llm_conformance.scenarios import citations
from llm_conformance.scenarios.expected import ExpectedAnnotation
from llm_conformance.wire.providers import table

CALL = "response.function_call_arguments.delta"
TRACE = "The user wants the legs counted."


@pytest.mark.parametrize(
    ("actual", "leak"),
    [
        ("Eight.", None),
        ("Eight", None),
        ("Four.", None),
        (f"{TRACE}Eight.", "The user"),
        (f"Eight.{TRACE}", "The user"),
        ("Eight. wants the legs", " wants t"),
        ("<think>Eight.", "<think>"),
        ("Eight.</THINK>", "</THINK>"),
        ("Eight. legs", None),
    ],
)
def test_a_leak_is_text_of_the_reasoning_that_was_added_to_the_answer(actual: str, leak: str | None) -> None:
    assert leaks.leaked_from(TRACE, actual, "Eight.") == leak


def test_short_reasoning_that_is_part_of_the_answer_is_not_a_leak() -> None:
    assert leaks.leaked_from("4", "2 + 2 = 4", "2 + 2 = 4") is None
    assert leaks.leaked_from("4", "4four", "four") == "4"


@pytest.mark.parametrize("answer", ["See </think> here.", "They ask for two numbers."])
def test_an_answer_that_is_shown_twice_is_not_a_leak(answer: str) -> None:
    assert leaks.leaked_from("They ask for </think> and so on.", answer * 2, answer) is None


def test_a_kelvin_sign_makes_no_tag() -> None:
    assert leaks.leaked_from("Kelvin", "See </thin\u212a> here.", "See here.") is None
    assert leaks.leaked_from("Kelvin", "See </thinK> here.", "See here.") == "</thinK>"


def test_an_altered_answer_about_tags_is_not_a_leak() -> None:
    expected = "Use a space before <think> and one behind </think> here."
    assert leaks.leaked_from("They ask for <think> and so on.", expected.replace(" ", "\xa0"), expected) is None


def test_white_space_that_is_added_to_the_answer_is_not_a_leak() -> None:
    expected = "Sunny conditions.A light wind."
    assert leaks.leaked_from("The conditions are good.", "Sunny conditions. A light wind.", expected) is None
    assert leaks.leaked_from("The conditions are good.", "Sunny conditions . A light wind.", expected) is None
    assert leaks.leaked_from("The conditions are good.", "Sunny conditions. The conditions", expected) == "The cond"


def test_annotations_are_matched_once_and_by_their_data_first() -> None:
    expected = [ExpectedAnnotation(0, 2, "ab", {"url": "x"}), ExpectedAnnotation(0, 2, "ab", {"url": "y"})]
    actual = [Annotation(0, 2, {"url": "y"}), Annotation(1, 2, {"url": "x"})]
    assert [pair.actual for pair in citations.pair(expected, actual)] == [actual[1], actual[0]]
    assert [pair.actual for pair in citations.pair(expected, actual[:1])] == [None, actual[0]]
    same = [expected[0], expected[0]]
    assert [pair.actual is None for pair in citations.pair(same, actual[1:])] == [False, True]


@pytest.mark.parametrize(
    ("span", "unit"),
    [
        ((3, 5), "UTF-16"),
        ((6, 8), "bytes"),
        ((100, 120), "the cited document"),
        ((2, 3), "the last code point"),
        ((0, 2), "beginning of the block"),
        ((9, 9), ""),
    ],
)
def test_a_wrong_span_is_explained_by_its_unit(span: tuple[int, int], unit: str) -> None:
    expected = ExpectedAnnotation(2, 4, "ab", {"start_char_index": 100, "end_char_index": 120})
    explained = citations.other_unit("🦀éab", expected, Annotation(*span, {}))
    assert unit in explained
    assert bool(unit) == bool(explained)


def test_half_a_surrogate_pair_counts_as_one_in_every_unit() -> None:
    expected = ExpectedAnnotation(2, 4, "ab", {})
    assert "UTF-16" in citations.other_unit("🦀\ud83dab", expected, Annotation(3, 5, {}))


def test_folding_joins_by_index_and_ignores_deltas_that_are_not_text() -> None:
    folded = folding.fold(
        [
            {"event_type": "response.output_text.delta", "delta": "Ei"},
            {"event_type": "response.output_text.delta", "delta": None},
            {"event_type": "response.output_text.delta", "delta": "ght"},
            {
                "event_type": CALL,
                "tool_call": {"index": 1, "id": "b"},
                "delta": "{",
            },
            {"event_type": CALL, "tool_call": {"index": 0, "id": "a"}, "delta": ""},
            {
                "event_type": CALL,
                "tool_call": {"index": 1, "name": "f"},
                "delta": "}",
            },
            {"event_type": "response.media", "attachment": {"id": "m", "data": "aG"}},
            {"event_type": "response.media", "attachment": {"id": "m", "data": "k="}},
        ]
    )
    assert folded.text == "Eight"
    assert folded.tool_call(1) == ("b", "f", "{}")
    assert folded.tool_call(0) == ("a", None, "{}")
    assert folded.attachment("m") == ("aGk=", None)


def test_token_counts_are_derived_from_those_of_the_provider() -> None:
    claude = table.table()["anthropic", "messages"]
    usage = claude.normalise({"input_tokens": 100, "cache_read_input_tokens": 50, "output_tokens": 30})
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (150, 30, 180)
    assert (usage.cached_tokens, usage.cache_write_tokens) == (50, None)
    assert claude.normalise({}) is None
    assert claude.normalise({"service_tier": "standard"}) is None


def test_base_url_and_path_are_split_at_the_documented_base_url() -> None:
    zai = table.table()["zai", "chat"]
    place = zai.place("https://api.z.ai/api/coding/paas/v4/chat/completions")
    assert place is not None
    assert (place.base_url, place.path) == ("https://api.z.ai/api/coding/paas/v4", "/chat/completions")
    assert zai.place("https://example.org/chat/completions") is None


def test_a_violation_shows_where_texts_differ() -> None:
    with pytest.raises(Violation) as caught:
        expect_text("the message", "abcX", "abcY")
    assert (caught.value.hint, caught.value.actual) == ("they differ at code point 3", '4 code points: "abcX"')


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ({"a": [1, {"b": True}]}, True),
        ({"a": [1.0, {"b": True}]}, True),
        ({"a": [True, {"b": True}]}, False),
        ({"a": [1, {"b": 1}]}, False),
        ({"a": [1, {"b": True}], "c": None}, False),
        ({"a": [1]}, False),
        (True, False),
    ],
)
def test_true_does_not_equal_one_at_any_depth(given: object, same: bool) -> None:
    if same:
        expect_equal("value", given, {"a": [1, {"b": True}]})
    else:
        with pytest.raises(Violation):
            expect_equal("value", given, {"a": [1, {"b": True}]})


def test_deeply_nested_values_are_compared() -> None:
    deep = [json.loads("[" * 400 + number + "]" * 400) for number in ("1", "1", "true")]
    expect_equal("value", deep[0], deep[1])
    with pytest.raises(Violation):
        expect_equal("value", deep[0], deep[2])


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"a": 1, "b": [{"c": 2}]}, True),
        ({"a": 1, "b": [{"c": 2, "more": 3}], "more": 4}, True),
        ({"a": 1, "b": [{"c": 3}]}, False),
        ({"a": True, "b": [{"c": 2}]}, False),
        ({"a": 1, "b": [{"c": 2}, {}]}, False),
        ({"a": 1}, False),
        (None, False),
    ],
)
def test_annotation_data_may_have_more_keys_but_no_other_values(given: object, kept: bool) -> None:
    assert citations.keeps(given, {"a": 1, "b": [{"c": 2}]}) is kept


def test_values_are_shown_in_one_line() -> None:
    assert show("a\x85\u2028b\n") == '"a\\u0085\\u2028b\\n"'
    assert show("a\u200b\ufeff\x00 \U000e0001\ud800") == r'"a\u200b\ufeff\u0000 \udb40\udc01\ud800"'
    assert show("größer 😀 漢\u0301") == '"größer 😀 漢\u0301"'


@pytest.mark.parametrize(
    ("expected", "actual", "names"),
    [
        ("a\x85b", "a", ", with U+0085 NEXT LINE"),
        ("a\u2028b", "a\u2029b", ", with U+2028 LINE SEPARATOR and U+2029 PARAGRAPH SEPARATOR"),
        ("a", "a\ufeff", ", with U+FEFF BYTE ORDER MARK"),
        ("a\u200b", "a", ", with U+200B ZERO WIDTH SPACE"),
        ("a\x00", "a\ud800", ", with U+0000 NULL and U+D800 HALF A SURROGATE PAIR"),
        ("a\x01\x1b\x7f\xa0", "a", ", with U+0001 CONTROL, U+001B ESCAPE, U+007F DELETE and 1 more"),
        ("a\n\tb", "a\rb", ""),
        ("a" * 100 + "\x85", "b", ""),
        ("\x85" + "a" * 100, "\x85" + "a" * 90, ""),
    ],
)
def test_a_difference_of_texts_names_the_characters_that_nobody_sees(expected: str, actual: str, names: str) -> None:
    with pytest.raises(Violation) as caught:
        expect_text("the message", actual, expected)
    assert re.sub(r"^they differ at code point \d+", "", caught.value.hint) == names


def test_a_difference_of_values_names_them_too() -> None:
    with pytest.raises(Violation, match=r'expected the id "a"; got "a\\u200d" \(with U\+200D ZERO WIDTH JOINER\)'):
        expect_equal("the id", "a\u200d", "a")


@pytest.mark.parametrize("named", [0, 1])
def test_media_whose_id_comes_once_are_one_attachment(named: int) -> None:
    pieces: list[dict[str, str]] = [{"transcript": "Hi", "data": "aG"}, {"data": "k="}]
    pieces[named]["id"] = "m"
    folded = folding.fold({"event_type": "response.media", "attachment": piece} for piece in pieces)
    assert folded.attachment("m") == ("aGk=", "Hi")


def test_a_problem_of_a_whole_value_has_no_place() -> None:
    assert shapes.sentence([((), "`model` is missing")]) == "`model` is missing"
    found = [(("usage", "total_tokens"), "must be an integer"), ((), "`model` is missing"), ((), "`usage` is missing")]
    assert shapes.sentence(found) == "/usage/total_tokens must be an integer; and 2 more"
    assert shapes.sentence(found, most=2) == "/usage/total_tokens must be an integer; `model` is missing; and 1 more"
