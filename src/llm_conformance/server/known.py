"""Read the file of known deviations of a server, and write it from the failures of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from llm_conformance.judging import deviations_file
from llm_conformance.judging.deviations import Deviation
from llm_conformance.judging.known.write import Told, write_told
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict
from llm_conformance.server import plan
from llm_conformance.server.catalogue import catalogue
from llm_conformance.server.conversations import conversation_of
from llm_conformance.server.judge import METHODS, Judgement
from llm_conformance.server.plan import Target
from llm_conformance.yaml_files import BadFileError, FileProblem

_MODES = {method: mode for mode, method in METHODS.items()}


def load(path: Path, api: str) -> Sequence[Deviation]:
    """Return the known deviations of a file. Raises BadFileError."""
    found = deviations_file.load(path, catalogue(), _ids(api))
    problems = [
        FileProblem(path, each.line, f"{name}: is about adapters; leave it out")
        for each in found
        for name in ("adapter", "versions", "method")
        if getattr(each, name) is not None
    ]
    if problems:
        raise BadFileError(*dict.fromkeys(problems))
    return found


def write(path: Path, target: Target, judgement: Judgement) -> int:
    """Write a new file that names every failure. Return the number of entries without a reason.

    The known deviations of the run are kept, except for the stale ones. Raises FileExistsError if the file exists.
    """
    rules = {id: Told(rule.harm, _first_sentence(rule.reason)) for id, rule in catalogue().items()}
    verdicts = list(_under_one_name(judgement.verdicts))
    return write_told(
        path,
        verdicts,
        judgement.deviations,
        judgement.stale,
        {target.url: None},
        rules,
        _ids(target.api),
        called=_MODES,
    )


def _under_one_name(verdicts: Sequence[Verdict]) -> Iterator[Verdict]:
    """Yield the verdicts under the names of their conversations, without the numbers of repetitions (`#2`).

    If one repetition fails, the passing repetitions are left out, so that no entry is restricted because of them.
    """
    wrong = {_place(each) for each in verdicts if each.status == Status.FAIL}
    for each in verdicts:
        if each.status == Status.FAIL or _place(each) not in wrong:
            yield replace(each, scenario=conversation_of(each.scenario))


def _place(verdict: Verdict) -> tuple[str, str, str]:
    return verdict.rule, conversation_of(verdict.scenario), verdict.mode


def _first_sentence(text: str) -> str:
    return f"{text.partition('. ')[0].removesuffix('.')}."


def _ids(api: str) -> list[str]:
    return [f"{api}/{each.id}" for each in plan.selected(api, ())]
