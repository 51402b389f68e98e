"""Pages that are made from data: written, or compared with what is there."""

from __future__ import annotations

from pathlib import Path


def settle(path: Path, made: str, check: bool, data: str, command: str) -> list[str]:
    """Write a page, or only `check` that it is what its `data` says; return what is wrong, in words.

    `data` is what it is made from, with its verb, and `command` makes it.
    """
    if not check:
        path.write_text(made, "utf-8")
    elif not path.is_file() or path.read_text("utf-8") != made:
        return [f"{path} is not what {data} now; run: {command}"]
    return []
