"""The think splitter of the reference adapters: text and profile decide the result, not how the text is cut."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters._think import ThinkSplitter
from llm_conformance.contract.call import ThinkProfile

PROFILES: tuple[ThinkProfile, ...] = ("off", "leading", "prefilled", "anywhere")
KELVIN_OPEN, KELVIN_CLOSE = "<thin\u212a>", "</thin\u212a>"

TAGS = ["<think>", "</think>", "<THINK>", "</Think>"]
# Concatenating any of these never makes a tag.
HARD = ["<", "/", "`", "```", "\n", " ", "\r\n", "😀", "👩‍🚀", "\u0301", "<thi", "</thin", "</thing>", KELVIN_OPEN]
REASONING_LETTERS = ["r", "ρ", "İ", "é"]
MESSAGE_LETTERS = ["A", "日", "Ω", "🦊"]

texts = st.lists(st.sampled_from([*TAGS, *HARD, ">", "k", "think", "a", "İ"]), max_size=25).map("".join)
cuts = st.sets(st.integers(1, 120), max_size=12)
reasonings = st.lists(st.sampled_from([*REASONING_LETTERS, *HARD]), max_size=12).map("".join)


def messages(hard: list[str]) -> st.SearchStrategy[str]:
    """Return messages that begin with a letter."""
    rest = st.lists(st.sampled_from([*MESSAGE_LETTERS, *hard]), max_size=12).map("".join)
    return st.builds(str.__add__, st.sampled_from(MESSAGE_LETTERS), rest)


quick = settings(max_examples=150, deadline=None)
in_every_profile = pytest.mark.parametrize("profile", PROFILES)


class Split(NamedTuple):
    """The visible text, and the reasoning of each block that is not empty, by the number of the block."""

    text: str
    blocks: dict[int, str]

    @property
    def reasoning(self) -> str:
        return "".join(self.blocks.values())


def split(splitter: ThinkSplitter, pieces: Iterable[str]) -> Split:
    """Feed the pieces, and return the result."""
    text = ""
    blocks: dict[int, str] = {}
    for part in (*map(splitter.feed, pieces), splitter.end()):
        for kind, piece in part:
            if kind == "text":
                text += piece
            else:
                blocks[splitter.block] = blocks.get(splitter.block, "") + piece
    return Split(text, blocks)


def pieces(text: str, at: Iterable[int]) -> list[str]:
    """Cut `text` at those of the offsets that are inside it."""
    bounds = [0, *sorted(offset for offset in set(at) if offset < len(text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(bounds)]


def split_whole(text: str, profile: ThinkProfile) -> Split:
    """Split `text` in one piece."""
    return split(ThinkSplitter(profile), [text])


@in_every_profile
@quick
@given(text=texts, at=cuts)
def test_a_cut_anywhere_changes_nothing(profile: ThinkProfile, text: str, at: set[int]) -> None:
    assert split(ThinkSplitter(profile), pieces(text, at)) == split_whole(text, profile)


@in_every_profile
@quick
@given(text=texts)
def test_one_character_at_a_time_is_the_same_as_all_at_once(profile: ThinkProfile, text: str) -> None:
    assert split(ThinkSplitter(profile), text) == split_whole(text, profile)


@pytest.mark.parametrize("profile", ["leading", "anywhere"])
@pytest.mark.parametrize("at", range(1, len(" <think>r</think>\n\nA")))
def test_a_cut_inside_a_tag_changes_nothing(profile: ThinkProfile, at: int) -> None:
    assert split(ThinkSplitter(profile), pieces(" <think>r</think>\n\nA", {at})) == Split("A", {1: "r"})


@in_every_profile
def test_an_empty_piece_changes_nothing(profile: ThinkProfile) -> None:
    text = "<think>r</think> A"
    assert split(ThinkSplitter(profile), ["", text[:3], "", text[3:], ""]) == split_whole(text, profile)


@quick
@given(reasoning=reasonings, message=messages([*HARD, *TAGS]), at=cuts)
def test_a_leading_block_is_removed_and_the_message_is_left_alone(reasoning: str, message: str, at: set[int]) -> None:
    got = split(ThinkSplitter("leading"), pieces(f"<think>{reasoning}</think>\n\n{message}", at))
    assert got.text == message
    assert got.reasoning == reasoning.strip()


@quick
@given(reasoning=reasonings, message=messages([*HARD, *TAGS]), opened=st.booleans(), at=cuts)
def test_a_prefilled_block_needs_no_opening_tag(reasoning: str, message: str, opened: bool, at: set[int]) -> None:
    text = ("<think>" if opened else "") + f"{reasoning}</think>\n\n{message}"
    got = split(ThinkSplitter("prefilled"), pieces(text, at))
    assert got.text == message
    assert got.reasoning == reasoning.strip()


@quick
@given(turns=st.lists(st.tuples(messages(HARD), reasonings), max_size=4), last=messages(HARD), at=cuts)
def test_blocks_anywhere_are_removed_and_the_text_around_them_joins(
    turns: list[tuple[str, str]], last: str, at: set[int]
) -> None:
    text = "".join(f"{message}<think>{reasoning}</think>\n" for message, reasoning in turns) + last
    got = split(ThinkSplitter("anywhere"), pieces(text, at))
    assert got.text == "".join(message for message, _ in turns) + last
    trimmed = {number: reasoning.strip() for number, (_, reasoning) in enumerate(turns, 1)}
    assert got.blocks == {number: reasoning for number, reasoning in trimmed.items() if reasoning}


@quick
@given(text=texts, at=cuts)
def test_no_tag_is_parsed_when_off(text: str, at: set[int]) -> None:
    assert split(ThinkSplitter("off"), pieces(text, at)) == Split(text, {})


@quick
@given(space=st.sampled_from(["", " ", "\n\n"]), message=messages([*HARD, *TAGS]), at=cuts)
def test_text_that_begins_without_a_tag_stays_as_it_is(space: str, message: str, at: set[int]) -> None:
    assert split(ThinkSplitter("leading"), pieces(space + message, at)) == Split(space + message, {})


@pytest.mark.parametrize("profile", ["leading", "prefilled", "anywhere"])
@quick
@given(reasoning=reasonings, ending=st.sampled_from(["", "<", "</", "</think", "</THIN"]), at=cuts)
def test_a_block_that_is_never_closed_is_all_reasoning(
    profile: ThinkProfile, reasoning: str, ending: str, at: set[int]
) -> None:
    got = split(ThinkSplitter(profile), pieces(f"<think>{reasoning}{ending}", at))
    assert got.text == ""
    assert got.reasoning == (reasoning + ending).strip()


@pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "one character at a time"])
@pytest.mark.parametrize(
    ("profile", "text", "message", "blocks"),
    [
        pytest.param("leading", "<THINK>r</tHiNk>A", "A", {1: "r"}, id="any case"),
        pytest.param("leading", " \n<think>r</think>A", "A", {1: "r"}, id="white space before the tag"),
        pytest.param("leading", "A<think>r</think>B", "A<think>r</think>B", {}, id="text before the tag"),
        pytest.param("leading", "<think >r</think>A", "<think >r</think>A", {}, id="a space in the tag"),
        pytest.param("leading", "<think x=1>r</think>A", "<think x=1>r</think>A", {}, id="an attribute"),
        pytest.param("leading", "<thinking>r</thinking>A", "<thinking>r</thinking>A", {}, id="another tag"),
        pytest.param("leading", "<think>\n\n</think>\n\nA", "A", {}, id="a blank block"),
        pytest.param("leading", "<think></think>A", "A", {}, id="an empty block"),
        pytest.param("leading", "<think>r</think>\n", "", {1: "r"}, id="no message"),
        pytest.param("leading", "<think>r</think>A \n", "A \n", {1: "r"}, id="white space at the end"),
        pytest.param("leading", "<think>r</think>\n<think>s</think>A", "A", {1: "r", 2: "s"}, id="adjacent blocks"),
        pytest.param(
            "leading", "<think>r</think>A<think>s</think>B", "A<think>s</think>B", {1: "r"}, id="a later block"
        ),
        pytest.param("leading", "<think>r<think>s</think>A</think>B", "A</think>B", {1: "r<think>s"}, id="nested"),
        pytest.param("leading", "r</think>A", "r</think>A", {}, id="a lone closing tag"),
        pytest.param("leading", "```\n<think>\n```", "```\n<think>\n```", {}, id="a tag in a code fence"),
        pytest.param("leading", " <thi", " <thi", {}, id="the end inside an opening tag"),
        pytest.param("leading", "<think>İİ</think>A", "A", {1: "İİ"}, id="a letter whose lower case is longer"),
        pytest.param("leading", f"{KELVIN_OPEN}r</think>A", f"{KELVIN_OPEN}r</think>A", {}, id="a Kelvin sign opens"),
        pytest.param("anywhere", f"A{KELVIN_OPEN}r", f"A{KELVIN_OPEN}r", {}, id="a Kelvin sign opens later"),
        pytest.param("prefilled", f"r{KELVIN_CLOSE}A", "", {1: f"r{KELVIN_CLOSE}A"}, id="a Kelvin sign closes"),
        pytest.param("prefilled", "</think>A", "A", {}, id="a closing tag at the very beginning"),
        pytest.param("anywhere", "A\n<think>r</think>\nB", "A\nB", {1: "r"}, id="a block in the middle"),
        pytest.param("anywhere", "A</think>B", "A</think>B", {}, id="a closing tag in the text"),
    ],
)
def test_which_text_is_a_block(
    profile: ThinkProfile, text: str, message: str, blocks: dict[int, str], in_pieces: bool
) -> None:
    assert split(ThinkSplitter(profile), text if in_pieces else [text]) == Split(message, blocks)


@pytest.mark.parametrize("in_pieces", [False, True], ids=["whole", "one character at a time"])
def test_a_provider_may_have_another_tag(in_pieces: bool) -> None:
    text = "<thought>r</think></Thought><think>A"
    assert split(ThinkSplitter("leading", "thought"), text if in_pieces else [text]) == Split(
        "<think>A", {1: "r</think>"}
    )


@pytest.mark.parametrize(
    ("profile", "before", "held", "after", "released"),
    [
        ("leading", "<think>r", "</thi", "ng>", ("reasoning", "</thing>")),
        ("prefilled", "r", "</think", "er", ("reasoning", "</thinker")),
        ("anywhere", "A", "<thi", "s>", ("text", "<this>")),
        ("leading", "", "\n<thi", "s>", ("text", "\n<this>")),
    ],
)
def test_text_that_only_begins_like_a_tag_is_released_at_once(
    profile: ThinkProfile, before: str, held: str, after: str, released: tuple[str, str]
) -> None:
    splitter = ThinkSplitter(profile)
    list(splitter.feed(before))
    assert list(splitter.feed(held)) == []
    assert list(splitter.feed(after)) == [released]


@pytest.mark.parametrize("profile", ["off", "leading", "anywhere"])
def test_a_less_than_sign_does_not_stop_the_text(profile: ThinkProfile) -> None:
    splitter = ThinkSplitter(profile)
    flowed = [[piece for _, piece in splitter.feed(part)] for part in ("if a ", "< b", " </ c", ", `<th`")]
    assert flowed == [["if a "], ["< b"], [" </ c"], [", `<th`"]]


@pytest.mark.parametrize("profile", ["off", "leading"])
def test_nothing_is_held_back_once_no_tag_can_begin_a_block(profile: ThinkProfile) -> None:
    splitter = ThinkSplitter(profile)
    flowed = [[piece for _, piece in splitter.feed(part)] for part in ("A <", "think", "></thi")]
    assert flowed == [["A <"], ["think"], ["></thi"]]


@in_every_profile
@quick
@given(text=texts)
def test_never_more_than_a_tag_is_held_back(profile: ThinkProfile, text: str) -> None:
    splitter = ThinkSplitter(profile)
    for fed, character in enumerate(text, 1):
        list(splitter.feed(character))
        assert len(text[splitter.position : fed].lstrip()) < len("</think>")


@quick
@given(reasoning=reasonings, message=messages([*HARD, *TAGS]), at=cuts, data=st.data())
def test_a_span_of_the_message_moves_with_it(reasoning: str, message: str, at: set[int], data: st.DataObject) -> None:
    prefix = f"<think>{reasoning}</think>\n\n"
    start = data.draw(st.integers(0, len(message)), label="start")
    end = data.draw(st.integers(start, len(message)), label="end")
    splitter = ThinkSplitter("leading")
    split(splitter, pieces(prefix + message, at))
    assert splitter.rebase(len(prefix) + start, len(prefix) + end) == (start, end)


@quick
@given(turns=st.lists(st.tuples(messages(HARD), reasonings), min_size=1, max_size=4), at=cuts, data=st.data())
def test_a_span_over_blocks_keeps_its_visible_text(
    turns: list[tuple[str, str]], at: set[int], data: st.DataObject
) -> None:
    parts = [part for message, inner in turns for part in ((message, True), (f"<think>{inner}</think>\n", False))]
    sent = [(character, visible) for part, visible in parts for character in part]
    start = data.draw(st.integers(0, len(sent) - 1), label="start")
    end = data.draw(st.integers(start + 1, len(sent)), label="end")
    splitter = ThinkSplitter("anywhere")
    text = split(splitter, pieces("".join(character for character, _ in sent), at)).text
    span = splitter.rebase(start, end)
    covered = "".join(character for character, visible in sent[start:end] if visible)
    assert (text[slice(*span)] if span else "") == covered
    assert (span is None) == (covered == "")
