"""Generated inputs are ones that the provider could have sent: what is drawn, and what scenarios show, are its ways."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings

from llm_conformance.formats.gemini import recogniser as gemini
from llm_conformance.formats.gemini.variations import BLOCKED
from llm_conformance.formats.generators import GENERATORS
from llm_conformance.formats.recognisers import RECOGNISERS, SHARED, recognise, variations_of
from llm_conformance.formats.responses import recogniser as responses
from llm_conformance.formats.workers_ai.recogniser import ways_of_a_stream
from llm_conformance.generate.answers import style_of
from llm_conformance.generate.block_ways import CITED_TEXTS
from llm_conformance.generate.count_ways import PART_COUNTS, missing_way
from llm_conformance.generate.counts import Counts, counts
from llm_conformance.generate.ids import example, has_form
from llm_conformance.generate.models import models, reasoning_models
from llm_conformance.generate.variations import FINISH_WORDS, MISSING_COUNTS, emptiness_of, ways_of
from llm_conformance.locations import CASSETTES
from llm_conformance.scenarios import load
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.answers import documents
from llm_conformance.wire.framings.base import DONE
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table
from tests.draws import drawn, interactions, theme_named
from tools.variations.answers import of_scenarios
from tools.variations.id_forms import forms
from tools.variations.seen import Seen, seen

pytestmark = pytest.mark.usefixtures("same_draw")

APIS = list(table().values())
ANSWERS = THEMES[0]
COUNTS = theme_named("usage")
WHOLE = [theme for theme in THEMES if theme.name in ("think-blocks", "citations", "usage", "second-turns")]


@pytest.fixture(scope="module")
def shown() -> dict[str, Seen]:
    # The keys are names, because other tests read the table again and so make other APIs.
    return {str(api): found for api, found in seen(of_scenarios(CASSETTES)).items()}


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", APIS, ids=str)
def test_scenarios_show_only_ways_of_the_row(api: Api, shown: dict[str, Seen]) -> None:
    assert shown[str(api)].unknown == {}, "python -m tools.variations --write"


@pytest.mark.weekly(but_one_in=9)
@pytest.mark.parametrize("api", APIS, ids=str)
@pytest.mark.parametrize("mode", ["json", "stream"])
def test_only_ways_of_the_row_are_drawn(api: Api, mode: Mode) -> None:
    for interaction in interactions("answers", api, mode, 30):
        assert [str(way) for way in recognise(api, interaction) if way.source is None] == []


@pytest.mark.weekly(but_one_in=9)
@pytest.mark.parametrize("api", APIS, ids=str)
def test_whole_answers_of_other_themes_have_only_ways_of_the_row(api: Api) -> None:
    found: set[tuple[str, str]] = set()
    for theme in (theme for theme in WHOLE if theme.suits(api)):
        for mode in theme.modes:
            for interaction in interactions(theme.name, api, mode, 12):
                ways = recognise(api, interaction)
                found.update((theme.name, str(way)) for way in ways if way.source is None)
    assert found == set()


@pytest.mark.parametrize("api", APIS, ids=str)
def test_rows_state_ways_that_there_are(api: Api) -> None:
    known = {variation.name: variation for variation in variations_of(api)}
    for name, ways in api.varies.items():
        assert name in known
        assert not known[name].ways or set(ways) <= set(known[name].ways)


@pytest.mark.parametrize("api", APIS, ids=str)
def test_sources_that_are_scenarios_show_the_way(api: Api, shown: dict[str, Seen]) -> None:
    for variation, ways in api.varies.items():
        for way, source in ways.items():
            scenario = re.match(r"[a-z0-9_]+/[a-z0-9.-]+(?=;|$)", source)
            if scenario and (CASSETTES / f"{scenario[0]}{load.SUFFIX}").exists():
                assert scenario[0] in shown[str(api)].ways[variation, way].scenarios
            else:
                assert source.startswith("measured: ") or "https://" in source or re.search(r"\d\.\d", source), source


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", APIS, ids=str)
def test_calls_name_models_of_the_row(api: Api) -> None:
    assert api.models

    @settings(max_examples=10, derandomize=True, deadline=None, database=None)
    @given(ANSWERS.scenarios(api, "json"))
    def check(scenario: Scenario) -> None:
        assert scenario.model in api.models
        assert scenario.expected["json"].model == (api.models[scenario.model] or scenario.model)

    check()


@pytest.mark.parametrize("api", APIS, ids=str)
def test_rows_state_models_for_all_that_they_send(api: Api) -> None:
    assert any(source.startswith("models: ") for source in api.sources), "say where the models come from"
    assert bool(api.speaking_models) == api.speaks
    assert reasoning_models(api)
    assert models(api) or str(api) in ("gemini:chat", "minimax:chat"), "add a model that does not think between tags"


def test_models_fit_the_answer() -> None:
    api = table()["fireworks", "chat"]
    reasoning = [model for model in api.models if model not in api.plain_models]
    assert list(reasoning_models(api)) == reasoning != list(api.models)
    assert "accounts/fireworks/models/deepseek-r1-0528" in models(api, "leading")
    assert "accounts/fireworks/models/deepseek-r1-0528" not in models(api)
    speaking = table()["openai", "chat"]
    assert models(speaking, speaks=True) == speaking.speaking_models
    assert not set(models(speaking)) & set(speaking.speaking_models)


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", [api for api in APIS if api.plain_models], ids=str)
def test_plain_models_do_not_reason(api: Api) -> None:
    @settings(max_examples=30, derandomize=True, deadline=None, database=None)
    @given(ANSWERS.scenarios(api, "json"))
    def check(scenario: Scenario) -> None:
        if scenario.expected["json"].reasoning is not None and scenario.think_profile == "off":
            assert scenario.model not in api.plain_models

    check()


@pytest.mark.parametrize("wire", RECOGNISERS)
def test_names_of_variations_differ(wire: str) -> None:
    names = [variation.name for variation in (*SHARED, *RECOGNISERS[wire].variations)]
    assert len(names) == len(set(names))
    for variation in RECOGNISERS[wire].variations:
        assert not variation.ways or variation.usual in variation.ways


def test_ways_of_a_row_that_says_nothing_are_the_usual_ones() -> None:
    api = table()["openai", "responses"]
    for variation in variations_of(api):
        assert ways_of(api, variation)


@pytest.mark.parametrize("api", APIS, ids=str)
def test_rows_state_forms_of_all_ids_that_they_send(api: Api) -> None:
    if api.wire != "completions":  # some servers of this format give no id, and none sends calls
        assert ("answer" in api.ids) == (GENERATORS[api.wire].has_ids or api.wire == "workers_ai")
        assert "call" in api.ids or str(api) in ("perplexity:chat", "cohere:v1", "bedrock:openai"), (
            "without forms no calls are drawn"
        )


@pytest.mark.parametrize("api", APIS, ids=str)
def test_rows_state_the_finish_words_that_are_sent(api: Api) -> None:
    stated = api.varies[FINISH_WORDS.name]
    assert set(stated) <= {*api.finish, "new"}
    assert "stop" in GENERATORS[api.wire].sent_words(api).values()


@pytest.mark.parametrize("name", [("xai", "chat"), ("xai", "responses"), ("local", "responses")], ids=":".join)
def test_a_finish_word_without_a_source_is_not_drawn(name: tuple[str, str]) -> None:
    api = table()[name]
    assert "content_filter" in api.finish, "an adapter should know the word"
    drawn: set[str | None] = set()

    @settings(max_examples=100, derandomize=True, deadline=None, database=None)
    @given(ANSWERS.scenarios(api, "json"))
    def check(scenario: Scenario) -> None:
        drawn.update(scenario.expected["json"].raw_finish_reasons)

    check()
    assert drawn & set(api.finish)
    assert "content_filter" not in drawn


def test_the_old_word_for_a_function_call_is_not_drawn_beside_tool_calls() -> None:
    api = table()["openai", "chat"]
    assert "function_call" in api.varies[FINISH_WORDS.name]
    assert "function_call" not in GENERATORS[api.wire].sent_words(api)


def test_an_api_without_forms_of_call_ids_sends_no_calls() -> None:
    @settings(max_examples=50, derandomize=True, deadline=None, database=None)
    @given(ANSWERS.scenarios(table()["perplexity", "chat"], "json"))
    def check(scenario: Scenario) -> None:
        assert scenario.expected["json"].tool_calls == ()

    check()


def test_ids_of_calls_may_have_the_name_and_the_number() -> None:
    form = "functions\\.{name}:{number}"
    api = replace(table()["openai", "chat"], ids={"call": (form,)})
    assert example(form, 1, "look.up") == "functions.look.up:1"
    assert has_form(api, "call", "functions.look.up:12", "look.up")
    assert not has_form(api, "call", "functions.add:1", "look.up")
    assert not has_form(api, "call", "functions.look_up:1", "look.up")


@pytest.mark.parametrize(
    "form", ["call_[A-Za-z0-9]{24}", "functions\\.look_up:[0-9]", "[0-9a-f]{8}-[a-f]{2,4}", "[A-Z_-]{5}"]
)
def test_examples_of_ids_have_their_form(form: str) -> None:
    assert all(re.fullmatch(form, example(form, number)) for number in range(20))
    assert example(form, 1) == example(form, 1)


def test_forms_are_inferred_from_ids() -> None:
    assert forms({"call_1aB", "call_9Zz"}) == ["call_[A-Za-z0-9]{3}"]
    assert forms({"chatcmpl-12-caab", "chatcmpl-9-0f"}) == ["chatcmpl-[0-9]{1,2}-[0-9a-f]{2,4}"]
    assert forms({"functions.{name}:0", "functions.{name}:1"}) == ["functions\\.{name}:[0-9]{1}"]
    assert forms({"REDACTED_1"}) == []


def test_missing_counts_are_recognised_as_an_object_or_alone_and_as_null() -> None:
    api = table()["openai", "chat"]
    wholes = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    assert missing_way(api, wholes) == "completion_tokens_details + prompt_tokens_details"
    assert "prompt_tokens_details is null" in missing_way(api, wholes, nulls={"prompt_tokens_details"})
    details = {"audio_tokens": None, "cached_tokens": 1}
    found = missing_way(api, {**wholes, "prompt_tokens_details": details}).split(" + ")
    assert found == [
        "completion_tokens_details",
        "prompt_tokens_details/audio_tokens is null",
        "prompt_tokens_details/cache_write_tokens",
    ]


@pytest.mark.parametrize(
    ("ways", "details"),
    [
        (["none"], {"given"}),
        (["none", "prompt_tokens_details"], {"given", "absent"}),
        (["prompt_tokens_details"], {"absent"}),
        (["prompt_tokens_details is null"], {"null"}),
        (["none", "completion_tokens_details + prompt_tokens_details"], {"given", "absent"}),
        (["none", "prompt_tokens_details is null", "prompt_tokens_details/audio_tokens"], {"given", "null"}),
    ],
)
def test_counts_are_missing_as_the_row_says(ways: list[str], details: set[str]) -> None:
    openai = table()["openai", "chat"]
    of_parts = {variation.name: {"0": "", "missing": ""} for variation in PART_COUNTS}
    api = replace(openai, varies={MISSING_COUNTS.name: dict.fromkeys(ways, ""), **of_parts})
    drawn: set[str] = set()

    @settings(max_examples=60, derandomize=True, deadline=None, database=None)
    @given(counts(api))
    def check(usage: Counts) -> None:
        drawn.add(emptiness_of(usage.raw, "prompt_tokens_details") or "given")
        assert missing_way(api, usage.raw) in ways

    check()
    assert drawn == details


def test_ids_of_another_form_are_told_apart() -> None:
    api = table()["openai", "chat"]
    assert has_form(api, "call", "call_" + "a" * 24)
    assert not has_form(api, "call", "call-0")


def test_the_text_of_arguments_is_the_rows() -> None:
    assert [style_of(text) for text in ('{"a":1}', '{"a": 1}', '{\n  "a": 1\n}', '{ "a":1 }', "{}", "")] == [
        *("compact", "spaced", "indented", "other"),
        *(None, None),
    ]


@pytest.mark.parametrize(
    ("chunk", "way"),
    [
        ({"response": "", "finish_reason": "stop"}, "finish word of a text: given"),
        ({"tool_calls": [{"name": "add", "arguments": {}}], "finish_reason": "stop"}, "flat and a finish word"),
        ({"response": "", "p": "ab"}, "padding: in the last chunk"),
        ({"response": ""}, "counts of a stream: never"),
    ],
)
def test_what_the_native_api_of_cloudflare_does_not_send_is_recognised(chunk: dict[str, object], way: str) -> None:
    found = ways_of_a_stream(table()["cloudflare", "run"], [{"response": "a"}, chunk, DONE])
    assert any(f"{variation.name}: {each}".endswith(way) for variation, each in found)


def test_a_generated_answer_that_failed_may_be_raised() -> None:
    api = table()["cohere", "chat"]

    @settings(max_examples=60, derandomize=True, deadline=None, database=None)
    @given(ANSWERS.scenarios(api, "json"))
    def check(scenario: Scenario) -> None:
        expected = scenario.expected["json"]
        assert expected.allows("ServiceUnavailableError") == ("error" in expected.finish_reasons)

    check()


@pytest.mark.parametrize(("mode", "untyped"), [("json", False), ("stream", True)])
def test_only_streams_have_calls_without_a_type(mode: Mode, untyped: bool) -> None:
    """Mistral is known to leave the type out in streams."""
    api, drawn = table()["mistral", "chat"], set[bool]()

    @settings(max_examples=200, derandomize=True, deadline=None, database=None)
    @given(ANSWERS.scenarios(api, mode))
    def check(scenario: Scenario) -> None:
        for document in documents(scenario.interactions[mode]):
            for choice in document["choices"]:
                calls = (choice.get("message") or choice.get("delta") or {}).get("tool_calls") or []
                drawn.update(not call.get("type") for call in calls)

    check()
    assert drawn == ({False, True} if untyped else {False})


@pytest.mark.parametrize(("mode", "shown"), [("json", {""}), ("stream", {"", "text"})])
def test_what_a_filter_ends_has_no_content_beside_its_finish_word(mode: Mode, shown: set[str]) -> None:
    api = table()["gemini", "generate"]
    drawn: set[str] = set()

    @settings(max_examples=200, derandomize=True, deadline=None, database=None)
    @given(COUNTS.scenarios(api, mode))
    def check(scenario: Scenario) -> None:
        if "content_filter" in scenario.expected[mode].finish_reasons:
            *_, last = documents(scenario.interactions[mode])
            assert not last["candidates"][0].get("content")
            assert "groundingMetadata" not in last["candidates"][0]
            drawn.add("text" if scenario.expected[mode].message else "")

    check()
    assert drawn == shown


def test_content_beside_the_finish_word_of_a_filter_is_recognised() -> None:
    api = table()["gemini", "generate"]
    candidate = {"content": {"role": "model", "parts": [{"text": "a"}]}, "finishReason": "SAFETY"}
    assert (BLOCKED, "parts") in gemini.ways_of_a_body(api, {"candidates": [candidate]})


def test_an_interaction_begins_with_a_status_or_without_one() -> None:
    api = table()["gemini", "interactions"]
    seen: set[tuple[bool, str]] = set()
    for interaction in interactions("answers", api, "stream", 30):
        first = next(iter(documents(interaction)))
        ways = [way.way for way in recognise(api, interaction) if way.variation == "status at the start"]
        seen.update(("status" in first["interaction"], way) for way in ways)
    assert seen == {(True, "sent"), (False, "left out")}


@pytest.mark.parametrize("mode", ["json", "stream"])
def test_citations_whose_unit_is_known_in_ascii_are_drawn_in_ascii(mode: Mode) -> None:
    cited = [
        all((annotation.text or "").isascii() for annotation in scenario.expected[mode].annotations or ())
        for scenario in drawn("citations", table()["xai", "responses"], mode)
    ]
    assert cited
    assert all(cited)


@pytest.mark.parametrize(("text", "way"), [("a", "ASCII"), ("é", "any")])
def test_a_citation_in_a_text_beyond_ascii_is_recognised(text: str, way: str) -> None:
    annotation = {"type": "url_citation", "url": "https://example.org", "start_index": 0, "end_index": 1}
    part = {"type": "output_text", "text": text, "annotations": [annotation]}
    body = {"status": "completed", "output": [{"type": "message", "content": [part]}]}
    assert (CITED_TEXTS, way) in responses.ways_of_a_body(table()["xai", "responses"], body)
    assert (CITED_TEXTS, "any") in responses.ways_of_a_body(table()["openai", "responses"], body)


@pytest.mark.parametrize("mode", ["json", "stream"])
def test_a_count_that_stands_in_two_places_is_the_same_in_both(mode: Mode) -> None:
    seen: set[tuple[str, bool, bool]] = set()
    for scenario in drawn("answers", table()["moonshot", "chat"], mode, 150):
        usage = scenario.expected[mode].usage
        text = scenario.interactions[mode].body.decode()
        if usage is not None and usage.cached_tokens is not None:
            assert f'"cached_tokens": {usage.cached_tokens}' in text
            seen.add((str(scenario.model), '"prompt_tokens_details"' in text, usage.cached_tokens > 0))
    assert seen == {("kimi-k3", True, True), ("kimi-k2.6", False, True)}


def test_items_have_ids_of_the_provider() -> None:
    for interaction in interactions("answers", table()["codex", "responses"], "stream", 20):
        *_, last = (each for each in documents(interaction) if "item" in each)
        assert re.fullmatch("(msg|rs|fc)_[0-9a-f]{50}", last["item"]["id"])
