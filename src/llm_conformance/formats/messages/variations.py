"""The variations of Anthropic's messages."""

from __future__ import annotations

from llm_conformance.generate.block_ways import BLOCK_VARIATIONS
from llm_conformance.generate.variations import Variation, emptiness

STOP_DETAILS = emptiness("stop details", "the field `stop_details` of an answer that is not refused", "null")
SIGNATURE = Variation("signature", "whether reasoning has a signature", "given", ("given", "absent", "empty"))
UNCITED = emptiness("citations of an uncited text", "the field `citations` of a text block without any")
CALLER = Variation("caller", "the type of the `caller` of a tool call", "absent")

BEGUN_CITED = emptiness("citations of a begun text", "the field `citations` where a cited text begins", "empty")
CITATIONS_FROM = Variation(
    "citations in a stream", "where they are in their block", "before the text", ("before the text", "in the text")
)
BEGUN_SIGNATURE = emptiness("signature of begun reasoning", "the field `signature` where reasoning begins", "empty")
PIECES_OF_REASONING = Variation(
    "pieces of reasoning", "whether some are empty", "filled", ("filled", "last is empty", "others are empty")
)
BEGUN_INPUT = Variation(
    "input of a begun call", "the field `input` where a call begins", "empty object", ("empty object", "absent")
)
PIECES_OF_INPUT = Variation(
    "pieces of input", "whether the first is empty", "first is empty", ("first is empty", "filled", "absent")
)
ENDS = Variation(
    "ends of blocks", "whether a block ends before the next begins", "in turn", ("in turn", "together at the end")
)
PINGS = Variation(
    "pings",
    "where the events `ping` are",
    "behind the first start",
    ("behind the first start", "behind message_start", "anywhere", "never"),
)
FINAL_COUNTS = Variation(
    "counts of message_delta",
    "whether it has those of the prompt, too, and whether the prompt has grown",
    "all",
    ("all", "output", "more input"),
)
CACHE_CREATION = Variation(
    "cache creation",
    "whether the counts say for how long what was written to the cache is kept; after hosted tools it may say 0",
    "absent",
    ("absent", "given", "zeros"),
)
BEGUN_OUTPUT = Variation(
    "output of message_start", "the output tokens that a stream begins with", "a few", ("a few", "0")
)
METRICS = Variation(
    "invocation metrics",
    "whether message_stop has the counts once more, as Bedrock's own metrics",
    "absent",
    ("absent", "given"),
)

VARIATIONS = (
    *BLOCK_VARIATIONS,
    *(STOP_DETAILS, SIGNATURE, UNCITED, CALLER, BEGUN_CITED, CITATIONS_FROM, BEGUN_SIGNATURE, PIECES_OF_REASONING),
    *(BEGUN_INPUT, PIECES_OF_INPUT, ENDS, PINGS, FINAL_COUNTS),
    *(CACHE_CREATION, BEGUN_OUTPUT, METRICS),
)
