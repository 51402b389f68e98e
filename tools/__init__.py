"""Tools that make the pages and the proofs. The suite is shipped without them."""
