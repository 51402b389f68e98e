"""The verdicts do not depend on order, processes, locale, time zone or hash seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.same_verdicts import Verdicts, differences, shuffled, verdicts

OPTIONS = (
    "--adapter=tests.broken.message:TrimmedMessage",
    "--adapter=adapters",
    "--conformance-scenario=zai/*thinking*",
    "--conformance-scenario=zai/generated-chat-usage",
    "--conformance-examples=ci",
    "--conformance-method=parse",
    "--conformance-method=stream",
)
"""A correct and a broken adapter, judged by recorded scenarios and generated ones."""


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    found = verdicts(tmp_path_factory.mktemp("first"), OPTIONS)
    assert {each["status"] for each in found.results} >= {"pass", "fail"}
    assert found.exit_code == 1
    return found


@pytest.mark.weekly(but_one_in=2)
@pytest.mark.parametrize("number", [3, 5], ids=["in another order", "in a third order, in two processes"])
def test_the_verdicts_are_the_same_in_any_order(first: Verdicts, tmp_path: Path, number: int) -> None:
    assert list(differences(first, shuffled(tmp_path, number, OPTIONS))) == []


def test_the_verdicts_are_the_same_in_another_place_with_another_hash_seed_and_warnings_as_errors(
    first: Verdicts, tmp_path: Path
) -> None:
    place = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "Pacific/Kiritimati"}
    found = verdicts(tmp_path, [*OPTIONS, "-W", "error"], **place, PYTHONHASHSEED="4711")
    assert list(differences(first, found)) == []


def test_what_differs_is_named() -> None:
    one, other = Verdicts(1, [{"status": "pass"}, {"status": "fail"}]), Verdicts(0, [{"status": "fail"}])
    assert list(differences(one, other)) == ["exit code 0 instead of 1", '- {"status": "pass"}']
    assert list(differences(one, one)) == []
