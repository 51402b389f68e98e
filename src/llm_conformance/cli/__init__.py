"""The command `llm-conformance`: one module for each verb."""
