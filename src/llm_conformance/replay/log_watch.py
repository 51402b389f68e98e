"""Watching what is logged while an adapter works."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator


class _Watch(logging.Handler):
    def __init__(self, secret: str) -> None:
        super().__init__()
        self.secret = secret
        self.leaks: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Note the logger of a record that has the secret; one that cannot be formatted is its author's affair."""
        with contextlib.suppress(Exception):
            if self.secret in f"{record.getMessage()} {vars(record)!r}":
                self.leaks.append(record.name)


@contextlib.contextmanager
def watched_for(secret: str) -> Iterator[list[str]]:
    """Give the names of the loggers that write a secret, at any level, in a list that grows."""
    watch, root = _Watch(secret), logging.getLogger()
    level = root.level
    others = {handler: handler.level for handler in root.handlers}
    for handler, own in others.items():  # they are given no more than before
        handler.setLevel(max(own, level))
    root.addHandler(watch)
    root.setLevel(logging.DEBUG)
    try:
        yield watch.leaks
    finally:
        root.setLevel(level)
        root.removeHandler(watch)
        for handler, own in others.items():
            handler.setLevel(own)
