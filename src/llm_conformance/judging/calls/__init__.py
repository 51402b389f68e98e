"""Decide which calls to make: if all calls of a method died alike, the suite no longer calls it."""
