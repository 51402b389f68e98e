"""The rules that an LLM response adapter is held to: one module a family, one function an invariant.

A rule is given one exchange (`llm_conformance.rules.exchange.Exchange`): the adapter's outcome for one
recorded conversation,
and the truth. The first paragraph of its docstring is the requirement as failures quote it; the rest says why.
Run them with `pytest conformance --adapter=mypkg`.
"""
