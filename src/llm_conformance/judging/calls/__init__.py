"""Decide which calls to make. If all calls of a method fail with the same cause, the suite stops calling it."""
