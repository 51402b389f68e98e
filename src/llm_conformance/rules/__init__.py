"""The words that rules are written in."""
