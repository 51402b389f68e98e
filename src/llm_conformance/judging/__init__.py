"""Rules applied to exchanges: verdicts, known deviations, and the search for counterexamples."""
