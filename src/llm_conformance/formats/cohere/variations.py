"""The variations of Cohere's chat, v2. Older models have neither thinking nor types of citations."""

from __future__ import annotations

from llm_conformance.generate.variations import Variation, emptiness

CONTENT = Variation("content", "the types of the content blocks, in order; none for a list without blocks", "text")
BEFORE_CALLS = Variation(
    "before calls", "where the reasoning before tool calls is", "tool plan", ("tool plan", "thinking", "nothing")
)
BLOCK_INDEX = Variation(
    "index of content blocks",
    "whether the events of a stream count thinking blocks and texts together",
    "together",
    ("together", "apart"),
)
NO_CITATIONS = emptiness("no citations", "how a message without citations says so")
CITATION_PLACE = Variation(
    "place of citations",
    "where a stream has the citations of a block",
    "in the block",
    ("in the block", "behind the block", "behind all blocks"),
)
CITATION_TYPE = Variation("type of citations", "whether a citation says what it is about", "given", ("given", "absent"))
CITATION_SOURCE = Variation("sources of citations", "the type of a source", "document", ("document", "tool"))
COUNTS_OF_A_FAILURE = Variation(
    "counts of a failure", "whether an answer that ERROR or TIMEOUT ends has token counts", "given", ("given", "absent")
)

VARIATIONS = (
    CONTENT,
    BEFORE_CALLS,
    BLOCK_INDEX,
    NO_CITATIONS,
    CITATION_PLACE,
    CITATION_TYPE,
    CITATION_SOURCE,
    COUNTS_OF_A_FAILURE,
)
