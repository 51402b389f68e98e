"""What Gemini's Interactions vary."""

from __future__ import annotations

from llm_conformance.generate.variations import emptiness

NO_SIGNATURE = emptiness("no signature", "how a call without a signature says so")

VARIATIONS = (NO_SIGNATURE,)
