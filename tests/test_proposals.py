"""Accepting recordings: all or none, even if the process is killed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import yaml_files
from llm_conformance.cli import main
from llm_conformance.locations import CASSETTES
from llm_conformance.recording import proposals, swap
from llm_conformance.recording.proposals import Proposal
from llm_conformance.scenarios import cassette, lint, load
from llm_conformance.scenarios.load import SUFFIX
from llm_conformance.yaml_files import BadFileError

OLD, NEW = "A spider has 8 legs.", "A spider has 9 legs."
NAMES = ("chat-plain", "messages-plain")


def contents(cassette_dir: Path) -> dict[str, bytes]:
    """Return the contents of all files outside proposals, by path."""
    found = (path for path in cassette_dir.rglob("*.yaml") if ".proposed" not in str(path))
    return {str(path.relative_to(cassette_dir)): path.read_bytes() for path in found}


@pytest.fixture
def cassette_dir(tmp_path: Path) -> Path:
    """Return a directory with two scenarios, a proposal for each, and a proposal for a new one."""
    folder = tmp_path / "cassettes" / "llamacpp"
    folder.mkdir(parents=True)
    for name in NAMES:
        for suffix in (".yaml", SUFFIX):
            shutil.copy(CASSETTES / "llamacpp" / f"{name}{suffix}", folder)
        propose(folder / f"{name}{SUFFIX}", folder / f"{name}{SUFFIX}")
    propose(folder / f"chat-new{SUFFIX}", folder / f"{NAMES[0]}{SUFFIX}")
    return tmp_path / "cassettes"


def propose(target: Path, like: Path) -> Proposal:
    """Propose the same answer with another number in it."""
    file = load.read(like)
    interactions = [
        replace(each, body=each.body.replace(b'"8"', b'"9"').replace(b"has 8", b"has 9"))
        for each in file.cassette.interactions
    ]
    metadata = {**file.cassette.metadata, "digest": cassette.digest(interactions)}
    document = yaml_files.parse(target, file.text.replace(OLD, NEW))
    notes: dict[str, Any] = {"modes": [], "attempts": [], "broke_off": []}
    return proposals.propose(target.parent.parent, target, metadata, interactions, document, notes)


def test_all_proposals_are_accepted(cassette_dir: Path) -> None:
    proposals.accept(cassette_dir, proposals.find(cassette_dir))
    for name in (*NAMES, "chat-new"):
        assert NEW in (cassette_dir / "llamacpp" / f"{name}{SUFFIX}").read_text("utf-8")
    assert not proposals.find(cassette_dir)
    assert len(lint.load_all([cassette_dir])) == 3


def test_proposals_are_not_scenarios(cassette_dir: Path) -> None:
    assert len(load.find(cassette_dir)[0]) == len(NAMES)
    assert not load.find(cassette_dir)[1]


class Stopped(BaseException):
    """The process is killed."""


def counted_down(monkeypatch: pytest.MonkeyPatch, name: str, steps: list[int]) -> None:
    """Let a function of `os` raise Stopped after `steps[0]` calls."""
    real: Callable[..., Any] = getattr(os, name)

    def stops(*arguments: Any, **options: Any) -> Any:
        steps[0] -= 1
        if steps[0] < 0:
            raise Stopped
        return real(*arguments, **options)

    monkeypatch.setattr(os, name, stops)


@pytest.mark.parametrize("is_killed", [False, True], ids=["ctrl-c", "kill"])
def test_an_interrupted_acceptance_leaves_the_old_files_or_the_new(
    cassette_dir: Path, tmp_path: Path, is_killed: bool
) -> None:
    before = contents(cassette_dir)
    done = False
    step = 0
    while not done:
        copy = tmp_path / f"copy-{step}"
        shutil.copytree(cassette_dir, copy)
        steps = [step]
        with pytest.MonkeyPatch.context() as patch:
            for name in ("replace", "fsync", "unlink", "rename"):
                counted_down(patch, name, steps)
            if is_killed:
                patch.setattr(swap, "undo", lambda _cassette_dir: [])
            try:
                proposals.accept(copy, proposals.find(copy))
                done = True
            except Stopped:
                pass
        if (copy / load.JOURNAL).exists():
            with pytest.raises(BadFileError, match="interrupted"):
                load.find(copy)
        proposals.recover(copy)
        after = contents(copy)
        accepted = [NEW.encode() in after.get(f"llamacpp/{name}{SUFFIX}", b"") for name in (*NAMES, "chat-new")]
        assert all(accepted) or after == before, f"step {step}"
        assert done == all(accepted) or steps[0] < 0
        assert not list(copy.rglob("old"))
        assert len(lint.load_all([copy])) == (3 if all(accepted) else 2)
        step += 1
    assert step > 12


def test_a_proposal_that_contradicts_its_bytes_changes_nothing(
    cassette_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(cassette_dir)
    wrong = cassette_dir / "llamacpp/chat-plain.proposed" / f"chat-plain{SUFFIX}"
    wrong.write_text(wrong.read_text("utf-8").replace(NEW, OLD, 1))
    assert main.main(["accept", "--yes", f"--cassettes={cassette_dir}"]) == 4
    output = capsys.readouterr().err
    assert f"{wrong}:" in output
    assert "message: the scenario states " in output
    assert "nothing was accepted" in output
    assert contents(cassette_dir) == before


def test_accept_asks_whether_the_expected_values_are_right(
    cassette_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: print(prompt) or "no")
    assert main.main(["accept", "llamacpp/chat-new", f"--cassettes={cassette_dir}"]) == 4
    output = capsys.readouterr()
    assert "The expected values of this recording were derived from the bytes" in output.out
    assert "nothing was accepted" in output.err
    monkeypatch.setattr("builtins.input", lambda _prompt: "yes")
    assert main.main(["accept", "llamacpp/chat-new", f"--cassettes={cassette_dir}"]) == 0
    assert len(proposals.find(cassette_dir)) == 2


@pytest.mark.parametrize(
    "journal",
    [
        [["x/n", "../victim"]],
        [["llamacpp/a.proposed/a.yaml", "llamacpp/b.yaml"]],
        [["../llamacpp/a.proposed/a.yaml", "../llamacpp/a.yaml"]],
        [["/a.proposed/victim.yaml", "/victim.yaml"]],
        [1],
        {"a": 1},
    ],
)
def test_a_forged_journal_is_refused(cassette_dir: Path, journal: object, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(cassette_dir)
    victim = cassette_dir.parent / "victim"
    victim.write_text("mine")
    (cassette_dir / "x" / "old").mkdir(parents=True)
    (cassette_dir / "x" / "old" / "victim").write_text("theirs")
    (cassette_dir / load.JOURNAL).write_text(json.dumps(journal))
    assert main.main(["review", f"--cassettes={cassette_dir}"]) == 4
    assert "was not written by this suite" in capsys.readouterr().err
    assert victim.read_text("utf-8") == "mine"
    assert contents(cassette_dir) == before


def test_a_second_accept_is_refused_while_one_runs(cassette_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with swap.locked(cassette_dir):
        assert main.main(["accept", "--yes", f"--cassettes={cassette_dir}"]) == 4
        assert "another command is changing this directory" in capsys.readouterr().err
        assert main.main(["age", f"--cassettes={cassette_dir}"]) == 0
    assert main.main(["accept", "--yes", f"--cassettes={cassette_dir}"]) == 0


def test_planted_links_are_not_followed(cassette_dir: Path) -> None:
    victim = cassette_dir.parent / "victim"
    victim.write_text("mine")
    for name in (f".{load.JOURNAL}.part", "llamacpp/.chat-plain.yaml.part"):
        (cassette_dir / name).symlink_to(victim)
    proposals.accept(cassette_dir, proposals.find(cassette_dir))
    assert victim.read_text("utf-8") == "mine"


@pytest.mark.parametrize("damage", ["notes.json", f"chat-plain{SUFFIX}", "chat-plain.yaml"])
def test_a_damaged_proposal_is_reported_and_can_be_rejected(
    cassette_dir: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (cassette_dir / "llamacpp/chat-plain.proposed" / damage).unlink()
    code = main.main(["review", f"--cassettes={cassette_dir}"])
    assert code == (0 if damage == "notes.json" else 4)
    assert "is missing; reject the proposal" in capsys.readouterr().err or code == 0
    assert main.main(["reject", "llamacpp/chat-plain", f"--cassettes={cassette_dir}"]) == 0


def test_reject_changes_no_recording(cassette_dir: Path) -> None:
    before = contents(cassette_dir)
    assert main.main(["reject", "llamacpp/*", f"--cassettes={cassette_dir}"]) == 0
    assert contents(cassette_dir) == before
    assert sorted(path.name for path in (cassette_dir / "llamacpp").iterdir()) == sorted(
        f"{name}{suffix}" for name in NAMES for suffix in (".yaml", SUFFIX)
    )


def test_a_recording_with_edited_bodies_is_refused(cassette_dir: Path) -> None:
    path = cassette_dir / "llamacpp/chat-plain.yaml"
    path.write_text(path.read_text("utf-8").replace('"completion_tokens":8', '"completion_tokens":9'))
    with pytest.raises(BadFileError, match="never edit a recording by hand"):
        lint.load_all([cassette_dir])


def test_the_review_shows_what_is_new(cassette_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["review", f"--cassettes={cassette_dir}"]) == 0
    output = capsys.readouterr().out
    assert "llamacpp/chat-new (new)" in output
    assert "-  message: A spider has 8 legs." in output
    assert "+  message: A spider has 9 legs." in output
    assert main.main(["review", "llamacpp/chat-plain", "--markdown", f"--cassettes={cassette_dir}"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("### llamacpp/chat-plain\n")
    assert "```diff\n--- as it is" in output


def test_the_review_shows_where_the_reference_adapter_disagrees(
    cassette_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = cassette_dir / "llamacpp/chat-plain.proposed" / f"chat-plain{SUFFIX}"
    segments = "  - type: text\n    content: A spider\n  - type: text\n    content: ' has 9 legs.'\n"
    assert "\nexpected:\n" in wrong.read_text("utf-8")
    wrong.write_text(wrong.read_text("utf-8").replace("\nexpected:\n", f"\nexpected:\n  segments:\n{segments}"))
    assert main.main(["review", "llamacpp/chat-plain", f"--cassettes={cassette_dir}"]) == 0
    output = capsys.readouterr().out
    assert "the reference adapter disagrees" in output
    assert "complete: RSN-3: " in output
