"""The variations of Cohere's first chat API."""

from __future__ import annotations

from llm_conformance.generate.variations import Variation

COUNTS = Variation("counts", "whether an answer has token counts", "given", ("given", "absent"))
CITATIONS = Variation(
    "citations", "whether answers cite documents, if the request has some", "none", ("none", "documents")
)
CITATION_EVENTS = Variation(
    "citations in a stream",
    "whether each citation has an event of its own",
    "one an event",
    ("one an event", "together"),
)

VARIATIONS = (COUNTS, CITATIONS, CITATION_EVENTS)
