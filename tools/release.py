"""Check that a tag may be released: it is the version of the package, and the changelog has this version with a date.

    python -m tools.release v0.1.0

The command needs no installed package. If something is wrong, the exit code is 1, and a message says what to do.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
_SECTION = re.compile(r"^## (?:\[(?P<bracketed>[^]]+)\]|(?P<plain>\S+))(?: - (?P<date>\d{4}-\d\d-\d\d))?", re.MULTILINE)


def problems(tag: str, module: str, changelog: str) -> Iterator[str]:
    """Yield why a tag may not be released.

    Args:
        tag: The tag, such as `v0.1.0`.
        module: The text of the module with `__version__`.
        changelog: The text of the changelog.
    """
    found = _VERSION.search(module)
    version = found[1] if found else ""
    if tag != f"v{version}":
        yield f"the tag is {tag}, and src/llm_conformance/__init__.py has the version {version or '?'}; make them equal"
    dates = {each["bracketed"] or each["plain"]: each["date"] for each in _SECTION.finditer(changelog)}
    if version not in dates:
        yield f"CHANGELOG.md has no section for {version}; rename its section Unreleased"
    elif dates[version] is None:
        yield f"CHANGELOG.md has no date for {version}; write `## [{version}] - YYYY-MM-DD`"


def main(arguments: list[str]) -> int:
    """Print what is wrong with a tag; return the exit code."""
    (tag,) = arguments
    module = (ROOT / "src" / "llm_conformance" / "__init__.py").read_text("utf-8")
    found = list(problems(tag, module, (ROOT / "CHANGELOG.md").read_text("utf-8")))
    for each in found:
        print(f"release: {each}", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
