"""The rules for LLM response adapters: one module per family, one function per rule.

A rule receives one exchange (`llm_conformance.rules.exchange.Exchange`): what an adapter did with one recorded
conversation, and the expected values for that conversation. The first paragraph of a rule's docstring is the
requirement, which failures quote. The next sentence says what a user notices if an adapter breaks the rule; the rest
explains the rule. `Source:` lists the requirements behind it (docs/requirements.toml).

Run the rules with `pytest conformance --adapter=mypkg`.
"""
