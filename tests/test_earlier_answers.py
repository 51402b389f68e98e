"""The lint compares what a later turn sends with the answers before it: a change of one is a change of both."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from llm_conformance.locations import CASSETTES
from llm_conformance.pointers import at_pointer
from llm_conformance.scenarios import cassette
from llm_conformance.scenarios.load import SUFFIX
from tests import miniature

LATER = {
    "anthropic/redacted-thinking-goes-back": ["redacted-thinking-before-a-tool-call"],
    "anthropic/paused-turn-goes-back": ["pause-turn"],
    "gemini/signature-goes-back-with-the-calls": ["signature-on-the-first-of-two-calls"],
}
CHANGED = [
    ("anthropic/redacted-thinking-goes-back", "/messages/1/content/0/signature"),
    ("anthropic/redacted-thinking-goes-back", "/messages/1/content/1/data"),
    ("anthropic/paused-turn-goes-back", "/messages/1/content/1/id"),
]


def copied(tmp_path: Path, id: str) -> Path:
    """Copy a conversation of the suite; return the cassette of the answer before."""
    provider, _, name = id.partition("/")
    (tmp_path / provider).mkdir()
    for each in (name, *LATER[id]):
        for ending in (SUFFIX, ".yaml"):
            shutil.copy(CASSETTES / provider / f"{each}{ending}", tmp_path / provider)
    return tmp_path / provider / f"{LATER[id][0]}.yaml"


@pytest.mark.parametrize("id", LATER)
def test_a_later_turn_sends_what_its_earlier_answers_have(id: str, tmp_path: Path) -> None:
    copied(tmp_path, id)
    assert miniature.problems(tmp_path) == []


@pytest.mark.parametrize(("id", "pointer"), CHANGED)
def test_a_later_turn_that_sends_what_no_answer_has_any_more_is_found(id: str, pointer: str, tmp_path: Path) -> None:
    path = copied(tmp_path, id)
    later = cassette.load(path.with_name(f"{id.partition('/')[2]}.yaml"))
    sent = at_pointer(later.interactions[0].request, pointer)
    before = cassette.load(path)
    changed = [replace(each, body=each.body.replace(str(sent).encode(), b"x" * 12)) for each in before.interactions]
    assert changed != list(before.interactions)
    path.unlink()
    cassette.save(path, before.metadata, changed)
    assert any(f"at {pointer}, and no earlier answer has it" in each for each in miniature.problems(tmp_path))
