"""The checks of the lint, which compare a scenario with its recordings, and digests of scenarios that passed."""
