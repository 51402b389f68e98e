"""Check that the URL of a deviation leads to the page where the deviation is described."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_HOSTS = frozenset({"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"})
_RAW = frozenset({"raw.githubusercontent.com", "gist.githubusercontent.com"})
_PACKAGES = {"pypi.org": 3, "npmjs.com": 3}
"""Maps the hosts of package registries to the most path segments that the URL of a package's page has."""

_LINE = re.compile(r"L\d+.*|.+-\d+")
_TEXTS = (".md", ".rst", ".txt", ".adoc", ".html")
_LISTS = frozenset({"issues", "pulls", "pull-requests", "merge_requests", "discussions", "commits", "releases", "tags"})
_INSTEAD = "name an issue, a pull request, or a line"


def is_url(link: str) -> bool:
    """Return True if a link is a URL, False if it is the path of a report that is ready to be filed."""
    return "://" in link


def problem(link: str) -> str | None:
    """Return why a URL cannot be the link of a deviation, and what to write instead; None if it can.

    Allowed are issues, pull requests, discussions, commits, files with a line, and pages with a path.
    """
    url = urlsplit(link)
    host, steps = (url.hostname or "").removeprefix("www."), [step for step in url.path.split("/") if step]
    if host in _RAW:
        return f"a file without a line; {_INSTEAD}"
    if host in _HOSTS:
        return _problem_of_a_repository(steps, url.fragment)
    if host in _PACKAGES and len(steps) <= _PACKAGES[host] and not url.fragment:
        return f"the page of a package; {_INSTEAD}"
    if not steps and not url.query and not url.fragment:
        return f"the front page of a host; {_INSTEAD}, or the page of the documentation that says it"
    return None


def _problem_of_a_repository(steps: list[str], fragment: str) -> str | None:
    inside = [step for step in steps[2:] if step != "-"]
    if not inside or inside[0] == "tree":
        return f"the front page of a repository; {_INSTEAD}"
    if inside[0] in ("blob", "src", "raw", "blame"):
        has_place = bool(fragment) and (steps[-1].endswith(_TEXTS) or _LINE.fullmatch(fragment))
        return None if has_place else f"a file without a line; {_INSTEAD}"
    if len(inside) == 1 and inside[0] in _LISTS:
        return f"a list of {inside[0].replace('_', ' ').replace('-', ' ')}; {_INSTEAD}"
    return None
