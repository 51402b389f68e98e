"""The checks of the lint: a scenario's requests and values against its recordings, and digests of those that passed."""
