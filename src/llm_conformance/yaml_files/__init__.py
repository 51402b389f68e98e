"""Read YAML files that are untrusted input, such as scenarios and cassettes (`llm_conformance.limits`)."""

from __future__ import annotations

from llm_conformance.yaml_files.problems import BadFileError, FileProblem, RefusedError
from llm_conformance.yaml_files.reader import Where, line_of, parse
from llm_conformance.yaml_files.text import read_bytes, read_text

__all__ = [
    "BadFileError",
    "FileProblem",
    "RefusedError",
    "Where",
    "line_of",
    "parse",
    "read_bytes",
    "read_text",
]
