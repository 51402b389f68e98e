"""A time limit, so that a file that hangs the suite fails its test."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

_LIMIT_S = 300
"""Far more than any test takes, also on a busy machine."""


@pytest.fixture(autouse=True)
def end_of_patience() -> Iterator[None]:
    """Fail a test that hangs, also in a system call."""

    def give_up(*_: Any) -> None:
        raise TimeoutError(f"not done after {_LIMIT_S} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
