"""Configuration of the project's own tests. The suite itself needs none: see `llm_conformance.pytest_plugin.plugin`."""

pytest_plugins = ["pytester"]
