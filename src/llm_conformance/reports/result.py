"""The result of a run, and the JSON report that is made from it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from llm_conformance import __version__, secrets
from llm_conformance.adapter.declarations import AdapterUnderTest
from llm_conformance.judging.deviations import Deviations
from llm_conformance.judging.status import Status
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import ALIKE
from llm_conformance.reports import conversations, counterexamples, judged
from llm_conformance.reports.document import Document, Streamed
from llm_conformance.reports.findings import findings


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Attributes:
        stale: The positions of the stale deviations.
        methods: The methods that the user selected; empty for all.
        all_scenarios: The number of scenarios, without bare recordings.
        scenarios: The number of scenarios that the filters select.
        not_covered: Maps the label of an adapter to the number of selected scenarios of providers that it does not
            list.
        examples: The number of generated examples for each property.
        effort: The value of `--examples`: `quick`, `ci`, `deep` or a number.
        planned: The number of test items in all shards of the run.
        probes: How probes are judged: `judge` (like all other scenarios) or `apart`.
        restricted: Whether the user selected a part of the suite.
        partial: The reasons why the run does not show that an adapter conforms; empty if it is complete.
    """

    adapters: tuple[AdapterUnderTest, ...]
    scenarios_digest: str
    tally: Tally
    deviations: Deviations
    stale: frozenset[int]
    methods: tuple[str, ...]
    all_scenarios: int
    scenarios: int
    not_covered: Mapping[str, int]
    examples: int
    effort: str
    planned: int
    edition: str
    transport: str
    probes: Literal["apart", "judge"]
    restricted: bool
    partial: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether the run can show that an adapter conforms; `partial` says why not."""
        return not self.partial


def document(result: Result) -> Document:
    """Return the JSON report. Quiet results are grouped (`grouping`)."""
    tally = result.tally
    results = Streamed(lambda: _results(tally), len(tally.verdicts) + len(tally.quiet))
    names = sorted(tally.exchanges)
    rows = conversations.counts(tally.conversations)
    adapters = [
        {
            "spec": adapter.spec,
            "name": adapter.label,
            "version": adapter.version,
            "providers": sorted(adapter.providers),
            "capabilities": sorted(adapter.capabilities),
            "isolation": adapter.isolation,
            "not_covered": result.not_covered[adapter.label],
        }
        for adapter in result.adapters
    ]
    return {
        "suite": {
            "name": "llm-conformance",
            "version": __version__,
            "scenarios_digest": result.scenarios_digest,
            "scenarios": result.all_scenarios,
        },
        "adapters": adapters,
        "judged": [judged.of_results(each, rows, results).to_dict() for each in adapters],
        "findings": [each.to_dict() for each in findings(results)],
        "conversations": rows,
        "results": results,
        "not_asked": list(_not_asked(tally)),
        "excluded_inputs": list(_excluded(result)),
        "exchanges": Streamed(lambda: (dict(tally.exchanges[name]) for name in names), len(names)),
        "counterexamples": counterexamples.listed(tally.counterexamples),
        "deviations": list(_deviations(result)),
        "summary": {status: count for status, count in sorted(tally.summary.items()) if count},
        "bare_recordings": {
            "seen": tally.recordings,
            "asked": dict(sorted(tally.asked.items())),
            "cannot_be_asked": {
                adapter: {secrets.hide(reason): count for reason, count in sorted(reasons.items())}
                for adapter, reasons in sorted(tally.cannot_be_asked.items())
            },
            "out_of_scope": dict(sorted(tally.out_of_scope.items())),
            "not_covered": {adapter: places.total() for adapter, places in sorted(tally.not_covered.items())},
            "not_covered_at": {
                adapter: dict(sorted(places.items())) for adapter, places in sorted(tally.not_covered.items())
            },
            "other_files": dict(sorted(tally.other_files.items())),
            "bad_files": sorted(tally.bad_files),
        },
        "examples": result.examples,
        "effort": result.effort,
        "items": {
            "planned": result.planned,
            "done": tally.items,
            "restricted": result.restricted,
            "faults": tally.faults,
        },
        "edition": result.edition,
        "transport": result.transport,
        "probes": result.probes,
        "finished": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "complete": result.complete,
        "partial": [secrets.hide(each) for each in result.partial],
    }


def _excluded(result: Result) -> Iterator[Document]:
    reasons = {each.label: each.excluded_inputs for each in result.adapters}
    for (adapter, api, way), count in sorted(result.tally.excluded.items()):
        provider, _, name = api.partition(":")
        reason = secrets.hide(reasons[adapter][way])
        yield {"adapter": adapter, "provider": provider, "api": name, "way": way, "reason": reason, "examples": count}


def _not_asked(tally: Tally) -> Iterator[Document]:
    for (adapter, api, method, cause), missed in sorted(tally.not_asked.items()):
        provider, _, name = api.partition(":")
        yield {
            "adapter": adapter,
            "provider": provider,
            "api": name,
            "method": method,
            "cause": cause,
            "conversations": len(missed),
        }


def _results(tally: Tally) -> Iterator[Document]:
    hide = functools.cache(secrets.hider())
    for verdict in tally.verdicts:
        result = verdict.to_dict()
        yield result | {name: hide(result[name]) for name in ("message", "cause") if result.get(name)}
    for alike, rules in tally.quiet.items():
        shared = dict(zip(ALIKE, alike, strict=True))
        if shared["message"]:
            shared["message"] = hide(shared["message"])
        if shared["think_profile"] is None:
            del shared["think_profile"]
        yield {"rules": list(rules), **shared}


def _deviations(result: Result) -> Iterator[Document]:
    applying = {at for positions in result.deviations.by_adapter.values() for at in positions}
    for at, each in enumerate(result.deviations.to_dicts()):
        if at in result.tally.borne_out:
            status = Status.EXPECTED.value
        elif at in result.stale:
            status = Status.STALE.value
        else:
            status = "not seen" if at in applying else "for others"
        decides = result.deviations.decides(at) and at not in result.tally.undecided
        yield {**each, "status": status, "decides": decides}
