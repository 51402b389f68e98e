"""Think texts: each row draws those of its models, and every text is recognised as one of its row."""

from __future__ import annotations

import functools
import re

import pytest
from hypothesis import given, settings

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.formats.generators import GENERATORS
from llm_conformance.formats.recognisers import recognise
from llm_conformance.formats.think_recogniser import ways_of_a_text
from llm_conformance.generate.models import models, models_with_blank_blocks, profiles
from llm_conformance.generate.think import BLOCK, BLOCKS, CUT_OFF, TAG_CASE, VARIATIONS, ThinkText, think_texts
from llm_conformance.generate.variations import ways_of
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.contents import thinks
from llm_conformance.wire import think_tags
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from tests.draws import theme_named

QUICK = settings(max_examples=60, derandomize=True, deadline=None, database=None)
THINKING = [api for api in table().values() if thinks(api)]
THEME = theme_named("think-blocks")


def recognised(text: str, profile: ThinkProfile = "leading", *, is_cut_off: bool = False) -> dict[str, str]:
    """Return the ways that are not the usual ones."""
    found = ways_of_a_text(text, profile, "think", is_cut_off=is_cut_off, has_calls=False)
    return {variation.name: way for variation, way in found if way != variation.usual}


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("<think>\nr\n</think>\n\nA", {}),
        ("\n<think>\nr\n</think>\n\nA", {"space before a think block": "line break"}),
        ("<think>r\n</think>\n\nA", {"space behind an opening think tag": "none"}),
        ("<think>\nr\n\n</think>\n\nA", {"space before a closing think tag": "blank line"}),
        ("<think>\nr\n</think>A", {"space behind a think block": "none"}),
        ("<think>\nr\n</think> \tA", {"space behind a think block": "' \\t'"}),
        ("<think>\n\n</think>\n\nA", {"think block": "blank"}),
        ("<think></think>\n\nA", {"think block": "blank", "space in a blank think block": "none"}),
        ("<think>\nr\n</think>\n\n<think>\ns\n</think>\n\nA", {"think blocks": "several"}),
        ("<THINK>\nr\n</think>\n\nA", {"case of think tags": "mixed"}),
        ("A <think>r</think>", {"think block": "none"}),
        ("<think>\nr", {"think block": "never closed"}),
        ("", {}),
    ],
)
def test_the_ways_of_a_text_are_recognised(text: str, ways: dict[str, str]) -> None:
    assert recognised(text) == ways


def test_the_token_limit_may_cut_off_a_block() -> None:
    assert recognised("<think>\nr", is_cut_off=True) == {"think block": "cut off"}
    assert recognised("r", "prefilled", is_cut_off=True) == {"think block": "cut off"}


def test_a_model_may_repeat_the_tag_of_its_prompt() -> None:
    assert recognised("r\n</think>\n\nA", "prefilled") == {}
    assert recognised("<think>\nr\n</think>\n\nA", "prefilled") == {"opening think tag": "sent"}


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize(("api", "profile"), [(api, each) for api in THINKING for each in profiles(api)], ids=str)
def test_texts_have_only_ways_of_the_row(api: Api, profile: ThinkProfile) -> None:
    @QUICK
    @given(think_texts(profile, api.think_tag, functools.partial(ways_of, api)))
    def check(drawn: ThinkText) -> None:
        ways = ways_of_a_text(drawn.sent, profile, api.think_tag, is_cut_off=drawn.is_cut_off, has_calls=drawn.calls)
        for variation, way in ways:
            assert way in ways_of(api, variation), variation.name

    check()


REMOVED = (table()["mistral", "chat"],)
"""The APIs whose models that wrote think tags have been removed: only older recordings have answers of them."""


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", THINKING, ids=str)
@pytest.mark.parametrize("mode", ["json", "stream"])
def test_answers_are_of_models_that_think_so(api: Api, mode: Mode) -> None:
    @QUICK
    @given(THEME.scenarios(api, mode))
    def check(scenario: Scenario) -> None:
        expected = scenario.expected[mode]
        by_tag = expected.reasoning_source == "tag"
        thinking = (*models(api, scenario.think_profile), *models_with_blank_blocks(api, scenario.think_profile))
        assert scenario.model in (thinking if by_tag else api.models)
        names = {variation.name for variation in VARIATIONS}
        found = recognise(api, scenario.interactions[mode])
        assert [str(way) for way in found if way.source is None and way.variation in names] == []
        if any(str(way) == "think block: cut off" for way in found):
            assert "length" in expected.finish_reasons

    check()


@pytest.mark.parametrize("api", [api for api in table().values() if api.think and api not in REMOVED], ids=str)
def test_calls_name_a_model_for_each_profile_of_the_row(api: Api) -> None:
    """A row says which models think; without one of them in `models`, nothing of it would be generated."""
    assert set(api.think.values()) - {"off"} == set(profiles(api)) - {"off"}


def test_what_no_provider_is_known_to_send_is_not_drawn() -> None:
    for api in THINKING:
        assert "anywhere" not in profiles(api)
        assert ways_of(api, TAG_CASE) == ("lower",)
        assert ways_of(api, BLOCKS) == ("one",)


@pytest.mark.parametrize("api", table().values(), ids=str)
def test_texts_of_models_that_all_may_think_begin_with_no_block(api: Api) -> None:
    if "off" in profiles(api):
        return
    answers = theme_named("answers")

    @QUICK
    @given(answers.scenarios(api, "json"))
    def check(scenario: Scenario) -> None:
        expected = scenario.expected["json"]
        assert expected.reasoning or not expected.message.lstrip().startswith(f"<{api.think_tag}>")

    check()


@pytest.mark.parametrize("profile", ["leading", "prefilled"])
def test_every_block_is_closed_or_cut_off_or_ended_by_a_call(profile: ThinkProfile) -> None:
    @QUICK
    @given(think_texts(profile))
    def check(drawn: ThinkText) -> None:
        ends_within = bool(drawn.parts) and drawn.parts[-1].kind == "reasoning"
        assert not ends_within or drawn.is_cut_off or drawn.calls
        assert ends_within or not drawn.is_cut_off

    check()


def test_rows_that_think_have_a_word_for_the_token_limit() -> None:
    for api in THINKING:
        if CUT_OFF in ways_of(api, BLOCK):
            assert "length" in GENERATORS[api.wire].words(api).values()


@pytest.mark.parametrize(
    ("text", "profile", "expected"),
    [
        ("<think>think</think>Four.", "leading", ["think"]),
        ("a <think>a</think> b", "anywhere", ["a"]),
        ("a <think> a\n</think> b<think>b", "anywhere", ["a", "b"]),
        ("no</think><think> \n</think><think>no </think>no", "prefilled", ["no", "no"]),
        ("<think>none</think>", "off", []),
    ],
)
def test_the_spans_of_reasoning_are_between_the_tags(text: str, profile: ThinkProfile, expected: list[str]) -> None:
    spans = think_tags.reasoning_spans(text, profile)
    assert [text[start:end] for start, end in spans] == expected == think_tags.split(text, profile)[1]
    assert all(
        re.search(r"(\A|>)\s*\Z", text[:start]) and re.match(r"\s*(</think>|\Z)", text[end:]) for start, end in spans
    )
