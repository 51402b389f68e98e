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
            if self.secret in f"{record.getMessage()} {record.exc_text or record.exc_info or ''}":
                self.leaks.append(record.name)


@contextlib.contextmanager
def watched_for(secret: str) -> Iterator[list[str]]:
    """Give the names of the loggers that write a secret, in a list that grows."""
    watch = _Watch(secret)
    logging.getLogger().addHandler(watch)
    try:
        yield watch.leaks
    finally:
        logging.getLogger().removeHandler(watch)
