"""The text of a failure, for the author of the adapter."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from llm_conformance.compare import in_one_line
from llm_conformance.contract.values import plain
from llm_conformance.corpus import places
from llm_conformance.locations import CASSETTES, COMMAND
from llm_conformance.options import as_typed
from llm_conformance.replay.cell import Cell
from llm_conformance.rules.rule import Rule
from llm_conformance.rules.violation import Violation
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.wire.interaction import Mode
from llm_conformance.wording import command_line, counted, listed, printable

_LONGEST = 3000
_LONGEST_VALUE = 60


def failure_text(
    cell: Cell,
    rule: Rule,
    violation: Violation,
    options: Iterable[str] = (),
    example: Mapping[str, Any] | None = None,
    alike: Iterable[Rule] = (),
    missed: str | None = None,
) -> str:
    """Return the text of a failure, one labelled line for each fact.

    `options` are further options for the command that reproduces the failure. `example` maps labels to the details of a
    counterexample. `alike` has other rules that fail with the same message. `missed` is the place of the expected value
    in the library's own object, if it is there and the adapter may have missed it.
    """
    lines = [
        ("Requirement", f"{rule.id}: {rule.requirement}"),
        ("Harm", rule.harm),
        ("Expected", violation.expected),
        ("Actual", violation.actual),
        ("Hint", violation.hint),
        ("In native", missed and f"{missed} has the expected value; the adapter may have missed it"),
        ("Same for", ", ".join(each.id for each in alike)),
        ("Where", ", ".join(filter(None, (cell.scenario.id, cell.mode, cell.method, violation.where)))),
        ("Call", "; ".join(_call(cell))),
        ("Asked", "; ".join(_asked(cell.scenario, cell.mode, rule))),
        ("Scenario", f"{cell.scenario.title} ({'; '.join(_origin(cell.scenario))})"),
        *((_label(name), _of_example(value)) for name, value in (example or {}).items() if value is not None),
        ("Traceback", _shortened(violation.traceback or "")),
        ("Not kept", _NOT_KEPT if _is_lost(cell.scenario) else ""),
        ("Reproduce", reproduce_command(cell, rule, options)),
    ]
    return "\n".join(f"{label:<12} {text}" for label, text in lines if text)


def _call(cell: Cell) -> Iterator[str]:
    """Yield what the name of the scenario does not say about the call, and what the adapter declares."""
    scenario = cell.scenario
    yield f"{scenario.api}"
    yield f"model {scenario.model}"
    yield f"think profile {scenario.think_profile}"
    yield f"declared: {', '.join(sorted(cell.adapter.capabilities)) or 'nothing'}"


def _asked(scenario: Scenario, mode: Mode, rule: Rule) -> Iterator[str]:
    """Yield what the call has: parameters that not every call of the API has, tools, and earlier answers."""
    for name, value in scenario.params[mode].items():
        if name not in scenario.api.needed_params:
            yield f"{name}: {_in_short(value)}"
    if scenario.tools:
        yield counted(len(scenario.tools), "tool")
    for number, earlier in scenario.earlier.items():
        before = earlier.expected.get(mode) or next(iter(earlier.expected.values()))
        parts = [counted(len(before.tool_calls), "tool call")] if before.tool_calls else []
        parts += ["reasoning"] if before.reasoning else []
        about = f" (the earlier answer of {rule.id})" if rule.family == "RPL" else ""
        yield f"messages[{number}] is an answer with {listed(parts, 'and') or 'text'}{about}"


def _in_short(value: Any) -> str:
    text = in_one_line(plain(value))
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]} ..."


def _label(name: str) -> str:
    return "All expected" if name == "expected" else name.replace("_", " ").capitalize()


_NOT_KEPT = "there is no directory for it (pytest's cache); the next run may find another example"


def _is_lost(scenario: Scenario) -> bool:
    return scenario.provenance == "generated" and not scenario.path.is_file()


def _origin(scenario: Scenario) -> Iterator[str]:
    yield scenario.provenance
    if scenario.path.is_file():  # a generated example has no file if it was not kept
        yield str(scenario.path)


def _shortened(value: Any) -> str:
    text = "\n".join(map(printable, value.split("\n"))) if isinstance(value, str) else in_one_line(plain(value))
    short = (
        text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ... ({len(text)} characters; the report has all of them)"
    )
    return short.replace("\n", f"\n{'':<13}").rstrip()


def _of_example(value: Any) -> str:
    return "(empty)" if value == "" else _shortened(value)


def reproduce_command(cell: Cell, rule: Rule | None = None, more: Iterable[str] = ()) -> str:
    """Return the command that runs one cell, by one rule or by all rules, with `more` options."""
    options = (
        *_found_in(cell.scenario.cassette_dir),
        f"{as_typed('adapter')}={cell.adapter.spec}",
        f"{as_typed('scenario')}={glob.escape(cell.scenario.id)}",
        f"{as_typed('method')}={cell.method}",
        *([f"{as_typed('rule')}={rule.id}"] if rule else ()),
        *more,
    )
    return f"{COMMAND} {command_line(options)}"


def _found_in(cassette_dir: Path) -> Iterator[str]:
    """Yield the option that names the cassette directory, unless it is the suite's own."""
    if places.is_public(cassette_dir):
        yield f"{as_typed('corpus')}={places.PUBLIC}"
    elif cassette_dir != CASSETTES:
        yield f"{as_typed('cassettes')}={cassette_dir}"
