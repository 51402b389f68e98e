"""Rules times exchanges give verdicts."""
