"""The variations of Amazon Bedrock's Converse."""

from __future__ import annotations

from llm_conformance.generate.block_ways import BLOCK_VARIATIONS
from llm_conformance.generate.variations import Variation

SIGNATURE = Variation("signature", "whether reasoning has a signature", "given", ("given", "absent"))
CACHE_COUNTS = Variation(
    "names of cache counts", "whether each comes once more under another name", "one", ("one", "two")
)
CITATIONS_FROM = Variation(
    "citations in a stream", "where they are in their block", "before the text", ("before the text", "in the text")
)
PIECES_OF_INPUT = Variation(
    "pieces of input", "whether the first is empty", "filled", ("filled", "first is empty", "absent")
)
PADDING = Variation("field p", "whether events have this padding", "given", ("given", "absent"))
BLOCKS_OF_A_TEXT = Variation(
    "blocks of a text", "whether each piece of a text in a stream is a block of its own", "one", ("one", "one a piece")
)
LATENCY = Variation("latency", "whether an answer says how long it took", "given", ("given", "absent"))
INVOCATION = Variation(
    "invocation metrics", "whether the last event has Bedrock's own beside it", "absent", ("given", "absent")
)

VARIATIONS = (
    *BLOCK_VARIATIONS,
    *(SIGNATURE, CACHE_COUNTS, CITATIONS_FROM, PIECES_OF_INPUT, PADDING),
    *(BLOCKS_OF_A_TEXT, LATENCY, INVOCATION),
)
