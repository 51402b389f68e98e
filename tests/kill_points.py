"""Commands in a process of their own that is killed, or finds the disk full, at a given change of the file system."""

from __future__ import annotations

import errno
import os
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

KILLED, TRACEBACK = 77, 78
_CHANGES = (
    "open",
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "os.link",
    "os.symlink",
    "os.truncate",
)
_NEEDS_SPACE = ("open", "os.mkdir")


def _changes(root: Path, event: str, arguments: tuple[Any, ...]) -> bool:
    """Return True for an event that changes something below a directory."""
    if event not in _CHANGES or (event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
        return False
    path = arguments[0]
    # Paths of `shutil.rmtree` are relative to a folder that is open; an open file has a number.
    return isinstance(path, str | os.PathLike) and (not os.path.isabs(path) or Path(path).is_relative_to(root))


def kill(root: Path, step: int) -> None:
    """End the process before change number `step`, counted from 0."""
    left = step

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if _changes(root, event, arguments):
            left -= 1
            if left < 0:
                os._exit(KILLED)

    sys.addaudithook(hook)


def fill_disk(root: Path, step: int) -> None:
    """Refuse to create files and folders from change number `step` on; moving and removing them needs no space."""
    left = step

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if _changes(root, event, arguments):
            left -= 1
            if left < 0 and event in _NEEDS_SPACE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), arguments[0])

    sys.addaudithook(hook)


def limit_files(_root: Path, size: int) -> None:
    """Let no file become larger than `size` bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def start(command: Callable[[], int], prepare: Callable[[], None] = lambda: None) -> int:
    """Run a command in a process of its own without output; return its id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the stand-in for the provider has a thread
        process = os.fork()
    if process:
        return process
    code = TRACEBACK
    try:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - the process ends below
        prepare()
        code = command()
    finally:
        os._exit(code)


def end(process: int) -> int:
    """Wait for a process; return its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
