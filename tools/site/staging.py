"""Put all pages into one folder, with links that work there.

Two kinds of links lead to files of the repository: links out of docs/ (`../conformance/test_usage.py`), and links in
made pages that begin with `repo:`. On the site, these links lead to the host of the repository. If the file does not
exist, DeadLinkError is raised.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXTRA = "_extra"
"""The folder with the files that are copied to the site unchanged."""

OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
"""Pages that are at the top of the repository, with their names on the site."""

_LINK = re.compile(r"(?<=\]\()(?!https?://|mailto:|#)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?(?=\))")


class DeadLinkError(Exception):
    """A page links a file that the repository does not have."""


def repository_url() -> str:
    """Return the URL of the repository that a workflow runs in. Elsewhere, the URL has OWNER in place of the owner."""
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    return f"{server}/{os.environ.get('GITHUB_REPOSITORY', 'OWNER/llm-conformance')}"


def stage(target: Path, made: Mapping[str, str]) -> None:
    """Write all pages to a folder. `made` has the text of pages by path. Raises DeadLinkError."""
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("*.md", "*.json", "*.toml"))
    pages = {path.relative_to(DOCS).as_posix(): path.read_text("utf-8") for path in DOCS.rglob("*.md")}
    for name, text in pages.items():
        _write(target / name, linked(text, f"docs/{name}", made))
    for name, page in OUTSIDE.items():
        _write(target / page, linked((ROOT / name).read_text("utf-8"), name, made))
    for name, text in made.items():
        _write(target / name, linked(text, f"docs/{name}", made))


def linked(text: str, path: str, made: Mapping[str, str]) -> str:
    """Return a page with the links that it has on the site. `path` is the place of the page in the repository."""
    on_site = posixpath.dirname(OUTSIDE.get(path, path.removeprefix("docs/")))

    def link(found: re.Match[str]) -> str:
        anchor = found["anchor"] or ""
        if found["path"].startswith("repo:"):
            return _of_repository(found["path"].removeprefix("repo:"), path) + anchor
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), found["path"]))
        page = OUTSIDE.get(file) or (file.removeprefix("docs/") if file.startswith("docs/") else None)
        if page is None or (page.endswith((".json", ".toml")) and page not in made):
            return _of_repository(file, path) + anchor
        return posixpath.relpath(page, on_site or ".") + anchor

    return _LINK.sub(link, text)


def _of_repository(file: str, page: str) -> str:
    place = ROOT / file
    if not place.exists():
        raise DeadLinkError(f"{page}: it links {file}, which is not in the repository")
    return f"{repository_url()}/{'tree' if place.is_dir() else 'blob'}/main/{file}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
