"""What models vary when they think between tags, and how to recognise it in a text.

The variations are the same for all wire formats. Rows of the provider table state the ways of their models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from llm_conformance.contract.call import ThinkProfile
from llm_conformance.generate.variations import Variation
from llm_conformance.wire import think_tags

SPACES: Mapping[str, str] = {"none": "", "line break": "\n", "blank line": "\n\n"}
"""The white space between a tag and a text, by the name of the way."""

CLOSED, BLANK, NO_BLOCK, CUT_OFF, CALLED = "closed", "blank", "none", "cut off", "ended by a call"

BLOCK = Variation(
    "think block",
    "whether an answer has a block of reasoning, and what ends it: a tag, the token limit, or a tool call",
    CLOSED,
    (CLOSED, BLANK, NO_BLOCK, CUT_OFF, CALLED),
)
BLOCKS = Variation("think blocks", "how many blocks follow each other", "one", ("one", "several"))
OPENING_TAG = Variation(
    "opening think tag", "whether a model sends the tag that its prompt ends with", "left out", ("left out", "sent")
)
TAG_CASE = Variation("case of think tags", "whether tags have capitals", "lower", ("lower", "mixed"))
CALLS = Variation("calls behind reasoning", "whether tool calls follow a think block", "none", ("none", "sent"))


def _space_variation(where: str, usual: str) -> Variation:
    return Variation(f"space {where}", "the white space in this place", usual, tuple(SPACES))


BEFORE_THE_BLOCK = _space_variation("before a think block", "none")
BEFORE_THE_REASONING = _space_variation("behind an opening think tag", "line break")
BEHIND_THE_REASONING = _space_variation("before a closing think tag", "line break")
IN_A_BLANK_BLOCK = _space_variation("in a blank think block", "blank line")
BEHIND_THE_BLOCK = _space_variation("behind a think block", "blank line")

VARIATIONS = (
    *(BLOCK, BLOCKS, OPENING_TAG, TAG_CASE, CALLS),
    *(BEFORE_THE_BLOCK, BEFORE_THE_REASONING, BEHIND_THE_REASONING, IN_A_BLANK_BLOCK, BEHIND_THE_BLOCK),
)


def ways_of_a_text(
    text: str, profile: ThinkProfile, tag: str, *, is_cut_off: bool, has_calls: bool
) -> Iterator[tuple[Variation, str]]:
    """Yield the ways of a text that a model with this profile has sent. Under `off` and `anywhere` it has none."""
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
    """Return the name of a white space, itself in quotes if it has none."""
    return next((name for name, each in SPACES.items() if each == space), repr(space))
