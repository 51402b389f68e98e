"""The strategies: what they draw is valid and diverse, and shrinks."""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from llm_conformance.contract.call import CANARY_KEY, ThinkProfile
from llm_conformance.formats.gateways import GATEWAYS
from llm_conformance.formats.generators import GENERATORS
from llm_conformance.generate import texts
from llm_conformance.generate.answers import Block, Citation, Hosted, cited
from llm_conformance.generate.count_ways import Shown
from llm_conformance.generate.counts import Counts, counts
from llm_conformance.generate.think import PROFILES, ThinkText, think_texts
from llm_conformance.scenarios import build, lint, load
from llm_conformance.scenarios.save import save_generated
from llm_conformance.scenarios.scenario import Scenario, recut
from llm_conformance.themes.contents import citing, counting
from llm_conformance.themes.cuts import cut
from llm_conformance.themes.draw import EnoughDrawn
from llm_conformance.themes.theme import THEMES, Theme
from llm_conformance.wire import think_tags
from llm_conformance.wire.interaction import Mode
from llm_conformance.wire.providers.api import COUNTS, PARTS, Api
from llm_conformance.wire.providers.table import table
from tests.draws import theme_named

NOTHING = Shown()
SOUND = ("audio_prompt_tokens", "audio_completion_tokens")
"""The counts that are not zero only in answers with sound."""
T = TypeVar("T")
QUICK = settings(max_examples=200, derandomize=True, deadline=None, database=None)


def sources() -> Iterator[tuple[Theme, Api, Mode]]:
    """Yield all themes for one API of each kind of writing, and the first theme for the other APIs of that kind."""
    ways: set[object] = set()
    for api in table().values():
        details = api.round_trip.slot == "/reasoning_details"
        way = (api.wire, api.framing, api.content_parts, details, bool(api.think), api.speaks)
        for theme in THEMES[: 1 if way in ways else None]:
            if theme.suits(api):
                yield from ((theme, api, mode) for mode in theme.modes)
        ways.add(way)


SOURCES = list(sources())
BODY = 'data: {"text": "é😀\\u00e9 <think>"}\r\n\r\ndata: [DONE]\r\n\r\n'.encode()


def example(drawn: SearchStrategy[T], wanted: Callable[[T], bool]) -> T:
    """Return the first wanted example, of as many as a search draws by default."""
    return find(drawn, wanted, settings=settings(QUICK, max_examples=500, phases=[Phase.generate]))


@pytest.mark.weekly(but_one_in=9)
@pytest.mark.parametrize(("theme", "api", "mode"), SOURCES, ids=lambda it: getattr(it, "name", str(it)))
def test_generated_scenarios_pass_the_lint(theme: Theme, api: Api, mode: Mode, tmp_path: Path) -> None:
    """The lint derives the expected values from the bytes, and checks every body against its wire schema."""

    @settings(QUICK, max_examples=5)
    @given(theme.scenarios(api, mode))
    def check(scenario: Scenario) -> None:
        kept = save_generated(scenario, tmp_path)
        file = load.read(kept.path)
        assert [str(problem) for problem in lint.lint(file)] == []
        loaded = build.build(file, tmp_path)
        assert (loaded.id, loaded.cuts, loaded.think_profile) == (kept.id, kept.cuts, kept.think_profile)
        assert loaded.grounds == scenario.grounds
        for each in scenario.modes:
            assert loaded.interactions[each].body == scenario.interactions[each].body

    check()


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize("tag", ["think", "thought"])
@pytest.mark.parametrize("profile", PROFILES)
def test_think_texts_follow_the_rules(profile: ThinkProfile, tag: str) -> None:
    @QUICK
    @given(think_texts(profile, tag))
    def check(drawn: ThinkText) -> None:
        assert think_tags.split(drawn.sent, profile, tag) == (drawn.message, list(drawn.blocks))

    check()


@pytest.mark.parametrize(
    "wanted",
    [
        lambda drawn: len(drawn.blocks) > 1,
        lambda drawn: not drawn.blocks and drawn.sent != drawn.message,
        lambda drawn: drawn.blocks and not drawn.sent.lower().rstrip().endswith("</think>") and not drawn.message,
        lambda drawn: drawn.blocks and "<think>" in drawn.message,
        lambda drawn: drawn.blocks and "</thin\u212a>" in drawn.blocks[0],
        lambda drawn: drawn.sent.startswith((" ", "\n")) and drawn.blocks,
        lambda drawn: "<THINK>" in drawn.sent,
        lambda drawn: drawn.message.startswith("<thin"),
        lambda drawn: drawn.message.endswith((" ", "\n")),
    ],
)
def test_think_texts_have_what_splitters_trip_over(wanted: Callable[[ThinkText], bool]) -> None:
    assert wanted(example(think_texts("leading"), wanted))


@pytest.mark.parametrize("tag", ["think", "thought"])
def test_the_alphabets_are_disjoint(tag: str) -> None:
    near_misses, tags = texts.near_misses(tag), texts.tags(tag)
    assert not set(texts.ANSWER) & set(texts.REASONING)
    assert not {*texts.ANSWER, *texts.REASONING} & {*texts.HARD, *near_misses, *tags}
    assert all(each.strip("`") in (f"<{tag}>", f"</{tag}>") for each in tags)
    assert not any(look_alike in tags for look_alike in near_misses)


@st.composite
def cited_texts(draw: Any) -> tuple[str, tuple[Citation, ...]]:
    block = cited(draw, draw(texts.answers()))
    return block.text, block.citations


@pytest.mark.parametrize(
    "wanted",
    [
        lambda drawn: len({(each.start, each.end) for each in drawn[1]}) < len(drawn[1]),
        lambda drawn: any("😀" in drawn[0][: each.start] for each in drawn[1]),
        lambda drawn: any(each.end == len(drawn[0]) for each in drawn[1]),
        lambda drawn: len(drawn[1]) > 1 and drawn[1][0].start < drawn[1][1].start < drawn[1][0].end < drawn[1][1].end,
    ],
)
def test_citations_are_in_all_positions(wanted: Callable[[tuple[str, tuple[Citation, ...]]], bool]) -> None:
    assert wanted(example(cited_texts(), wanted))


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize("api", table().values(), ids=str)
@pytest.mark.parametrize("shown", [Shown(), Shown(reasoning=True)], ids=["nothing", "reasoning"])
def test_counts_follow_the_algebra(api: Api, shown: Shown) -> None:
    @settings(QUICK, max_examples=40)
    @given(counts(api, shown))
    def check(drawn: Counts) -> None:
        normalised = api.normalise(drawn.raw)
        assert (normalised is None) == (drawn.usage is None)
        if normalised is None or drawn.usage is None:
            return
        for count in SOUND:
            assert not getattr(drawn.usage, count), "an answer without sound"
        for count in COUNTS:
            assert getattr(normalised, count) == getattr(drawn.usage, count), count
        for part, whole in PARTS.items():
            least, most = getattr(drawn.usage, part), getattr(drawn.usage, whole)
            assert least is None or least <= most

    check()


def test_counts_of_zero_are_left_out_where_the_provider_does_that() -> None:
    api = table()["gemini", "generate"]

    @QUICK
    @given(counts(api))
    def check(drawn: Counts) -> None:
        assert 0 not in drawn.fields.values()

    check()


def test_counts_are_sometimes_zero_and_sometimes_missing() -> None:
    api = table()["openai", "chat"]
    assert example(counts(api), lambda drawn: drawn.fields.get("prompt_tokens_details/audio_tokens") == 0)
    assert example(counts(api), lambda drawn: "prompt_tokens_details/cached_tokens" not in drawn.fields)


def drawn_counts(name: str, count: str, shown: Shown = NOTHING) -> set[int | None]:
    """Return the values that a canonical count is drawn with."""
    drawn: set[int | None] = set()

    @settings(QUICK, max_examples=100)
    @given(counts(table()[(*name.split(":"),)], shown))  # type: ignore[index]
    def draw(each: Counts) -> None:
        drawn.add(None if each.usage is None else getattr(each.usage, count))

    draw()
    return drawn


@pytest.mark.parametrize(
    "name", ["openai:responses", "openai:chat", "gemini:generate", "azure:chat", "codex:responses"]
)
def test_some_providers_count_reasoning_that_they_hide(name: str) -> None:
    assert any(drawn_counts(name, "reasoning_tokens"))


@pytest.mark.parametrize("name", ["deepseek:chat", "zai:chat", "avian:chat", "openrouter:chat"])
def test_other_providers_never_count_reasoning_that_an_answer_does_not_show(name: str) -> None:
    assert drawn_counts(name, "reasoning_tokens") <= {0, None}
    assert any(drawn_counts(name, "reasoning_tokens", Shown(reasoning=True)))


@pytest.mark.parametrize("name", ["deepseek:chat", "zai:chat", "avian:chat", "gemini:interactions", "xai:chat"])
def test_reasoning_that_is_shown_is_counted(name: str) -> None:
    assert all(drawn_counts(name, "reasoning_tokens", Shown(reasoning=True)))


def test_reasoning_beyond_the_completion_has_no_canonical_count() -> None:
    api = table()["perplexity", "chat"]
    beyond = example(counts(api), lambda drawn: "reasoning_tokens" in drawn.fields)
    assert beyond.fields["reasoning_tokens"] > beyond.fields["completion_tokens"]
    assert drawn_counts("perplexity:chat", "reasoning_tokens") == {None}


def test_the_prompt_does_not_grow_in_a_stream() -> None:
    api = table()["gemini", "chat"]
    assert "-prompt_tokens" in api.usage["completion_tokens"], "the completion is what the total has besides"

    @settings(QUICK, max_examples=60)
    @given(counts(api))
    def check(drawn: Counts) -> None:
        assert "prompt_tokens" not in drawn.growing
        assert drawn.usage is None or drawn.usage.completion_tokens

    check()


def test_sound_is_counted_only_in_answers_that_have_some() -> None:
    """`test_counts_follow_the_algebra` checks all APIs, with fewer draws; most have none of these counts."""
    counting = [(str(api), count) for api in table().values() for count in SOUND if count in api.usage]
    assert counting
    for api, count in counting:
        assert drawn_counts(api, count) <= {0, None}
    spoken = drawn_counts("openai:chat", "audio_completion_tokens", Shown(sound=True))
    assert any(spoken)
    assert 0 not in spoken


cuts = st.composite(cut)


@QUICK
@given(cuts(BODY))
def test_cuts_are_between_bytes(drawn: tuple[int, ...]) -> None:
    assert list(drawn) == sorted(set(drawn))
    assert all(0 < at < len(BODY) for at in drawn)


def test_cuts_are_in_the_worst_places() -> None:
    inside_a_character = BODY.index("é".encode()) + 1
    inside_a_line_end = BODY.index(b"\r\n") + 1
    for place in (inside_a_character, inside_a_line_end):
        assert place in example(cuts(BODY), lambda drawn, place=place: place in drawn)  # type: ignore[misc]
    assert len(example(cuts(BODY), lambda drawn: len(drawn) == len(BODY) - 1)) == len(BODY) - 1


def test_pieces_join_to_the_stream() -> None:
    api = table()["openai", "chat"]
    drawn = example(THEMES[0].scenarios(api, "stream"), lambda scenario: scenario.cuts is not None)
    interaction = drawn.interactions["stream"]
    for scenario in (drawn, recut(drawn, ()), recut(drawn, range(1, len(interaction.body)))):
        assert b"".join(scenario.pieces(interaction)) == interaction.body
        assert all(scenario.pieces(interaction))


def test_the_simplest_scenario_is_simple() -> None:
    scenario = find(THEMES[0].scenarios(table()["anthropic", "messages"], "json"), lambda _: True, settings=QUICK)
    assert len(scenario.expected["json"].message) <= 1  # Anthropic sends no empty texts
    assert len(scenario.interactions["json"].body) < 500


def has_a_frame_that_is_cut_short(body: bytes) -> bool:
    frames = re.findall(rb"(?m)^data: ?(\{.*)$", body)
    return any(not frame.rstrip(b"\r").endswith(b"}") for frame in frames)


def ends_in_a_string(body: bytes) -> bool:
    return body.startswith(b"{") and re.sub(rb"\\.", b"", body).count(b'"') % 2 == 1


def ends_in_a_character(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


CHAT, MESSAGES, RUN = ("openai", "chat"), ("anthropic", "messages"), ("cloudflare", "run")
PROMISED: list[tuple[str, tuple[str, str], Mode, Callable[[bytes, Scenario], bool]]] = [
    ("broken-streams", CHAT, "stream", lambda body, _: b'"tool_calls": [' in body),
    ("broken-streams", MESSAGES, "stream", lambda body, _: b"tool_use" in body and b'"error"' not in body),
    ("broken-streams", RUN, "stream", lambda body, _: b'"arguments"' in body),
    ("answers", RUN, "json", lambda body, _: b'"function":' in body and b'"finish_reason": "tool_calls"' in body),
    ("answers", RUN, "stream", lambda body, _: b'"id": null, "type": null' in body and b'"p":' in body),
    ("answers", RUN, "stream", lambda body, _: b'data: {"tool_calls": [{"name":' in body),
    ("broken-streams", CHAT, "stream", lambda body, _: body.endswith(b"}")),
    ("broken-streams", CHAT, "stream", lambda body, _: not body.endswith((b"\n", b"}"))),
    ("broken-streams", CHAT, "stream", lambda body, _: ends_in_a_character(body)),
    ("broken-streams", CHAT, "stream", lambda body, _: b'"insufficient_quota"' in body),
    ("broken-streams", ("openrouter", "chat"), "stream", lambda body, _: b"[DONE]" in body and b'"error":' in body),
    ("broken-streams", ("gemini", "generate"), "stream", lambda body, _: b'\r\n\r\n{\n  "error"' in body),
    ("broken-streams", ("gemini", "array"), "stream", lambda body, _: b'"error"' in body and body.endswith(b"]")),
    ("broken-streams", ("bedrock", "invoke"), "stream", lambda body, _: b"modelTimeoutException" in body),
    ("broken-streams", ("bedrock", "converse"), "stream", lambda body, _: b":error-code" in body),
    ("malformed", CHAT, "json", lambda body, _: body.startswith(b'{"id"') and not body.endswith(b"}")),
    ("malformed", CHAT, "json", lambda body, _: body.startswith(b"{") and body.endswith(b"}")),
    ("malformed", CHAT, "json", lambda body, _: ends_in_a_string(body)),
    ("malformed", CHAT, "json", lambda body, _: ends_in_a_character(body)),
    ("malformed", CHAT, "json", lambda body, _: body == b""),
    ("malformed", CHAT, "json", lambda body, _: body.startswith(b"<!DOCTYPE html>")),
    ("malformed", CHAT, "stream", lambda body, _: body == b""),
    ("malformed", CHAT, "stream", lambda body, _: body.startswith(b"<!DOCTYPE html>")),
    ("mistyped", CHAT, "json", lambda body, _: b'"choices": 7' in body),
    ("mistyped", CHAT, "json", lambda body, _: body == b"{}"),
    ("mistyped", MESSAGES, "json", lambda body, _: b'"content": 7' in body),
    ("mistyped", CHAT, "stream", lambda body, _: b'"delta": 7' in body and b"[DONE]" in body),
    ("mistyped", CHAT, "stream", lambda body, _: has_a_frame_that_is_cut_short(body) and b"[DONE]" in body),
    ("statuses", CHAT, "json", lambda body, _: b"nginx" in body),
    ("statuses", CHAT, "json", lambda body, _: b"insufficient_quota" in body),
    ("statuses", ("openrouter", "chat"), "json", lambda _, scenario: scenario.interactions["json"].status == 200),
    ("statuses", CHAT, "json", lambda _, scenario: "retry-after" in scenario.interactions["json"].headers),
    ("statuses", CHAT, "json", lambda body, _: f"***{CANARY_KEY[-4:]}".encode() in body),
    ("disconnected", CHAT, "json", lambda body, scenario: 0 < scenario.fault.after < len(body)),  # type: ignore[union-attr]
    ("think-blocks", ("local", "chat"), "json", lambda body, _: b'"reasoning":' in body and b"</think>" in body),
    ("think-blocks", ("local", "chat"), "json", lambda body, _: b'"reasoning_content":' in body and b"<think>" in body),
]


@settings(QUICK, max_examples=50)
@given(counts(table()["deepseek", "chat"]))
def test_counts_are_repeated_where_the_provider_does(drawn: Counts) -> None:
    raw = drawn.raw
    assert raw["prompt_tokens_details"]["cached_tokens"] == raw["prompt_cache_hit_tokens"]
    assert raw["prompt_cache_miss_tokens"] == raw["prompt_tokens"] - raw["prompt_cache_hit_tokens"]


@pytest.mark.parametrize("name", ["answers", "broken-streams", "mistyped"])
def test_audio_is_asked_for_also_where_it_breaks_off(name: str) -> None:
    theme = theme_named(name)
    drawn = theme.scenarios(table()[CHAT], "stream")
    scenario = example(drawn, lambda each: b'"audio": {"data"' in each.interactions["stream"].body)
    assert scenario.params["stream"]["modalities"] == ["text", "audio"]
    assert scenario.interactions["stream"].request["modalities"] == ["text", "audio"]


@pytest.mark.parametrize(
    ("kind", "source"),
    [("char_location", "text"), ("page_location", "base64"), ("content_block_location", "content")],
)
def test_documents_that_are_cited_are_in_the_request(kind: str, source: str) -> None:
    theme = theme_named("citations")
    drawn = theme.scenarios(table()[MESSAGES], "json")
    scenario = example(drawn, lambda each: any(one.data["type"] == kind for one in each.expected["json"].annotations))
    place = next(one.data for one in scenario.expected["json"].annotations if one.data["type"] == kind)
    document = scenario.messages[0]["content"][place["document_index"]]
    assert document["source"]["type"] == source
    assert document in scenario.interactions["json"].request["messages"][0]["content"]


def test_a_page_that_was_fetched_has_the_citations_that_its_request_enables() -> None:
    drawn = THEMES[0].scenarios(table()[MESSAGES], "json")
    scenario = example(drawn, lambda each: b'"retrieved_at"' in each.interactions["json"].body)
    (tool,) = (each for each in scenario.params["json"]["tools"] if each["name"] == "web_fetch")
    content = json.loads(scenario.interactions["json"].body)["content"]
    results = [each["content"] for each in content if each["type"] == "web_fetch_tool_result"]
    found = [each["content"] for each in results if each["type"] == "web_fetch_result"]
    assert found
    assert all(document["citations"] == tool["citations"] for document in found)


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize(("name", "api", "mode", "wanted"), PROMISED)
def test_themes_draw_what_they_promise(
    name: str, api: tuple[str, str], mode: Mode, wanted: Callable[[bytes, Scenario], bool]
) -> None:
    assert found_by(name, api, mode)[wanted] >= least_of(name)


def least_of(theme: str) -> int:
    """Return how often a theme has to draw what it promises. There are few errors, and each is drawn about once."""
    return 1 if theme == "statuses" else 3


@functools.cache
def found_by(name: str, api: tuple[str, str], mode: Mode) -> Counter[Callable[[bytes, Scenario], bool]]:
    """Count how often a theme draws for an API what it promises there, in 300 scenarios at most, until it is enough."""
    theme = theme_named(name)
    promised = [wanted for *source, wanted in PROMISED if source == [name, api, mode]]
    found: Counter[Callable[[bytes, Scenario], bool]] = Counter()

    @settings(QUICK, max_examples=300, phases=[Phase.generate])
    @given(theme.scenarios(table()[api], mode))
    def count(scenario: Scenario) -> None:
        found.update(wanted for wanted in promised if wanted(scenario.interactions[mode].body, scenario))
        if all(found[wanted] >= least_of(name) for wanted in promised):
            raise EnoughDrawn

    with contextlib.suppress(EnoughDrawn):
        count()
    return found


def test_every_status_is_tried() -> None:
    (theme,) = (each for each in THEMES if each.listed(table()[CHAT], "json"))
    api = table()[CHAT]
    statuses = {scenario.interactions["json"].status for scenario in theme.all_listed(api, "json")}
    assert statuses == {error.status for error in api.statuses} | {gateway.status for gateway in GATEWAYS}


def blocks(draw: st.DrawFn, api: Api, _mode: Mode) -> object:
    return GENERATORS[api.wire].blocks(draw, api)


@pytest.mark.parametrize("drawn", [counting, citing, blocks])
def test_a_strategy_for_an_api_is_made_once(drawn: Callable[[Any, Api, Mode], object]) -> None:
    api = table()["anthropic", "messages"]
    first: list[SearchStrategy[Any]] = []

    @given(st.data())
    @settings(max_examples=5, phases=[Phase.generate], database=None, derandomize=True)
    def draws(data: st.DataObject) -> None:
        strategies: list[SearchStrategy[Any]] = []

        def draw(strategy: SearchStrategy[Any]) -> Any:
            strategies.append(strategy)
            if len(strategies) == 1:
                first.append(strategy)
            return data.draw(strategy)

        drawn(draw, api, "json")

    draws()
    assert len(first) > 1
    assert all(strategy is first[0] for strategy in first)
    assert counts(api) is counts(api)


@pytest.mark.parametrize("name", [("openai", "responses"), ("anthropic", "messages")])
def test_no_two_hosted_calls_of_an_answer_have_one_id(name: tuple[str, str]) -> None:
    api, numbers = table()[name], []

    @settings(QUICK, max_examples=1000, phases=[Phase.generate])
    @given(st.composite(lambda draw: GENERATORS[api.wire].blocks(draw, api))())
    def check(drawn: tuple[Block, ...]) -> None:
        ids = [block.id for block in drawn if isinstance(block, Hosted)]
        numbers.append(len(ids))
        assert len(set(ids)) == len(ids)

    check()
    assert max(numbers) > 1
