"""The variations of Cloudflare's native API. Different programs serve its models, each with its own form of calls."""

from __future__ import annotations

from llm_conformance.generate.variations import Variation, emptiness

FLAT, FLAT_WITH_AN_ID, FUNCTIONS = "flat", "flat with an id", "functions and a finish word"

CALLS = Variation(
    "form of calls",
    "whether tool calls are flat, perhaps with an id, or functions as of a chat completion",
    FLAT,
    (FLAT, FLAT_WITH_AN_ID, FUNCTIONS),
)
FINISH_WORD = Variation(
    "finish word of a text", "whether an answer without calls has a finish word", "absent", ("absent", "given")
)
RESPONSE = Variation(
    "kind of response",
    "whether an answer that is only a number is sent as a JSON number, which is not drawn",
    "text",
    ("text", "number"),
)
NO_TEXT_BESIDE_CALLS = emptiness("no text beside calls", "the response of an answer that has calls only", "null")
COUNTS = Variation(
    "counts", "whether an answer that is not streamed has token counts", "given", ("given", "absent", "null")
)
BODY = (CALLS, FINISH_WORD, RESPONSE, NO_TEXT_BESIDE_CALLS, COUNTS)

TEXT_OF_A_CALL = emptiness("response of a chunk with calls", "the response of a chunk that has calls", "empty")
PIECES = Variation(
    "pieces of a call",
    "whether a stream sends a function in pieces, of which the first has no arguments",
    "in pieces",
    ("in pieces", "whole"),
)
LAST_PIECE = Variation(
    "last piece of calls", "whether a piece in which all is null ends functions", "none", ("none", "nulls")
)
COUNTS_OF_A_STREAM = Variation(
    "counts of a stream", "which chunks have token counts", "at the end", ("at the end", "in each chunk", "never")
)
PADDING = Variation(
    "padding", "whether all chunks before the last one have padding in `p`", "absent", ("absent", "given")
)
END_MARKER = Variation("end marker", "whether [DONE] ends a stream", "sent", ("sent", "missing"))
STREAM = (TEXT_OF_A_CALL, PIECES, LAST_PIECE, COUNTS_OF_A_STREAM, PADDING, END_MARKER)

VARIATIONS = (*BODY, *STREAM)
