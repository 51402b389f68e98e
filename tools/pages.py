"""Writing and checking generated files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_conformance.reports import files


def write_or_check(path: Path, text: str, check: bool, command: str) -> list[str]:
    """Write a generated file, or with `check` only compare it; return the problems.

    `command` is the one that generates the file.
    """
    if not check:
        path.write_text(text, "utf-8")
    elif not path.is_file() or path.read_text("utf-8") != text:
        return [f"{path} is out of date; run: {command}"]
    return []


def read_report(path: Path) -> Mapping[str, Any]:
    """Return a JSON report of the reference adapters. Raises SystemExit if the pages cannot be made from it."""
    report = files.read(path)
    if report.get("probes") != "judge":
        sys.exit(
            f"{path}: in this report probes are apart, so no rule passes in them; make it with "
            "--conformance-probes=judge"
        )
    return report


def main(arguments: Sequence[str], description: str, page: Callable[[], str], command: str) -> int:
    """Write or check a page that is made from the repository alone; return 1 if the check finds another one."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("path", type=Path)
    parser.add_argument("--check", action="store_true", help="only check that the file is up to date")
    options = parser.parse_args(arguments)
    problems = write_or_check(options.path, page(), options.check, command)
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0
