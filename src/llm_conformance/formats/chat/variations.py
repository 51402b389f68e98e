"""What providers of OpenAI-shaped chat completions vary."""

from __future__ import annotations

from llm_conformance.generate.variations import Variation

COUNTS = Variation(
    "counts", "whether an answer that is not streamed has token counts", "given", ("given", "absent", "null")
)
COUNTS_OF_A_STREAM = Variation(
    "counts of a stream",
    "which chunks have token counts",
    "apart",
    ("apart", "at the finish", "always", "never"),
)
END_MARKER = Variation("end marker", "whether [DONE] ends a stream", "sent", ("sent", "missing"))

VARIATIONS = (COUNTS, COUNTS_OF_A_STREAM, END_MARKER)
