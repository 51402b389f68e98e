"""A new recording as a proposal: a folder beside the old one, until it is accepted or rejected.

    cassettes/<provider>/<name>.proposed/<name>.yaml             the new cassette
    cassettes/<provider>/<name>.proposed/<name>.scenario.yaml    the scenario with the truth that is proposed
    cassettes/<provider>/<name>.proposed/notes.json              what the recorder has to say

Nothing is written over before it is accepted, and several proposals are accepted together or not at all
(`llm_conformance.recording.swap`).
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_conformance.recording import swap
from llm_conformance.scenarios import cassette, dump, lint, load
from llm_conformance.scenarios.load import PROPOSED, SUFFIX, ScenarioFile
from llm_conformance.wire.interaction import Interaction
from llm_conformance.yaml_files import BadFileError, FileProblem

_NOTES = "notes.json"


@dataclass(frozen=True)
class Proposal:
    """A proposal by the scenario file that it is for, which need not exist yet."""

    target: Path

    @property
    def id(self) -> str:
        """The scenario's id."""
        return load.id_of(self.target)

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
        try:
            found = json.loads((self.folder / _NOTES).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, Mapping) else {}

    @property
    def files(self) -> Sequence[tuple[Path, Path]]:
        """The files of it, each with the one that it is to replace: the cassette, then the scenario."""
        pair = (load.cassette_path(self.scenario), self.scenario)
        return [(path, self.target.with_name(path.name)) for path in pair]

    def read(self, copy: Path, cassette_dir: Path) -> ScenarioFile:
        """Read what is proposed, in a copy of `home` as it would be (`overlaid`). Raises BadFileError."""
        return load.read(copy / _under(cassette_dir, self.target))


def find(cassette_dir: Path) -> list[Proposal]:
    """Return all proposals below a directory of cassettes."""
    folders = sorted(path for path in cassette_dir.rglob(f"*{PROPOSED}") if path.is_dir() and not path.is_symlink())
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
    if target.parent.is_symlink():
        raise BadFileError(FileProblem(target.parent, 1, "is a link; put the folder itself here"))
    with tempfile.TemporaryDirectory(prefix=f".{proposal.folder.name}-", dir=target.parent) as directory:
        made = Path(directory) / "made"
        cassette.save(made / load.cassette_path(target).name, metadata, interactions)
        (made / target.name).write_text(dump.text(document), encoding="utf-8")
        (made / _NOTES).write_text(json.dumps(notes, indent=1, ensure_ascii=False), encoding="utf-8")
        if proposal.folder.exists():
            proposal.folder.replace(Path(directory) / "before")
        made.replace(proposal.folder)
    return proposal


def reject(proposal: Proposal) -> None:
    """Remove a proposal."""
    with tempfile.TemporaryDirectory(prefix=f".{proposal.folder.name}-", dir=proposal.folder.parent) as directory:
        proposal.folder.replace(Path(directory) / "gone")


def accept(cassette_dir: Path, proposals: Collection[Proposal]) -> None:
    """Put proposals in the place of what is there, all or none.

    Raises BadFileError, with nothing changed, where a scenario would then contradict its cassette.
    """
    with swap.alone(cassette_dir):
        problems = list(check(cassette_dir, proposals))
        if problems:
            raise BadFileError(*problems)
        swap.swap(cassette_dir, [change for proposal in proposals for change in proposal.files])
        for proposal in proposals:
            reject(proposal)


def recover(cassette_dir: Path) -> list[str]:
    """Undo an acceptance that was interrupted; return what was put back. Removes what half a proposal left.

    Raises BadFileError where another command is at work, or the journal is not one of ours.
    """
    with swap.alone(cassette_dir):
        put_back = swap.undo(cassette_dir)
        for proposal in find(cassette_dir):  # accepted, and only not yet tidied away
            if (proposal.folder / swap.KEPT).exists():
                reject(proposal)
        for left in cassette_dir.rglob(f".*{PROPOSED}-*"):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
        return put_back


@contextlib.contextmanager
def overlaid(cassette_dir: Path, proposals: Collection[Proposal]) -> Iterator[Path]:
    """Give a copy of the folders that proposals are for, as they would be if the proposals were accepted."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory)
        for folder in {proposal.target.parent for proposal in proposals}:
            inside = copy / _under(cassette_dir, folder)
            inside.mkdir(parents=True)
            for path in folder.glob("*.yaml"):
                shutil.copy2(path, inside / path.name)
        for proposal in proposals:
            for new, target in proposal.files:
                if not new.is_file():
                    what = "is missing; reject the proposal, and record again"
                    raise BadFileError(FileProblem(new, 1, what))
                shutil.copy2(new, copy / _under(cassette_dir, target))
        yield copy


def check(cassette_dir: Path, proposals: Collection[Proposal]) -> Iterator[FileProblem]:
    """Yield what would be wrong if the proposals were accepted: in them, and in scenarios that build on them."""
    with overlaid(cassette_dir, proposals) as copy:
        touched = {copy / _under(cassette_dir, proposal.target) for proposal in proposals}
        for folder in sorted({each.parent for each in touched}):
            for file in sorted(folder.glob(f"*{SUFFIX}")):
                if file in touched or not touched.isdisjoint(_before(file)):
                    yield from (_seen_from(problem, copy, cassette_dir) for problem in _problems(file))


def _before(path: Path) -> Iterator[Path]:
    """Yield the scenarios whose answers stand in a conversation, and in those before it."""
    seen, left = {path}, [path]
    while left:
        file = left.pop()
        for other in load.answers_in(file) if file.is_file() else ():
            if other not in seen:
                seen.add(other)
                left.append(other)
                yield other


def _problems(path: Path) -> Iterator[FileProblem]:
    try:
        yield from lint.lint(load.read(path))
    except BadFileError as bad:
        yield from bad.problems


def _seen_from(problem: FileProblem, copy: Path, cassette_dir: Path) -> FileProblem:
    """Return a problem with the name of the file that its reader knows."""
    target = cassette_dir / problem.path.relative_to(copy)
    name = target.name.removesuffix(SUFFIX).removesuffix(".yaml")
    proposed = target.with_name(name + PROPOSED) / target.name
    return FileProblem(proposed if proposed.is_file() else target, problem.line, problem.message)


def _under(cassette_dir: Path, path: Path) -> Path:
    return path.resolve().relative_to(cassette_dir.resolve())
