"""What makes the pages and the proofs: not shipped with the suite."""
