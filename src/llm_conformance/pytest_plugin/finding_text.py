"""Findings as text for the terminal: what is wrong, in how many conversations, and how to reproduce it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Sequence

from llm_conformance import secrets
from llm_conformance.compare import encodable
from llm_conformance.reports.findings import Finding
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.wording import hint_of, shortened, shortened_before_hint

_INDENT = "    "
_MESSAGE_LINES = 2
_SLACK = 16
"""Code points that wrapping may leave free at the ends of the lines of a message."""
_SHORTEST_MESSAGE = 40
_NAMED = 3
_ALSO = 1
_TRACEBACK_LINES = 4
_CAUSE = re.compile(r".*:(?P<line>\d+) (?P<function>[^,]+)(?:, .+)?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MARKS = re.compile(r"\s*[\^~]+\s*")


def in_full(
    finding: Finding, number: int, judged: str, apis: Collection[str], width: int, whole: bool = False
) -> Iterator[str]:
    """Yield the lines of a finding.

    `judged` says in how many of the judged conversations the finding occurs. `apis` are all judged APIs. `whole` shows
    everything at full length.
    """
    also = f" (also {', '.join(finding.also)})" if finding.also else ""
    head = f"{number}. {finding.harm}: {finding.rule}{also} in {judged}, {_where(finding, apis)}"
    yield from _wrapped(head, width, indent="", more=_INDENT)
    yield from _wrapped(_message(finding.message, width, whole), width)
    entry = catalogue().get(finding.rule)  # a report of another version of the suite may have other rules
    yield from _wrapped("" if entry is None else entry.noticed, width)
    for rule, message in list(finding.also_messages.items())[: None if whole else _ALSO]:
        yield from _wrapped(f"also {rule}: {_line(message)}", width, most=None if whole else 1)
    if finding.missed:
        yield from _wrapped(
            f"the adapter may have missed it: the library's own object has it at {finding.missed}", width
        )
    if finding.traceback:
        yield from _traceback(finding.traceback, finding.examples[0].get("cause", finding.cause), whole)
    yield from _wrapped(f"for example {', '.join(_examples(finding))}", width)
    if finding.valid_because:
        yield from _wrapped(
            f"valid because: {_line(finding.valid_because)}", width, most=None if whole else _MESSAGE_LINES
        )
    if finding.command:
        yield f"{_INDENT}{finding.command}"


def in_one_line(finding: Finding, number: int, judged: str, width: int) -> str:
    """Return a finding in one line. Of its message, the middle is cut, and the advice at its end is left out."""
    head = f"{number}. {finding.harm}: {finding.rule} in {judged.partition(' conversations')[0]}: "
    line = _line(finding.message)
    message = line.removesuffix(hint_of(line)).strip() or line
    return head + shortened(message, max(width - len(head), _SHORTEST_MESSAGE))


def _where(finding: Finding, apis: Collection[str]) -> str:
    named = finding.apis
    if len(named) > _NAMED:
        few = f"{', '.join(named[:_NAMED])} and {len(named) - _NAMED} more"
        places = f"all {len(named)} APIs" if len(named) == len(apis) else few
    else:
        places = ", ".join(named)
    profiles = f", think profile {', '.join(finding.think_profiles)}" if finding.think_profiles else ""
    return f"{places}, {', '.join(finding.methods)}{profiles}"


def _examples(finding: Finding) -> Iterator[str]:
    for each in finding.examples:
        facts = [each["method"]] if len(finding.methods) > 1 else []
        yield f"{each['scenario']} ({', '.join((*facts, each['provenance']))})"


def _traceback(text: str, cause: str, whole: bool) -> Iterator[str]:
    """Yield the lines of a traceback. Unless `whole`, yield only the frame that the cause names and the exception."""
    lines: Sequence[str] = _printable(text).splitlines()
    if not whole:
        lines = [line for line in lines if not _MARKS.fullmatch(line)]
        lines = _frame(lines, cause) or lines[-_TRACEBACK_LINES:]
    yield from (f"{_INDENT}{line}"[: None if whole else 200] for line in lines)


def _frame(lines: Sequence[str], cause: str) -> list[str]:
    """Return the last frame at the place of the cause, and the last line; an empty list if there is no such frame."""
    named = _CAUSE.fullmatch(cause)
    end = named and f", line {named['line']}, in {named['function']}"
    found = [number for number, line in enumerate(lines) if end and line.endswith(end)]
    return [*lines[found[-1] : found[-1] + 2], lines[-1]] if found else []


def _message(text: str, width: int, whole: bool) -> str:
    """Return a message in about two lines, unless `whole`. A hint at its end stays, even if it needs another line."""
    line = _line(text)
    return line if whole else shortened_before_hint(line, (width - len(_INDENT)) * _MESSAGE_LINES - _SLACK)


def _line(text: str) -> str:
    return " ".join(_printable(text).split())


def _printable(text: str) -> str:
    """Return a text without secrets, and with control characters escaped."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], encodable(secrets.hide(text)))


def _wrapped(
    text: str, width: int, indent: str = _INDENT, more: str | None = None, most: int | None = None
) -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent if more is None else more,
        break_on_hyphens=False,
        max_lines=most,
        placeholder=" ...",
    )
