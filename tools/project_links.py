"""Give the package the links that PyPI shows: repository, documentation, changes, and where to report a problem.

Hatchling, which builds the package, loads this module. The workflow `release` sets LLM_CONFORMANCE_REPOSITORY to the
URL of its repository. Any other build has no links, because the project does not know where its repository is.
GitHub's own variables cannot tell: other projects build the package from a commit in their own workflows.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "LLM_CONFORMANCE_REPOSITORY"


def links(repository: str) -> dict[str, str]:
    """Return the links by their names, for the URL of a repository on GitHub.

    https://packaging.python.org/en/latest/specifications/well-known-project-urls has the names.
    """
    owner, name = repository.split("/")[-2:]
    return {
        "Documentation": f"https://{owner.lower()}.github.io/{name}/",
        "Repository": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }


class ProjectLinks(MetadataHookInterface):
    """The hook for `[project] urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the links to what pyproject.toml says."""
        repository = os.environ.get(VARIABLE)
        metadata["urls"] = links(repository) if repository else {}
