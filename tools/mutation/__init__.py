"""Mutation testing of the reference adapters: does `pytest conformance` fail for each mutant?

mutmut writes one copy of `adapters` with all mutants, of which one is active at a time. The suite is collected once.
Each mutant is judged in a forked process, which runs the tests that reach the mutated function until one fails.
"""
