"""A pytest plugin (`-p tools.shuffled`) that runs the items in the random order that the variable `SEED` gives."""

from __future__ import annotations

import os
import random

import pytest

SEED = "LLM_CONFORMANCE_SEED"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle the items. All workers of pytest-xdist have the same order."""
    random.Random(os.environ[SEED]).shuffle(items)  # noqa: S311 - an order, no secret
