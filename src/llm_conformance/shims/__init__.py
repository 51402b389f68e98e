"""Helpers for adapters of libraries that return OpenAI's chat completions.

They copy, and repair nothing: what a library's object does not have is not in the response. An adapter need not use
them; `docs/shims.md` has the rules that hold for adapters of other people's libraries.
"""
