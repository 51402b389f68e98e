"""The variations of text completions. The first one is the shape of the documents."""

from __future__ import annotations

from llm_conformance.generate.variations import Variation, emptiness

SHAPE = Variation(
    "shape",
    "where a document has its text",
    "choices",
    ("choices", "completion", "response", "generation", "results", "outputs", "generations"),
)
COUNTS = Variation("counts", "whether an answer that is not streamed has token counts", "given", ("given", "absent"))
COUNTS_OF_A_STREAM = Variation(
    "counts of a stream",
    "where a stream has its token counts: beside the finish word, in a chunk of their own behind it, or nowhere",
    "with the end",
    ("with the end", "apart", "never"),
)
NO_COUNTS_IN_A_CHUNK = emptiness("no counts in a chunk", "how a chunk without token counts says so")
FINISH_OF_A_STREAM = Variation(
    "finish of a stream", "whether the chunk with the finish word has text", "apart", ("apart", "with text")
)
NO_FINISH = Variation("no finish word", "how a chunk that does not end says so", "null", ("null", "absent"))
PINGS = Variation("pings", "whether events without content come between the others", "never", ("never", "anywhere"))
METRICS = Variation(
    "invocation metrics", "whether the last event has Bedrock's own counts", "absent", ("given", "absent")
)

VARIATIONS = (
    SHAPE,
    COUNTS,
    COUNTS_OF_A_STREAM,
    NO_COUNTS_IN_A_CHUNK,
    FINISH_OF_A_STREAM,
    NO_FINISH,
    PINGS,
    METRICS,
)
