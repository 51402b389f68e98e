"""Proposals: a new recording in a folder beside the present recording, until the user accepts or rejects it.

    cassettes/<provider>/<name>.proposed/<name>.yaml             the new cassette
    cassettes/<provider>/<name>.proposed/<name>.scenario.yaml    the scenario file with the proposed expected values
    cassettes/<provider>/<name>.proposed/notes.json              what the recorder noticed

No file is replaced before the proposal is accepted. Several proposals are accepted together: all or none
(`llm_conformance.recording.swap`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
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
_WRITTEN, _BEFORE = "written", "before"
"""The names, in a temporary folder, of the new proposal and of the proposal that it replaces."""


@dataclass(frozen=True)
class Proposal:
    """A proposal. `target` is its scenario file, which need not exist yet."""

    target: Path

    @property
    def id(self) -> str:
        """The scenario's id."""
        return load.id_of(self.target)

    @property
    def folder(self) -> Path:
        """The folder of the proposal."""
        return self.target.with_name(self.target.name.removesuffix(SUFFIX) + PROPOSED)

    @property
    def scenario(self) -> Path:
        """The proposed scenario file."""
        return self.folder / self.target.name

    @property
    def notes(self) -> Mapping[str, Any]:
        """What the recorder noticed (see `Recorder.record`); empty if the file cannot be read."""
        try:
            found = json.loads((self.folder / _NOTES).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, Mapping) else {}

    @property
    def files(self) -> Sequence[tuple[Path, Path]]:
        """The proposed cassette and scenario file, each with the file that it replaces."""
        pair = (load.cassette_path(self.scenario), self.scenario)
        return [(path, self.target.with_name(path.name)) for path in pair]

    def read(self, copy: Path, cassette_dir: Path) -> ScenarioFile:
        """Read the proposed scenario in the `overlaid` copy of `cassette_dir`. Raises BadFileError."""
        return load.read(copy / _under(cassette_dir, self.target))


def find(cassette_dir: Path) -> list[Proposal]:
    """Return all proposals in a cassette directory."""
    folders = sorted(path for path in cassette_dir.rglob(f"*{PROPOSED}") if path.is_dir() and not path.is_symlink())
    return [Proposal(path.with_name(path.name.removesuffix(PROPOSED) + SUFFIX)) for path in folders]


def propose(
    cassette_dir: Path,
    target: Path,
    metadata: Mapping[str, Any],
    interactions: Collection[Interaction],
    document: Mapping[str, Any],
    notes: Mapping[str, Any],
) -> Proposal:
    """Write a proposal atomically. It replaces an earlier one for the same scenario.

    It waits while another command changes the directory, because the responses may have cost money.

    Raises:
        BadFileError: The folder of the scenario is a link.
    """
    proposal = Proposal(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.parent.is_symlink():
        raise BadFileError(FileProblem(target.parent, 1, "is a link; recordings are written to real folders only"))
    with (
        swap.locked(cassette_dir, wait=True),
        tempfile.TemporaryDirectory(prefix=f".{proposal.folder.name}-", dir=target.parent) as directory,
    ):
        written = Path(directory) / _WRITTEN
        cassette.save(written / load.cassette_path(target).name, metadata, interactions)
        (written / target.name).write_text(dump.text(document), encoding="utf-8")
        (written / _NOTES).write_text(json.dumps(notes, indent=1, ensure_ascii=False), encoding="utf-8")
        if proposal.folder.exists():
            proposal.folder.replace(Path(directory) / _BEFORE)
        written.replace(proposal.folder)
    return proposal


def reject(cassette_dir: Path, proposal: Proposal) -> None:
    """Delete a proposal. Raises BadFileError if another command has locked the directory."""
    with swap.locked(cassette_dir):
        _delete(proposal)


def _delete(proposal: Proposal) -> None:
    """Delete a proposal, even if the disk is full."""
    gone = proposal.folder.with_name(f".{proposal.folder.name}-{secrets.token_hex(4)}")
    proposal.folder.replace(gone)
    shutil.rmtree(gone, ignore_errors=True)


def accept(cassette_dir: Path, proposals: Collection[Proposal]) -> None:
    """Replace recordings with proposals, all or none.

    Raises:
        BadFileError: The lint would find problems in the result; nothing is changed.
    """
    with swap.locked(cassette_dir):
        problems = list(check(cassette_dir, proposals))
        if problems:
            raise BadFileError(*problems)
        swap.swap(cassette_dir, [change for proposal in proposals for change in proposal.files])
        for proposal in proposals:
            with contextlib.suppress(OSError):  # the proposal is accepted; the next command deletes the rest of it
                _delete(proposal)


def recover(cassette_dir: Path, wait: bool = False) -> list[str]:
    """Undo an interrupted `accept`, complete or delete other interrupted work, and return the restored files.

    Args:
        cassette_dir: The directory.
        wait: Whether to wait for another command that has locked the directory.

    Raises:
        BadFileError: Another command has locked the directory, or the journal was not written by this suite.
    """
    with swap.locked(cassette_dir, wait):
        restored = swap.undo(cassette_dir)
        for proposal in find(cassette_dir):  # it was accepted but not yet deleted
            if (proposal.folder / swap.KEPT).exists():
                _delete(proposal)
        for leftover in (*cassette_dir.rglob(f".*{PROPOSED}-*"), *_copies(cassette_dir)):
            if leftover.is_dir() and not leftover.is_symlink():
                _complete(leftover)
                shutil.rmtree(leftover, ignore_errors=True)
        swap.delete_parts(cassette_dir)
        return restored


def _complete(leftover: Path) -> None:
    """Move a proposal into its place if the earlier proposal is no longer there."""
    folder = leftover.with_name(leftover.name.removeprefix(".").rpartition("-")[0])
    if (leftover / _WRITTEN).is_dir() and (leftover / _BEFORE).is_dir() and not folder.exists():
        (leftover / _WRITTEN).replace(folder)


def _copies(cassette_dir: Path) -> Iterator[Path]:
    """Yield the copies of a directory that killed commands have left."""
    yield from Path(tempfile.gettempdir()).glob(f"{_copy_prefix(cassette_dir)}*")


def _copy_prefix(cassette_dir: Path) -> str:
    return f"llm-conformance-{hashlib.sha256(str(cassette_dir.resolve()).encode()).hexdigest()[:16]}-"


@contextlib.contextmanager
def overlaid(cassette_dir: Path, proposals: Collection[Proposal]) -> Iterator[Path]:
    """Yield a copy of the folders of the proposals, as they would be after `accept`.

    The directory has to be locked, because `recover` deletes the copies that killed commands have left.
    """
    with tempfile.TemporaryDirectory(prefix=_copy_prefix(cassette_dir)) as directory:
        copy = Path(directory)
        for folder in {proposal.target.parent for proposal in proposals}:
            inside = copy / _under(cassette_dir, folder)
            inside.mkdir(parents=True)
            for path in folder.glob("*.yaml"):
                shutil.copy2(path, inside / path.name)
        for proposal in proposals:
            for new, target in proposal.files:
                if not new.is_file():
                    raise BadFileError(FileProblem(new, 1, "is missing; reject the proposal and record again"))
                shutil.copy2(new, copy / _under(cassette_dir, target))
        yield copy


def check(cassette_dir: Path, proposals: Collection[Proposal]) -> Iterator[FileProblem]:
    """Yield the problems that the lint would find after `accept`, in the proposals and in later turns."""
    with overlaid(cassette_dir, proposals) as copy:
        touched = {copy / _under(cassette_dir, proposal.target) for proposal in proposals}
        for folder in sorted({each.parent for each in touched}):
            for file in sorted(folder.glob(f"*{SUFFIX}")):
                if file in touched or not touched.isdisjoint(_earlier(file)):
                    yield from (_in_original(problem, copy, cassette_dir) for problem in _problems(file))


def _earlier(path: Path) -> Iterator[Path]:
    """Yield the scenarios of the earlier turns of a conversation."""
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


def _in_original(problem: FileProblem, copy: Path, cassette_dir: Path) -> FileProblem:
    """Return a problem of a file in the copy as a problem of the original, because the user has to change that."""
    target = cassette_dir / problem.path.relative_to(copy)
    name = target.name.removesuffix(SUFFIX).removesuffix(".yaml")
    proposed = target.with_name(name + PROPOSED) / target.name
    return FileProblem(proposed if proposed.is_file() else target, problem.line, problem.message)


def _under(cassette_dir: Path, path: Path) -> Path:
    return path.resolve().relative_to(cassette_dir.resolve())
