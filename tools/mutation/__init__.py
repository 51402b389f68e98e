"""Mutation testing of the reference adapters, with `pytest conformance` as the judge: does the suite see each change?

mutmut makes the mutants: one copy of `adapters` that holds them all, in which the one that is named in the environment
acts. The suite is collected once; each mutant is judged in a process forked from there, which starts with the tests
that reach the mutated function and ends at the first failure.
"""
