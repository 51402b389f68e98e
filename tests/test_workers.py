"""How many workers pytest-xdist starts for `-n auto`."""

from __future__ import annotations

import pytest

CPUS = "PYTEST_XDIST_AUTO_NUM_WORKERS"


class Cpus:
    """A plugin that says how many CPUs there are."""

    def __init__(self, number: int) -> None:
        self._number = number

    @pytest.hookimpl(tryfirst=True)
    def pytest_xdist_auto_num_workers(self) -> int:
        """Return the number."""
        return self._number


def workers(pytester: pytest.Pytester, cpus: int, *arguments: str) -> object:
    """Return how many workers are started on a machine with so many CPUs."""
    config = pytester.parseconfig("-n", "auto", *arguments)
    config.pluginmanager.register(Cpus(cpus))
    return config.hook.pytest_xdist_auto_num_workers(config=config)


@pytest.fixture(autouse=True)
def _without_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CPUS, raising=False)


@pytest.mark.parametrize(("cpus", "started"), [(1, 2), (2, 3), (3, 5), (8, 12)])
def test_half_as_many_workers_again_judge_an_adapter(pytester: pytest.Pytester, cpus: int, started: int) -> None:
    assert workers(pytester, cpus, "--adapter=adapters") == started


def test_other_runs_have_as_many_workers_as_ever(pytester: pytest.Pytester) -> None:
    assert workers(pytester, 2) == 2


def test_a_number_that_the_user_sets_is_kept(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CPUS, "1")
    assert workers(pytester, 1, "--adapter=adapters") == 1
