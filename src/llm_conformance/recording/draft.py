"""Drafts (`<name>.draft.yaml`): conversations that have not been recorded yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance import schema, yaml_files
from llm_conformance.scenarios.load import DRAFT
from llm_conformance.wire.interaction import MODES, Mode
from llm_conformance.wire.providers import table
from llm_conformance.wire.providers.api import Api
from llm_conformance.yaml_files import BadFileError, FileProblem


@dataclass(frozen=True)
class Draft:
    """A scenario file without recordings and expected values.

    Attributes:
        name: The name of the scenario to be recorded.
        document: The start of the scenario file: the draft without `modes` and `request`.
        modes: The modes to record.
        request: The body of the request in the provider's form; empty if `call` gives the request.
        token_limit: The highest number of tokens in an answer; None if it is unknown.
    """

    name: str
    api: Api
    document: Mapping[str, Any]
    modes: tuple[Mode, ...]
    request: Mapping[str, Any]
    token_limit: int | None = None

    @property
    def id(self) -> str:
        """The id of the scenario to be recorded."""
        return f"{self.api.provider}/{self.name}"


def read_draft(path: Path) -> Draft:
    """Read a draft. Raises BadFileError with all problems of the file."""
    text = yaml_files.read_text(path)
    document = yaml_files.parse(path, text)
    problems = schema.file_problems("draft", path, text, document)
    if problems:
        raise BadFileError(*problems)
    if path.name == DRAFT:
        raise BadFileError(FileProblem(path, 1, f"the draft has no name; call it <name>{DRAFT}"))
    api = table.table().get((document["provider"], document["api"]))
    if api is None:
        line = yaml_files.line_of(text, ("provider",))
        raise BadFileError(FileProblem(path, line, "the provider table does not have this provider and api"))
    modes = tuple(mode for mode in MODES if mode in document.get("modes", MODES))
    kept = {key: value for key, value in document.items() if key not in ("modes", "request")}
    return Draft(path.name.removesuffix(DRAFT), api, kept, modes, document.get("request") or {})
