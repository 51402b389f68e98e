"""A new recording as a proposal: a folder beside the old one, until it is accepted or rejected.

    cassettes/<provider>/<name>.proposed/<name>.yaml             the new cassette
    cassettes/<provider>/<name>.proposed/<name>.scenario.yaml    the scenario with the truth that is proposed
    cassettes/<provider>/<name>.proposed/notes.json              what the recorder has to say

Nothing is written over before it is accepted, and several proposals are accepted together or not at all: a journal
names what is being changed, and copies of it are kept until the journal is gone. Whatever is interrupted before that
is undone by the next command (`recover`).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance import cassette, lint, scenarios, writing
from llm_conformance.cassette import Interaction
from llm_conformance.scenarios import JOURNAL, PROPOSED, SUFFIX, ScenarioFile
from llm_conformance.yaml_files import BadFileError, FileProblem

_NOTES = "notes.json"
_OLD = "old"


@dataclass(frozen=True)
class Proposal:
    """A proposal by the scenario file that it is for, which need not exist yet."""

    target: Path

    @property
    def id(self) -> str:
        """The scenario's id."""
        return scenarios.id_of(self.target)

    @property
    def folder(self) -> Path:
        """Where it stands."""
        return self.target.with_name(self.target.name.removesuffix(SUFFIX) + PROPOSED)

    @property
    def scenario(self) -> Path:
        """The scenario file that is proposed."""
        return self.folder / self.target.name

    @property
    def notes(self) -> Mapping[str, Any]:
        """What the recorder has to say of it."""
        found: Mapping[str, Any] = json.loads((self.folder / _NOTES).read_text("utf-8"))
        return found

    @property
    def files(self) -> Sequence[tuple[Path, Path]]:
        """The files of it, each with the one that it is to replace: the cassette, then the scenario."""
        pair = (scenarios.cassette_path(self.scenario), self.scenario)
        return [(path, self.target.with_name(path.name)) for path in pair]

    def read(self, copy: Path, home: Path) -> ScenarioFile:
        """Read what is proposed, in a copy of `home` as it would be (`overlaid`). Raises BadFileError."""
        return scenarios.read(copy / _under(home, self.target))


def find(home: Path) -> list[Proposal]:
    """Return all proposals below a directory of cassettes."""
    folders = sorted(path for path in home.rglob(f"*{PROPOSED}") if path.is_dir() and not path.is_symlink())
    return [Proposal(path.with_name(path.name.removesuffix(PROPOSED) + SUFFIX)) for path in folders]


def propose(
    target: Path,
    metadata: Mapping[str, Any],
    interactions: Collection[Interaction],
    document: Mapping[str, Any],
    notes: Mapping[str, Any],
) -> Proposal:
    """Write a proposal, whole or not at all; an earlier one for the same scenario is replaced."""
    proposal = Proposal(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{proposal.folder.name}-", dir=target.parent) as directory:
        made = Path(directory) / "made"
        cassette.save(made / scenarios.cassette_path(target).name, metadata, interactions)
        (made / target.name).write_text(writing.text(document), encoding="utf-8")
        (made / _NOTES).write_text(json.dumps(notes, indent=1, ensure_ascii=False), encoding="utf-8")
        if proposal.folder.exists():
            proposal.folder.replace(Path(directory) / "before")
        made.replace(proposal.folder)
    return proposal


def reject(proposal: Proposal) -> None:
    """Remove a proposal."""
    with tempfile.TemporaryDirectory(prefix=f".{proposal.folder.name}-", dir=proposal.folder.parent) as directory:
        proposal.folder.replace(Path(directory) / "gone")


def accept(home: Path, proposals: Collection[Proposal]) -> None:
    """Put proposals in the place of what is there, all or none.

    Raises BadFileError, with nothing changed, where a scenario would then contradict its cassette.
    """
    problems = list(check(home, proposals))
    if problems:
        raise BadFileError(*problems)
    journal = home / JOURNAL
    changes = [change for proposal in proposals for change in proposal.files]
    try:
        _write_whole(journal, json.dumps([[str(_under(home, each)) for each in change] for change in changes]))
        for new, target in changes:
            _keep_old(new, target)
        for new, target in changes:
            _copy_whole(new, target)
    except BaseException:
        recover(home)
        raise
    journal.unlink()  # from here on it has happened
    for proposal in proposals:
        reject(proposal)


def recover(home: Path) -> list[str]:
    """Undo an acceptance that was interrupted; return what was put back. Removes what half a proposal left."""
    journal = home / JOURNAL
    put_back: list[str] = []
    if journal.is_file():
        for new, target in _journalled(home, journal):
            old = new.parent / _OLD / target.name
            if old.is_file():
                os.replace(old, target)
                put_back.append(str(target))
            elif (new.parent / _OLD / f"{target.name}.none").is_file():
                target.unlink(missing_ok=True)
                put_back.append(str(target))
        for new, _ in _journalled(home, journal):
            shutil.rmtree(new.parent / _OLD, ignore_errors=True)
        journal.unlink()
    for proposal in find(home):  # accepted, and only not yet tidied away
        if (proposal.folder / _OLD).exists():
            reject(proposal)
    for left in home.rglob(f".*{PROPOSED}-*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
    return put_back


@contextlib.contextmanager
def overlaid(home: Path, proposals: Collection[Proposal]) -> Iterator[Path]:
    """Give a copy of the folders that proposals are for, as they would be if the proposals were accepted."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory)
        for folder in {proposal.target.parent for proposal in proposals}:
            inside = copy / _under(home, folder)
            inside.mkdir(parents=True)
            for path in folder.glob("*.yaml"):
                shutil.copy2(path, inside / path.name)
        for proposal in proposals:
            for new, target in proposal.files:
                shutil.copy2(new, copy / _under(home, target))
        yield copy


def check(home: Path, proposals: Collection[Proposal]) -> Iterator[FileProblem]:
    """Yield what would be wrong if the proposals were accepted: in them, and in scenarios that build on them."""
    with overlaid(home, proposals) as copy:
        touched = {copy / _under(home, proposal.target) for proposal in proposals}
        for path in sorted({each.parent for each in touched}):
            for file in sorted(path.glob(f"*{SUFFIX}")):
                if file in touched or _builds_on(file, touched):
                    yield from (_seen_from(problem, copy, home) for problem in _problems(file))


def _problems(path: Path) -> Iterator[FileProblem]:
    try:
        yield from lint.lint(scenarios.read(path))
    except BadFileError as bad:
        yield from bad.problems


def _builds_on(path: Path, touched: Collection[Path]) -> bool:
    text = path.read_text("utf-8")
    return any(f"answer_of: {each.name.removesuffix(SUFFIX)}" in text for each in touched if each.parent == path.parent)


def _seen_from(problem: FileProblem, copy: Path, home: Path) -> FileProblem:
    """Return a problem with the name of the file that its reader knows."""
    target = home / problem.path.relative_to(copy)
    name = target.name.removesuffix(SUFFIX).removesuffix(".yaml")
    proposed = target.with_name(name + PROPOSED) / target.name
    return FileProblem(proposed if proposed.is_file() else target, problem.line, problem.message)


def _under(home: Path, path: Path) -> Path:
    return path.resolve().relative_to(home.resolve())


def _journalled(home: Path, journal: Path) -> Iterator[tuple[Path, Path]]:
    with contextlib.suppress(ValueError):  # not even the journal was whole: nothing had begun
        yield from ((home / new, home / target) for new, target in json.loads(journal.read_text("utf-8")))


def _keep_old(new: Path, target: Path) -> None:
    kept = new.parent / _OLD
    kept.mkdir(exist_ok=True)
    if target.is_file():
        _copy_whole(target, kept / target.name)
    else:
        (kept / f"{target.name}.none").touch()


def _copy_whole(source: Path, target: Path) -> None:
    _write_whole(target, source.read_bytes())


def _write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that there is never half of it."""
    whole = path.with_name(f".{path.name}.part")
    with whole.open("wb") as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(whole, path)
