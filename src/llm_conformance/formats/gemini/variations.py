"""The variations of Gemini's generateContent, by model and by host."""

from __future__ import annotations

from collections.abc import Mapping

from llm_conformance.generate.variations import Variation

CALL_IDS = Variation("ids of calls", "whether calls have an id", "sent", ("sent", "absent"))
NO_ARGUMENTS = Variation("no arguments", "how a call without arguments says so", "empty", ("empty", "absent"))
CALL_SIGNATURES = Variation(
    "signatures of calls", "which calls of a response have a signature", "none", ("none", "the first", "all")
)
TEXT_SIGNATURE = Variation(
    "signature of the text", "whether the last text of a response has a signature", "absent", ("absent", "sent")
)
FINISH_MESSAGE = Variation(
    "finish message of calls", "whether a message says that there are calls", "absent", ("absent", "sent")
)
NO_PARTS = Variation(
    "no parts", "what a candidate without parts has", "a role", ("a role", "an empty content", "no content")
)
_CONTENTS = ("no content", "an empty content", "a role", "parts")
BLOCKED = Variation(
    "blocked candidate", "what a candidate has beside the finish word of a filter", "no content", _CONTENTS
)
FAILED = Variation(
    "failed candidate", "what a candidate has beside the finish word of an error", "no content", _CONTENTS
)
INDEX = Variation("index of the candidate", "whether the only candidate has an index", "sent", ("sent", "absent"))
ARGUMENTS = Variation(
    "arguments of a stream", "whether calls come whole or value by value", "whole", ("whole", "in pieces")
)
PARTS = Variation("parts of a chunk", "whether a chunk has several parts", "one", ("one", "several"))
LAST_CHUNK = Variation(
    "last chunk",
    "what the chunk with the finish reason has besides",
    "a part",
    ("a part", "an empty text", "a signature", "no part"),
)
COUNTS_OF_A_STREAM = Variation(
    "counts of a stream", "which chunks have token counts", "always", ("always", "at the end")
)
COUNTS_ALONE = Variation(
    "chunks with counts alone", "whether there are chunks without a candidate", "never", ("never", "at first")
)
NO_GROUNDING = Variation(
    "no grounding", "what the other chunks of a grounded answer have", "absent", ("absent", "empty")
)

BROKEN_OFF: Mapping[str | None, Variation] = {"content_filter": BLOCKED, "error": FAILED}
"""Maps a canonical finish reason to the variation for the rest of the candidate.

With other reasons, nothing is missing.
"""

VARIATIONS = (
    CALL_IDS,
    NO_ARGUMENTS,
    CALL_SIGNATURES,
    TEXT_SIGNATURE,
    FINISH_MESSAGE,
    NO_PARTS,
    BLOCKED,
    FAILED,
    INDEX,
    ARGUMENTS,
    PARTS,
    LAST_CHUNK,
    COUNTS_OF_A_STREAM,
    COUNTS_ALONE,
    NO_GROUNDING,
)
