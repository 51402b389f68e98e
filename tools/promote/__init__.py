"""`python -m tools.promote`: find the public recordings that show what scenarios claim, and name them."""
