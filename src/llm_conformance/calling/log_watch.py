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
    """Yield a list. It gets the name of each logger that writes the secret, at any level."""
    handler, root = _SecretHandler(secret), logging.getLogger()
    root_level = root.level
    # Loggers without a level of their own now pass on everything. Other handlers still write what they always write.
    usual = {other: logger.getEffectiveLevel() for logger in _all_loggers() for other in logger.handlers}
    handler_levels = {other: other.level for other in usual}
    for other, level in usual.items():
        other.setLevel(max(other.level, level))
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield handler.loggers
    finally:
        root.setLevel(root_level)
        root.removeHandler(handler)
        for other, level in handler_levels.items():
            other.setLevel(level)


def _all_loggers() -> list[logging.Logger]:
    found = list(logging.Logger.manager.loggerDict.values())  # it also contains placeholders
    return [logging.getLogger(), *(each for each in found if isinstance(each, logging.Logger))]
