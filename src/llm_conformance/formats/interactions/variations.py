"""The variations of Gemini's Interactions."""

from __future__ import annotations

from llm_conformance.generate.variations import Variation, emptiness

NO_SIGNATURE = emptiness("no signature", "how a call without a signature says so")

FIRST_STATUS = Variation(
    "status at the start", "whether the event `interaction.created` says `in_progress`", "sent", ("sent", "left out")
)

VARIATIONS = (FIRST_STATUS, NO_SIGNATURE)
