"""Exclude the replay server from HTTP proxies."""

from __future__ import annotations

import os


def keep_proxies_away() -> None:
    """Make HTTP clients connect to the loopback directly, even if the environment sets a proxy."""
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1", "localhost"]))
