"""What would make every run slow, and could come back unnoticed."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import pytest

from llm_conformance.replay import network_guard
from llm_conformance.themes import contents
from llm_conformance.wire.providers.api import Api
from llm_conformance.wire.providers.table import table


@pytest.mark.parametrize("api", table().values(), ids=str)
def test_hypothesis_describes_what_it_draws_from_without_the_row(api: Api) -> None:
    """It does so again and again while it draws, where a strategy filters what it has drawn."""
    assert str(api) in repr(contents._blocks(api))
    assert len(repr(contents._blocks(api))) < 200


def test_all_network_guards_share_one_audit_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python calls all hooks for every file that is opened, every import and every `id()`."""
    added: list[Callable[..., Any]] = []
    monkeypatch.setattr(sys, "addaudithook", added.append)
    install = functools.cache(network_guard._install_hook.__wrapped__)
    monkeypatch.setattr(network_guard, "_install_hook", install)
    for _ in range(3):
        with network_guard.Guard([1]).watching():
            pass
    assert added == [network_guard._hook]
