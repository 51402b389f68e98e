"""Parts of messages for people."""

from __future__ import annotations

import os

import pytest

from llm_conformance.wording import command_line, counted, did_you_mean, did_you_mean_scenario, listed, no_such

IDS = ("openai/refusal", "openai/core-chat-json-html", "mistral/text")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("mistrall", "; did you mean mistral?"),
        ("Mistral", "; did you mean mistral?"),
        ("grok", "; did you mean groq?"),
        ("acme", ""),
        ("nope", ""),
    ],
)
def test_a_similar_name_is_suggested(word: str, hint: str) -> None:
    assert did_you_mean(word, ("mistral", "groq", "openai")) == hint


def test_several_names_can_be_suggested() -> None:
    assert did_you_mean("ann-9", ("ANN-1", "ANN-2", "MSG-1"), most=3) == "; did you mean ANN-2 or ANN-1?"


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("opnai/refusal", "; did you mean openai/refusal?"),
        ("opnai/*", "; did you mean openai/*?"),
        ("openai/refusl", "; did you mean openai/refusal?"),
        ("openai/core-chat-json-htm", "; did you mean openai/core-chat-json-html?"),
        ("acme/*", ""),
    ],
)
def test_a_similar_scenario_is_suggested(pattern: str, hint: str) -> None:
    assert did_you_mean_scenario(pattern, IDS) == hint


def test_a_message_about_an_unknown_name_says_where_all_names_are() -> None:
    assert no_such("rule", "; did you mean ANN-1?", "list") == "no such rule; did you mean ANN-1? `list` lists them all"
    assert no_such("rule", "", "list") == "no such rule; `list` lists them all"


def test_numbers_have_their_plural() -> None:
    assert [counted(number, "cell") for number in (0, 1, 2, 1000)] == ["0 cells", "1 cell", "2 cells", "1,000 cells"]


def test_names_are_listed_as_in_a_sentence() -> None:
    assert [listed("abc"[:length]) for length in (0, 1, 2, 3)] == ["", "a", "a or b", "a, b or c"]


@pytest.mark.parametrize(
    ("system", "typed"),
    [("posix", "run '--adapter=my dir/a.py' '--scenario=a/*'"), ("nt", 'run "--adapter=my dir/a.py" --scenario=a/*')],
)
def test_a_command_can_be_typed_in_the_shell_of_the_system(
    monkeypatch: pytest.MonkeyPatch, system: str, typed: str
) -> None:
    words = ["run", "--adapter=my dir/a.py", "--scenario=a/*"]
    with monkeypatch.context() as patched:
        patched.setattr(os, "name", system)
        assert command_line(words) == typed
