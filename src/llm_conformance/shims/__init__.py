"""Helpers for adapters of libraries that return OpenAI's chat completions.

They add and repair nothing: what the library's object lacks, the response lacks, too. Adapters need not use them.
`docs/shims.md` has the rules for adapters of other projects' libraries.
"""
