"""Configuration of the project's own tests; the suite itself needs none (see `llm_conformance.plugin`)."""

pytest_plugins = ["pytester"]
