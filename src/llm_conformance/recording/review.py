"""Review a proposed recording: what it changes in shape, expected values and text, and what prevents accepting it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_conformance.adapter import loader
from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.judging.cell_judge import CellJudge
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.plan import Filters, cells
from llm_conformance.locations import REFERENCE_ADAPTERS, ROOT
from llm_conformance.options import TIMEOUT_S
from llm_conformance.recording import proposals, swap
from llm_conformance.recording.proposals import Proposal
from llm_conformance.recording.shapes import differences, shape_of
from llm_conformance.recording.splice import CONVERSATION
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.scenarios import build, dump, load
from llm_conformance.scenarios.load import ScenarioFile
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode
from llm_conformance.yaml_files import BadFileError, FileProblem

_CONTEXT = 2


@dataclass(frozen=True)
class Review:
    """The review of a proposal.

    Attributes:
        id: The scenario's id.
        is_new: Whether there is no recording to replace.
        remarks: What the recorder noticed.
        shape: The changes in the shape of the responses, one sentence each.
        text: The lines of a unified diff of the scenario file; for a new scenario, its expected values.
        dropped: The keys that the present expected values state and the proposed values lack.
        problems: The problems that prevent accepting the proposal.
        disagreements: Where the reference adapter's response differs from the proposed expected values.
    """

    id: str
    is_new: bool
    remarks: Sequence[str]
    shape: Sequence[str]
    text: Sequence[str]
    dropped: Sequence[str]
    problems: Sequence[str]
    disagreements: Sequence[str]


def review(cassette_dir: Path, wanted: Sequence[Proposal], together: Sequence[Proposal]) -> list[Review]:
    """Review the `wanted` proposals. They are among the proposals to be accepted `together`. Raises BadFileError."""
    with swap.locked(cassette_dir), proposals.overlaid(cassette_dir, together) as copy:
        problems = list(proposals.check(cassette_dir, together))
        (reference,) = loader.load_all([REFERENCE_ADAPTERS], ROOT)
        runner = Runner(TIMEOUT_S, ReplayServer())
        try:
            return [_review(each, cassette_dir, copy, problems, reference, runner) for each in wanted]
        finally:
            runner.close()
            reference.close()


def _review(
    proposal: Proposal,
    cassette_dir: Path,
    copy: Path,
    problems: Sequence[FileProblem],
    reference: AdapterUnderTest,
    runner: Runner,
) -> Review:
    # A later turn of the conversation is in the same folder as the target, but not in the proposal.
    own_problems = [
        str(each)
        for each in problems
        if each.path.parent == proposal.folder or each.path.parent == proposal.folder.parent
    ]
    try:
        new = proposal.read(copy, cassette_dir)
    except BadFileError:
        new = None
    if new is None or new.form_problems:
        return Review(proposal.id, not proposal.target.is_file(), [], [], [], [], own_problems, [])
    old = load.read(proposal.target) if proposal.target.is_file() else None
    return Review(
        id=proposal.id,
        is_new=old is None,
        remarks=list(_remarks(proposal)),
        shape=[] if old is None else list(_shape(old, new)),
        text=list(_text(old, new)),
        dropped=[] if old is None or not _stated(new) else sorted(_stated(old) - _stated(new)),
        problems=own_problems,
        disagreements=[] if own_problems else list(_disagreements(build.build(new, copy), reference, runner)),
    )


def _remarks(proposal: Proposal) -> Iterator[str]:
    notes = proposal.notes
    for kind in notes.get("masked", ()):
        yield f"{kind} was in the response and was masked"
    columns = (notes.get(name, ()) for name in ("modes", "attempts", "broke_off"))
    for mode, attempts, broke_off in zip(*columns, strict=False):
        if attempts > 1:
            yield f"{mode}: sent {attempts} times"
        if broke_off:
            yield f"{mode}: the response is incomplete ({broke_off})"


def _shape(old: ScenarioFile, new: ScenarioFile) -> Iterator[str]:
    api = new.api
    for mode in dict.fromkeys((*old.modes, *new.modes)):
        if mode not in new.modes or mode not in old.modes:
            yield f"{mode}: {'is new' if mode in new.modes else 'was not recorded'}"
            continue
        changes = differences(shape_of(old.interaction(mode), api), shape_of(new.interaction(mode), api))
        yield from (f"{mode}: {change}" for change in changes)
        for name in _changed_fields(old, new, mode):
            yield f"{mode}: the request has another {name}"


def _changed_fields(old: ScenarioFile, new: ScenarioFile, mode: Mode) -> Iterator[str]:
    """Yield the names of the request fields that changed, except for those of the conversation."""
    was, now = old.interaction(mode).request, new.interaction(mode).request
    for name in sorted(was.keys() | now.keys()):
        if name not in CONVERSATION and was.get(name) != now.get(name):
            yield name


def _text(old: ScenarioFile | None, new: ScenarioFile) -> Iterator[str]:
    if old is None:
        yield from dump.text({"expected": new.document["expected"]}).splitlines()
        return
    parts = ("call", "think_profile", "recordings", "round_trip", "expected")
    was, now = (
        dump.text({key: file.document[key] for key in parts if key in file.document}).splitlines()
        for file in (old, new)
    )
    yield from difflib.unified_diff(was, now, "as it is", "as proposed", n=_CONTEXT, lineterm="")


def _stated(file: ScenarioFile) -> set[str]:
    expected = file.document["expected"]
    if "error" in expected:
        return set()  # scenarios state nothing else about an error
    return {key for part in (expected, *(expected.get(mode, {}) for mode in file.modes)) for key in part} - {
        "json",
        "stream",
    }


def _disagreements(scenario: Scenario, reference: AdapterUnderTest, runner: Runner) -> Iterator[str]:
    """Yield where the reference adapter's response to the new bytes differs from the proposed expected values."""
    judge = CellJudge(runner, Effort(0))
    rules = [entry.rule for entry in catalogue().values()]
    for cell in cells([reference], [scenario], Filters()):
        found: dict[str, list[str]] = {}
        for judged in judge.judge(cell, rules):
            if judged.failure is not None:
                message = str(judged.verdict.message).partition(" [provider=")[0]
                found.setdefault(message, []).append(judged.verdict.rule)
        yield from (f"{cell.method}: {', '.join(ids)}: {message}" for message, ids in found.items())
