"""Give the package the links that PyPI shows: repository, documentation, changes, and where to report a problem.

Hatchling, which builds the package, loads this module. The links lead to the repository whose workflow builds. A build
that no workflow runs has no links, because the project does not know where its repository is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


def links(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the links by their names, from the variables that GitHub sets in a workflow.

    https://packaging.python.org/en/latest/specifications/well-known-project-urls has the names.
    """
    if "GITHUB_REPOSITORY" not in environment:
        return {}
    owner, name = environment["GITHUB_REPOSITORY"].split("/")
    repository = f"{environment['GITHUB_SERVER_URL']}/{owner}/{name}"
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
        metadata["urls"] = links(os.environ)
