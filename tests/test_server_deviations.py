"""Known deviations of servers: written from a run, kept, and reported when they are stale."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.cli.main import main
from llm_conformance.judging.deviations import Deviation
from llm_conformance.judging.status import Status
from llm_conformance.server import known, plan
from llm_conformance.server.judge import Judgement, judge
from llm_conformance.yaml_files import BadFileError
from tests import gated
from tests.servers import asking
from tests.servers.broken.framing import WithoutDone
from tests.servers.reference import Reference
from tests.test_server_reports import judge as judge_by_command


def deviation(**fields: Any) -> Deviation:
    given = {"rule": "WIRE-6", "scenario": "chat/*", "reason": "r", "link": "https://example.com/a/issues/7", **fields}
    return Deviation(Path("known.toml"), given.pop("line", 1), **given)


class Moody(Reference):
    """Gives every other plain answer `text` as its `object`."""

    def completion(self, request: Any, answers: Any) -> Any:
        document = super().completion(request, answers)
        return document if int(document["id"].partition("-")[2]) % 2 else {**document, "object": "text"}


def judged(server: Reference, *deviations: Deviation) -> Judgement:
    target, kept = asking.recordings_of(server)
    return judge(target, plan.selected(server.api, ()), kept, deviations=deviations)


def test_the_written_file_makes_the_next_run_green(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "known.toml"
    assert judge_by_command(WithoutDone(), tmp_path, f"--write-deviations={path}") == 1
    assert f"{path}: written; fill in reason and link of 1 entry" in capsys.readouterr().out
    text = path.read_text("utf-8")
    assert 'rule = "WIRE-6"\nscenario = ' in text
    assert (
        "# false success: Without that event, a client cannot tell a complete answer from one that broke off.\n" in text
    )
    assert re.search(r"^# WIRE-6 in chat/[a-z-]+, stream: last event: expected \[DONE\] at the end", text, re.MULTILINE)
    assert "examples" not in text

    replay = f"--replay={tmp_path}/kept"
    assert main(["server", replay, f"--deviations={path}"]) == 4
    assert "reason: is empty" in capsys.readouterr().err
    gated.fill_in(path)
    assert main(["server", replay, f"--deviations={path}"]) == 0
    assert "0 findings, 1 known: " in capsys.readouterr().out


def test_the_file_keeps_what_is_known_without_what_is_stale(tmp_path: Path) -> None:
    old, new = tmp_path / "old.toml", tmp_path / "new.toml"
    entry = '[[deviation]]\nrule = "{}"\nscenario = "{}"\nreason = "of old"\nlink = "https://example.com/a/issues/7"\n'
    old.write_text(entry.format("WIRE-6", "chat/plain") + entry.format("WIRE-9", "chat/*"), "utf-8")

    assert judge_by_command(WithoutDone(), tmp_path, f"--deviations={old}", f"--write-deviations={new}") == 1

    first, *others = known.load(_filled(new), "chat")
    assert (first.rule, first.scenario, first.reason) == ("WIRE-6", "chat/plain", "of old")
    assert {each.rule for each in others} == {"WIRE-6"}
    assert "chat/plain" not in {each.scenario for each in others}
    assert main(["server", f"--replay={tmp_path}/kept", f"--deviations={new}"]) == 0


def _filled(path: Path) -> Path:
    gated.fill_in(path)
    return path


def test_no_file_is_overwritten_and_nothing_is_sent_before_that_is_clear(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "known.toml"
    path.write_text("# mine", "utf-8")
    server = ["server", "http://127.0.0.1:9/v1", "--model=m"]

    assert main([*server, f"--write-deviations={path}"]) == 4
    assert "exists already and is not overwritten" in capsys.readouterr().err
    assert main([*server, f"--write-deviations={tmp_path}/no/known.toml"]) == 4
    assert "no such directory" in capsys.readouterr().err
    assert path.read_text("utf-8") == "# mine"


def test_what_is_asked_twice_is_known_by_one_name(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    target, kept = asking.recordings_of(Moody())
    chosen = plan.selected("chat", ())
    found = judge(target, chosen, kept)
    wrong = {each.scenario for each in found.verdicts if each.status == Status.FAIL}
    assert "chat/plain#2" in wrong
    assert "chat/plain" not in wrong

    known.write(path, target, found)
    again = judge(target, chosen, kept, deviations=known.load(_filled(path), "chat"))

    assert [each for each in again.verdicts if each.status == Status.FAIL] == []
    assert {each.scenario for each in again.verdicts if each.status == Status.EXPECTED} == wrong
    assert again.stale == ()


def test_each_rule_and_conversation_of_an_entry_must_name_a_failure() -> None:
    entries = (1, ["WIRE-6"], ["chat/plain", "chat/cut"]), (9, ["WIRE-6", "WIRE-9"], ["chat/turns"])
    listed = [
        deviation(line=line, rule=rule, scenario=scenario)
        for line, rules, scenarios in entries
        for rule in rules
        for scenario in scenarios
    ]

    found = judged(WithoutDone(), *listed)

    assert found.stale == (3,)
    (told,) = found.deviations.stale_entries(found.stale)
    assert told.startswith("known.toml:9: ")
    assert "WIRE-9" in told


@pytest.mark.parametrize(
    ("fields", "is_stale"),
    [
        ({"rule": "WIRE-9"}, True),
        ({"rule": "WIRE-9", "sometimes": True}, False),
        ({"message": "no such message"}, True),
        ({"rule": "SRV-53"}, False),  # all answers are too short to tell
        ({"rule": "WIRE-16", "scenario": "chat/plain"}, True),  # no rule of this format
    ],
)
def test_an_entry_is_stale_if_what_it_names_was_judged_and_is_right(fields: dict[str, Any], is_stale: bool) -> None:
    assert bool(judged(WithoutDone(), deviation(**fields)).stale) is is_stale


def test_a_run_of_a_part_reports_nothing_as_stale() -> None:
    target, kept = asking.recordings_of(Reference())
    (plain,) = plan.selected("chat", ["plain"])

    assert judge(target, [plain], kept, deviations=[deviation()]).stale == ()
    assert judge(target, plan.selected("chat", ()), kept, deviations=[deviation()]).stale == (0,)
    assert judge(target, plan.selected("chat", ()), kept, modes=["json"], deviations=[deviation()]).stale == ()


@pytest.mark.parametrize("field", ["adapter", "versions", "method"])
def test_what_only_adapters_have_is_refused(field: str, tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    value = {"adapter": "a", "versions": "<2", "method": "stream"}[field]
    said = 'reason = "r"\nlink = "https://example.com/a/issues/7"\n'
    path.write_text(f'[[deviation]]\nrule = "WIRE-6"\nscenario = "chat/*"\n{field} = "{value}"\n{said}', "utf-8")

    with pytest.raises(BadFileError, match=f"known.toml:1: {field}: is about adapters; leave it out"):
        known.load(path, "chat")
