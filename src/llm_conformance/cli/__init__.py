"""The command `llm-conformance`: one module a verb."""
