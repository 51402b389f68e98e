"""Helpers for adapters of libraries that return OpenAI's chat completions.

They copy and repair nothing: the response lacks what the library's object lacks. Adapters need not use them.
`docs/shims.md` has the rules for adapters of other projects' libraries.
"""
