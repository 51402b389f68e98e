"""Mutation testing of the reference adapters: does `pytest conformance` fail for each mutant?

mutmut writes one copy of `adapters` with all mutants. Only one of them is active at a time. The suite is collected
once. Each mutant is judged in a forked process. This process runs the tests that call the mutated function, until a
test fails.
"""
