"""What the page, the Markdown and the badge share. All of it comes from the JSON report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llm_conformance.judging.status import Status
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import Right
from llm_conformance.server.conversations import conversation_of
from llm_conformance.wording import counted

_WRONG = (Status.FAIL, Status.EXPECTED)
_JUDGED = (Status.PASS, Status.NEW, *_WRONG)

Rows = Mapping[str, Mapping[str, Sequence[str] | None]]
"""Maps a conversation and then a mode to the rules that fail there; to None if nothing was judged."""


def by_conversation(document: Document) -> Rows:
    """Return the rules that fail in each conversation, including known deviations, in the order of the report.

    A repetition (`chat/plain#2`) belongs to its conversation.
    """
    found: dict[str, dict[str, list[str] | None]] = {}
    for each in document["results"]:
        row = found.setdefault(conversation_of(each["conversation"]), {})
        row.setdefault(each["mode"], None)
        if each["status"] in _JUDGED:
            failing = row[each["mode"]] = row[each["mode"]] or []
            if each["status"] in _WRONG and each["rule"] not in failing:
                failing.append(each["rule"])
    return found


def where(finding: Mapping[str, Any]) -> list[str]:
    """Return the conversations in which a finding fails, each with its mode."""
    return list(dict.fromkeys(f"{conversation_of(name)} ({mode})" for name, mode in finding["failures"]))


def right(document: Document) -> Right:
    """Return the number of conversations in which nothing fails. Each mode counts as a conversation."""
    judged = [rules for row in by_conversation(document).values() for rules in row.values() if rules is not None]
    return Right(sum(not rules for rules in judged), len(judged))


def sentence(document: Document) -> str:
    """Return what was judged: `46 conversations of chat; not claimed: n, seed`."""
    missing = document["server"]["not_claimed"]
    what = f"{counted(right(document).judged, 'conversation')} of {document['server']['api']}"
    return f"{what}; not claimed: {', '.join(missing)}" if missing else what


def of_status(document: Document, *statuses: str) -> list[Mapping[str, Any]]:
    """Return the findings with one of these statuses."""
    return [each for each in document["findings"] if each["status"] in statuses]


def cells(document: Document) -> str:
    """Return a text with the number of cells of each status."""
    counts = document["summary"]
    return ", ".join(f"{counts[status]} {status}" for status in Status if status in counts)
