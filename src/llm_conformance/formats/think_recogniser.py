"""Recognise the ways of a text with reasoning between think tags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.generate.think import (
    BEFORE_THE_BLOCK,
    BEFORE_THE_REASONING,
    BEHIND_THE_BLOCK,
    BEHIND_THE_REASONING,
    BLANK,
    BLOCK,
    BLOCKS,
    CALLED,
    CALLS,
    CLOSED,
    CUT_OFF,
    IN_A_BLANK_BLOCK,
    NO_BLOCK,
    OPENING_TAG,
    SPACES,
    TAG_CASE,
)
from llm_conformance.generate.variations import Variation
from llm_conformance.wire import think_tags


def ways_of_a_text(
    text: str, profile: ThinkProfile, tag: str, *, is_cut_off: bool, has_calls: bool
) -> Iterator[tuple[Variation, str]]:
    """Yield the ways of a text from a model with this think profile; nothing for `off` and `anywhere`."""
    if not text or profile not in ("leading", "prefilled"):
        return
    block = re.match(rf"(?P<before>\s*)(?P<open><(?ai:{tag})>)?(?P<inner>.*?)(?P<close></(?ai:{tag})>|\Z)", text, re.S)
    if block is None:
        return
    is_prefilled = profile == "prefilled" and bool(block["close"] or is_cut_off or has_calls)
    if not block["open"] and not is_prefilled:
        yield BLOCK, NO_BLOCK
        return
    if block["open"]:
        yield BEFORE_THE_BLOCK, _space(block["before"])
    if profile == "prefilled":
        yield OPENING_TAG, "sent" if block["open"] else "left out"
    mixed = any(each and each != each.lower() for each in (block["open"], block["close"]))
    yield TAG_CASE, "mixed" if mixed else "lower"
    yield from _ways_of_reasoning(block["inner"], bool(block["open"]), bool(block["close"]))
    if not block["close"]:
        yield BLOCK, CALLED if has_calls else CUT_OFF if is_cut_off else "never closed"
        return
    yield BLOCK, CLOSED if block["inner"].strip() else BLANK
    yield CALLS, "sent" if has_calls else "none"
    rest = text[block.end() :]
    answer = rest.lstrip()
    yield BEHIND_THE_BLOCK, _space(rest[: len(rest) - len(answer)])
    yield BLOCKS, "several" if think_tags.begins_with_tag(answer, tag) else "one"


def _ways_of_reasoning(inner: str, is_opened: bool, is_closed: bool) -> Iterator[tuple[Variation, str]]:
    if not inner.strip():
        if is_closed:
            yield IN_A_BLANK_BLOCK, _space(inner)
        return
    if is_opened:
        yield BEFORE_THE_REASONING, _space(inner[: len(inner) - len(inner.lstrip())])
    if is_closed:
        yield BEHIND_THE_REASONING, _space(inner[len(inner.rstrip()) :])


def _space(space: str) -> str:
    """Return the name of white space in `SPACES`; if it has none, its repr."""
    return next((name for name, each in SPACES.items() if each == space), repr(space))
