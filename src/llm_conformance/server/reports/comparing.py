"""The differences between two reports on servers: which findings are new or gone, which cells got better or worse.

A cell is (rule, conversation, mode). A model's answers differ from run to run, so a rule may be able to judge a cell in
one run only. Therefore only cells that were judged in both runs are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llm_conformance.judging.status import Status
from llm_conformance.reports.comparing import Cell, Change, NotComparableError
from llm_conformance.reports.document import Document
from llm_conformance.server.conversations import conversation_of

_WRONG = frozenset({Status.FAIL.value, Status.EXPECTED.value})
_SHOWN = 3


@dataclass(frozen=True)
class Differences:
    """What differs between two reports on servers.

    Attributes:
        new: The findings that only the later report has, in cells that were judged in both reports.
        gone: The findings that only the earlier report has, in the same cells.
        worse: The cells that fail now and passed before.
        better: The cells that pass now and failed before.
        one_sided: The cells that fail in one of the reports and could not be judged in the other.
    """

    new: tuple[Mapping[str, Any], ...]
    gone: tuple[Mapping[str, Any], ...]
    worse: tuple[Change, ...]
    better: tuple[Change, ...]
    one_sided: tuple[Change, ...]


def check_comparable(before: Document, after: Document) -> None:
    """Raise NotComparableError unless both servers got the same requests and were held to the same rules.

    So both reports need the same wire format, capabilities, edition and conversations.
    """
    old, new = before["server"], after["server"]
    differing = [
        *_unequal("wire format", "--api", [old["api"]], [new["api"]]),
        *_unequal("capabilities", "--capabilities, --key-env, --context", old["capabilities"], new["capabilities"]),
        *_unequal("edition", "--edition", [before["edition"]], [after["edition"]]),
    ]
    if old["api"] == new["api"]:
        differing += _unequal("conversations", "--conversation, --mode", _asked(before), _asked(after))
    if differing:
        lines = "the reports cannot be compared; they differ in", *(f"  {each}" for each in differing)
        raise NotComparableError("\n".join((*lines, "Make one of them again with the options of the other.")))


def _unequal(what: str, options: str, before: Collection[str], after: Collection[str]) -> Iterator[str]:
    """Yield a line that says what only one of the reports has; nothing if both have the same."""
    gone = [each for each in dict.fromkeys(before) if each not in after]
    added = [each for each in dict.fromkeys(after) if each not in before]
    parts = [f"only the {which} has {_some(names)}" for which, names in (("first", gone), ("second", added)) if names]
    if parts:
        yield f"{what}: {'; '.join(parts)} ({options})"


def _some(names: Collection[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(list(names)[:_SHOWN]) + more


def _asked(document: Document) -> dict[str, None]:
    return {f"{conversation_of(each['conversation'])} ({each['mode']})": None for each in document["results"]}


def compare(before: Document, after: Document) -> Differences:
    """Return what differs between two reports that can be compared."""
    old, new = _statuses(before), _by_cell(after)
    changes = [
        Change(cell, old[cell], each["status"], each.get("message")) for cell, each in new.items() if cell in old
    ]
    judged = [each for each in changes if each.is_judged]
    common = {each.cell for each in judged}
    earlier, later = _findings(before, common), _findings(after, common)
    return Differences(
        new=tuple(later[key] for key in later if key not in earlier),
        gone=tuple(earlier[key] for key in earlier if key not in later),
        worse=tuple(each for each in judged if each.is_worse),
        better=tuple(each for each in judged if each.is_better),
        one_sided=tuple(each for each in changes if not each.is_judged and {each.before, each.after} & _WRONG),
    )


def _by_cell(document: Document) -> dict[Cell, Mapping[str, Any]]:
    return {(each["rule"], each["conversation"], each["mode"]): each for each in document["results"]}


def _statuses(document: Document) -> dict[Cell, str]:
    return {cell: each["status"] for cell, each in _by_cell(document).items()}


def _findings(document: Document, cells: Collection[Cell]) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Map (rule, cause) to each finding that has failures in `cells`, with only these failures."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for each in document["findings"]:
        failures = [at for at in each["failures"] if (each["rule"], *at) in cells]
        if failures:
            found[each["rule"], each["cause"]] = {**each, "failures": failures}
    return found
