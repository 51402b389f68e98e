"""Editions of the rules about servers: what is newer is judged, and its failures do not fail the run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from llm_conformance import editions, schema
from llm_conformance.cli.main import main
from llm_conformance.server import conversations, plan
from llm_conformance.server import judge as judging
from llm_conformance.server.catalogue import catalogue, rules_of
from tests.servers.broken.framing import WithoutDone
from tests.test_server_reports import judge

OF_0_2 = {"0.1": (0, {"new"}), "0.2": (1, {"fail"})}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the answers of a server whose streams end without `[DONE]`."""
    directory = tmp_path_factory.mktemp("kept")
    assert judge(WithoutDone(), directory) == 1
    return directory / "kept"


@pytest.fixture(autouse=True)
def next_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add an edition to the suite."""
    monkeypatch.setattr(editions, "EDITIONS", ("0.1", "0.2"))
    monkeypatch.setattr(editions, "CURRENT", "0.2")


def statuses(kept: Path, edition: str, code: int) -> set[str]:
    """Judge by an edition; return the statuses of WIRE-6 that are no pass."""
    path = kept.parent / f"{edition}.json"
    assert main(["server", f"--replay={kept}", f"--edition={edition}", f"--report={path}"]) == code
    report = json.loads(path.read_text("utf-8"))
    assert list(schema.problems("server-report", report)) == []
    assert report["edition"] == edition
    return {each["status"] for each in report["results"] if each["rule"] == "WIRE-6"} - {"pass"}


@pytest.mark.parametrize("edition", OF_0_2)
def test_a_failure_of_a_newer_rule_is_new(
    edition: str, kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = [replace(each, since="0.2") if each.id == "WIRE-6" else each for each in rules_of("chat")]
    monkeypatch.setattr(judging, "rules_of", lambda api: changed)
    code, expected = OF_0_2[edition]

    assert statuses(kept, edition, code) == expected

    told = "new failures, not counted: the run is pinned to edition 0.1"
    assert (told in capsys.readouterr().out) is (edition == "0.1")


@pytest.mark.parametrize("edition", OF_0_2)
def test_a_failure_in_a_newer_conversation_is_new(edition: str, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {id: replace(each, since="0.2") for id, each in conversations.conversations("chat").items()}
    monkeypatch.setattr(plan, "conversations", lambda api: changed)
    code, expected = OF_0_2[edition]

    assert statuses(kept, edition, code) == expected


def test_an_unknown_edition_is_refused(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="4"):
        main(["server", f"--replay={kept}", "--edition=0.9"])
    assert "0.9" in capsys.readouterr().err


def test_every_rule_and_conversation_is_of_an_edition_of_the_suite() -> None:
    known = {*editions.EDITIONS} - {"0.2"}

    assert {each.since for each in catalogue().values()} <= known
    for api in {"chat", "messages", "responses"}:
        assert {each.since for each in conversations.conversations(api).values()} <= known
