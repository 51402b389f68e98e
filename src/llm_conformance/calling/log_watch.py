"""Search the log for a secret while an adapter runs."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator


class _SecretHandler(logging.Handler):
    """Collects the names of loggers that write the secret."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self.secret = secret
        self.loggers: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Note the logger if the record has the secret. Records that cannot be formatted are skipped."""
        with contextlib.suppress(Exception):
            if self.secret in f"{record.getMessage()} {vars(record)!r}":
                self.loggers.append(record.name)


@contextlib.contextmanager
def loggers_that_write(secret: str) -> Iterator[list[str]]:
    """Give a list to which the name of each logger is added that writes the secret, at any level."""
    handler, root = _SecretHandler(secret), logging.getLogger()
    root_level = root.level
    handler_levels = {other: other.level for other in root.handlers}
    for other, level in handler_levels.items():  # the root logger passes on everything now; other handlers must not
        other.setLevel(max(level, root_level))
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield handler.loggers
    finally:
        root.setLevel(root_level)
        root.removeHandler(handler)
        for other, level in handler_levels.items():
            other.setLevel(level)
