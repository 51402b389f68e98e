"""The variations of Ollama's native chat, by version of the server and by the parser of the model."""

from __future__ import annotations

from llm_conformance.generate.variations import Variation

CALL_IDS = Variation(
    "ids of calls", "whether tool calls have an id and an index", "id and index", ("id and index", "neither")
)
CALLS_OF_A_STREAM = Variation(
    "calls of a stream", "whether each tool call has a line of its own", "one a line", ("one a line", "together")
)
THINKING_AND_TEXT = Variation(
    "thinking and text",
    "whether the line with the end of the thinking has the beginning of the text, too",
    "apart",
    ("apart", "in one line"),
)
LAST_LINE = Variation(
    "last line", "whether the line that ends a stream has text", "without text", ("without text", "with text")
)

VARIATIONS = (CALL_IDS, CALLS_OF_A_STREAM, THINKING_AND_TEXT, LAST_LINE)
