"""Writing and checking generated files."""

from __future__ import annotations

from pathlib import Path


def write_or_check(path: Path, text: str, check: bool, command: str) -> list[str]:
    """Write a generated file, or with `check` only compare it; return the problems.

    `command` is the command that generates the file.
    """
    if not check:
        path.write_text(text, "utf-8")
    elif not path.is_file() or path.read_text("utf-8") != text:
        return [f"{path} is out of date; run: {command}"]
    return []
