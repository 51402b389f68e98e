"""What runs only once a week is left out of other runs, and nothing else is."""

from __future__ import annotations

import pytest

from tests.conftest import WEEKLY


@pytest.fixture(autouse=True)
def project(pytester: pytest.Pytester) -> None:
    """Make tests with and without the marker."""
    pytester.makeconftest("from tests.conftest import pytest_addoption, pytest_collection_modifyitems")
    pytester.makeini("[pytest]\nmarkers = weekly")
    pytester.makepyfile(
        """
        import pytest

        def test_always():
            pass

        @pytest.mark.weekly
        def test_weekly():
            pass

        @pytest.mark.weekly(but_one_in=4)
        @pytest.mark.parametrize("number", range(10))
        def test_sampled(number):
            pass
        """
    )


def names(pytester: pytest.Pytester, *options: str) -> list[str]:
    """Return the tests that a run with these options collects."""
    lines = pytester.runpytest("--collect-only", "-q", *options).outlines
    return [line.partition("::")[2] for line in lines if "::" in line]


def test_usual_runs_leave_out_what_is_weekly(pytester: pytest.Pytester) -> None:
    assert names(pytester) == ["test_always", "test_sampled[0]", "test_sampled[4]", "test_sampled[8]"]


def test_the_option_runs_everything(pytester: pytest.Pytester) -> None:
    assert names(pytester, WEEKLY) == ["test_always", "test_weekly", *(f"test_sampled[{n}]" for n in range(10))]


def test_a_case_that_is_asked_for_runs(pytester: pytest.Pytester) -> None:
    assert names(pytester, "-k", "test_sampled and 7") == ["test_sampled[7]"]
