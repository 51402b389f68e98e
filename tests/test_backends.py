"""Several servers behind one API: a generated answer is one of one backend, and never mixes the ways of two."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from llm_conformance.adapter.exclusions import excluded_way
from llm_conformance.formats.recognisers import BACKEND, recognise
from llm_conformance.formats.unusual import valid_because
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.draw import EnoughDrawn, draw
from llm_conformance.themes.theme import THEMES, Theme
from llm_conformance.wire.interaction import Interaction, Mode
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.backend import Backend
from llm_conformance.wire.providers.narrowing import backends
from llm_conformance.wire.providers.table import table
from tests.draws import drawn, interactions, theme_named

pytestmark = pytest.mark.usefixtures("same_draw")

LOCAL = table()["local", "chat"]
SEVERAL = [api for api in table().values() if api.backends]
ANSWERS = theme_named("answers")
THINKING = theme_named("think-blocks")


def backend_of(api: Api, interaction: Interaction) -> str | None:
    return next((way.way for way in recognise(api, interaction) if way.variation == BACKEND), None)


def with_field(interaction: Interaction, **fields: object) -> Interaction:
    body = json.loads(interaction.body)
    body["choices"][0]["message"] |= fields
    return replace(interaction, body=json.dumps(body).encode())


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", SEVERAL, ids=str)
@pytest.mark.parametrize("mode", ["json", "stream"])
def test_what_is_drawn_is_one_of_one_backend(api: Api, mode: Mode) -> None:
    for scenario in drawn("answers", api, mode):
        assert backend_of(api, scenario.interactions[mode]) in api.backends
        assert scenario.api is api


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize("api", SEVERAL, ids=str)
def test_all_backends_with_models_are_drawn(api: Api) -> None:
    kinds = (ANSWERS, THINKING) if THINKING.suits(api) else (ANSWERS,)
    wanted = {name for name, narrowed in backends(api).items() if narrowed.models}
    found: set[str | None] = set()
    for theme, mode in [(kind, mode) for kind in kinds for mode in kind.modes]:
        numbers = itertools.count(1)

        def is_enough(scenario: Scenario, mode: Mode = mode, numbers: Iterator[int] = numbers) -> bool:
            found.add(backend_of(api, scenario.interactions[mode]))
            if next(numbers) >= 10 and found >= wanted:
                raise EnoughDrawn
            return False

        draw(theme.scenarios(api, mode), is_enough, 60, seed=1)
    assert found == wanted


def test_a_model_that_only_thinks_between_tags_answers_in_no_other_way() -> None:
    """Together's DeepSeek-R1 at Hugging Face is such a model: all of its answers need tags."""
    api = table()["huggingface", "chat"]
    asked = {each.request["model"] for mode in ANSWERS.modes for each in interactions("answers", api, mode)}
    thinks = {each.request["model"] for mode in THINKING.modes for each in interactions("think-blocks", api, mode)}
    assert "deepseek-ai/DeepSeek-R1" in thinks - asked


@pytest.mark.parametrize("api", SEVERAL, ids=str)
@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_theme_that_suits_an_api_suits_a_backend(api: Api, theme: Theme) -> None:
    drawable = [narrowed for narrowed in backends(api).values() if narrowed.models]
    assert theme.suits(api) == any(map(theme.suits, drawable))


def test_without_backends_the_row_would_be_mixed() -> None:
    bare = replace(LOCAL, backends={})
    found = [backend_of(LOCAL, interaction) for interaction in interactions("answers", bare, "json")]
    assert any(name is not None and name.startswith("none, ") for name in found)


def test_an_answer_that_mixes_two_servers_is_recognised() -> None:
    own = next(each for each in interactions("answers", LOCAL, "json") if backend_of(LOCAL, each) == "llama.cpp")
    (mixed,) = (
        way
        for way in recognise(LOCAL, with_field(own, reasoning="a", reasoning_content="a"))
        if way.variation == BACKEND
    )
    assert mixed.source is None
    assert mixed.way == "none, llama.cpp does not have reasoning fields: reasoning, reasoning_content"


def test_a_model_of_another_server_is_recognised() -> None:
    own = next(each for each in interactions("answers", LOCAL, "json") if backend_of(LOCAL, each) == "llama.cpp")
    assert backend_of(LOCAL, replace(own, request={**own.request, "model": "gemma3:1b"})) == "llama.cpp"
    of_another = backend_of(LOCAL, replace(own, request={**own.request, "model": "mistral:7b"}))
    assert of_another == "none, llama.cpp does not have model: mistral:7b"


def test_errors_are_those_of_the_server_that_answers() -> None:
    assert backends(LOCAL)["Ollama"].stream_errors == ()
    assert backends(LOCAL)["llama.cpp"].stream_errors == LOCAL.stream_errors
    bodies = [each.body for each in interactions("broken-streams", LOCAL, "stream", 150)]
    failed = [body for body in bodies if b'"type": "server_error"' in body]
    assert failed
    assert all(b"fp_ollama" not in body and b'"logprobs"' not in body for body in failed)


def test_failures_name_the_backend_and_what_is_unusual_for_it() -> None:
    texts = {valid_because(LOCAL, each) for mode in ANSWERS.modes for each in interactions("answers", LOCAL, mode)}
    for name, narrowed in backends(LOCAL).items():
        of_it = [text for text in texts if text and text.startswith(f"backend: {name} ({LOCAL.backends[name].source})")]
        assert of_it
        for way in (way for ways in narrowed.varies.values() if len(ways) == 1 for way in ways):
            assert not any(f"; {way} (" in text for text in of_it)


def test_a_backend_can_be_excluded() -> None:
    for each in drawn("answers", LOCAL, "json"):
        is_it = backend_of(LOCAL, each.interactions["json"]) == "LM Studio"
        assert (excluded_way({"backend: LM Studio": "no"}, each, "json") is not None) == is_it


def test_a_backend_narrows_the_columns_of_its_row() -> None:
    api = table()["openai", "chat"]
    way, other = list(api.varies["counts of a stream"])[:2]
    models = list(api.models)
    narrow = Backend(
        "a source",
        models=(models[0],),
        ids={"call": api.ids["call"][:1]},
        varies={"counts of a stream": (other,)},
        further={".": {"service_tier": "x"}, "usage": {"a": 1}},
    )
    several = replace(api, backends={"a": narrow, "b": Backend("a source")})
    a, b = backends(several)["a"], backends(several)["b"]
    assert list(a.models) == [models[0]]
    assert set(a.plain_models) | set(a.speaking_models) <= set(a.models)
    assert a.varies["counts of a stream"] == {other: api.varies["counts of a stream"][other]}
    assert way not in a.varies["counts of a stream"]
    assert a.varies["end marker"] == api.varies["end marker"]
    assert a.ids == {**api.ids, "call": api.ids["call"][:1]}
    assert a.further["usage"] == {"a": 1}
    assert a.further["."]["service_tier"] == "x"
    assert (b.models, b.varies, b.ids) == (api.models, api.varies, api.ids)
    assert a.backends == b.backends == {}
    assert backends(api) == {}


def test_all_citations_of_an_answer_of_cohere_are_of_one_kind() -> None:
    kinds = set()
    for interaction in interactions("citations", table()["cohere", "chat"], "json", 100):
        citations = json.loads(interaction.body)["message"].get("citations", ())
        of_one = {(each.get("type"), source["type"]) for each in citations for source in each["sources"]}
        assert len(of_one) <= 1
        kinds |= of_one
    assert kinds == {("TEXT_CONTENT", "document"), ("TEXT_CONTENT", "tool")}


def test_what_a_model_counts_and_thinks_is_its_own() -> None:
    for interaction in interactions("answers", table()["cohere", "chat"], "json", 100):
        message = json.loads(interaction.body)["message"]
        thinks = any(block["type"] == "thinking" for block in message.get("content", ()))
        assert not (thinks and interaction.request["model"] == "command-a-03-2025")
        assert not ("tool_plan" in message and interaction.request["model"] != "command-a-03-2025")


def test_a_backend_without_reasoning_models_does_not_reason() -> None:
    openai = backends(table()["copilot", "chat"])["OpenAI"]
    assert openai.reasoning_fields == ()
    assert backends(table()["copilot", "chat"])["Claude"].reasoning_fields == ("reasoning_text",)


def test_answers_of_snowflake_have_neither_id_nor_finish_word() -> None:
    for each in drawn("usage", table()["snowflake", "chat"], "json", 20):
        body = json.loads(each.interactions["json"].body)
        assert (body["id"], body["choices"][0]["finish_reason"]) == ("", "")
        expected = each.expected["json"]
        assert (expected.ids, expected.finish_reasons, expected.raw_finish_reasons) == ((None,), (None,), (None,))


@pytest.mark.parametrize("key", [("local", "responses"), ("copilot", "responses"), ("openai", "responses")])
def test_a_stream_of_responses_begins_with_the_fields_of_its_end(key: tuple[str, str]) -> None:
    """No recording of vLLM or Copilot has `error`, neither where the answer begins nor where it ends."""
    for interaction in interactions("answers", table()[key], "stream", 20):
        data = (line.removeprefix(b"data: ") for line in interaction.body.splitlines() if line.startswith(b"data: {"))
        responses = [event["response"] for event in map(json.loads, data) if "response" in event]
        assert {"error" in each for each in responses} == {key == ("openai", "responses")}


def test_only_deep_research_counts_reasoning_beyond_the_completion() -> None:
    api = table()["perplexity", "chat"]
    for theme in ("answers", "think-blocks"):
        for each in interactions(theme, api, "json"):
            counts = json.loads(each.body).get("usage", {})
            assert ("reasoning_tokens" in counts) == (each.request["model"] == "sonar-deep-research")


@pytest.mark.parametrize("mode", ["json", "stream"])
def test_ollama_sends_think_tags_only_where_its_server_does_not_parse_them(mode: Mode) -> None:
    """Since 0.12.5 it parses them unless the request says `think: false`; since 0.12.10 calls have ids."""
    seen = set()
    for theme in ("answers", "think-blocks", "second-turns"):
        for scenario in drawn(theme, table()["ollama", "chat"], mode):
            body = scenario.interactions[mode].body
            request = scenario.interactions[mode].request
            if b'"thinking"' in body:
                assert request["think"] is True
            if scenario.think_profile == "prefilled":
                assert request["think"] is False
            elif scenario.think_profile == "leading":
                assert "think" not in request
                assert not scenario.expected[mode].tool_calls
            seen.add((scenario.think_profile, bool(scenario.expected[mode].tool_calls)))
    assert {("prefilled", False), ("leading", False), ("off", True)} <= seen


@pytest.mark.parametrize("api", ["chat", "generate"])
def test_ollama_escapes_what_go_escapes(api: str) -> None:
    """Python's `str.splitlines`, which clients split lines with, ends one at U+2028. Go never sends that as it is."""
    scenarios = drawn("answers", table()["ollama", api], "stream", 100)
    bodies = [each.body for scenario in scenarios for each in scenario.interactions.values()]
    assert any(b"\\u003c" in body for body in bodies)
    assert not any(raw.encode() in body for body in bodies for raw in "<>&\u2028\u2029")


def test_ollama_escapes_what_go_escapes_behind_openais_api_too() -> None:
    escaped = raw = 0
    for each in (each for mode in ANSWERS.modes for each in interactions("answers", LOCAL, mode, 200)):
        text = each.body.decode("utf-8")
        has_raw = any(character in text for character in "<>&\u2028\u2029")
        if backend_of(LOCAL, each) == "Ollama":
            assert not has_raw
            escaped += "\\u003c" in text or "\\u2028" in text
        else:
            raw += has_raw
    assert escaped
    assert raw
