"""What was judged of an adapter: conversations, APIs and methods, and the capabilities that it does not declare.

The badge, the summary, the page, Markdown and JSON take these facts from here, so that all of them say the same. To
show another fact about a run, add it to the fields of `Judged` and to `Judged.reach`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from llm_conformance.adapter.declarations import CAPABILITIES, METHODS, AdapterUnderTest
from llm_conformance.judging.status import Status
from llm_conformance.reports.document import Document
from llm_conformance.reports.matrix import GENERATED, Matrix
from llm_conformance.wording import counted, listed

_EXPECTED = tuple(name for name in CAPABILITIES if name != "raw")
"""The capabilities that count as not declared if they are missing. `raw` does not, as no adapter has it by default."""

_METHODS = tuple(each for methods in METHODS.values() for each in methods)
_DECIDED = (Status.PASS, Status.STALE, Status.FAIL, Status.EXPECTED, Status.ERROR)
_ISOLATIONS = {
    "namespace": "in a process with a network of its own",
    "process": "in a process of its own",
    "none": "in the process of the suite",
}
_RECORDED = "recorded"
_NAMED = 3
"""If there are more APIs than this, reports count them and do not name them."""


@dataclass(frozen=True)
class Judged:
    """What was judged of one adapter.

    Attributes:
        adapter: Its name in the report.
        conversations: Maps a provenance to the number of judged conversations.
        unsupported: The number of conversations, without probes, that no rule could judge because the adapter does not
            or need not support them. None if the run did not keep enough verdicts to tell.
        apis: The APIs with judged conversations, as `provider:api`, sorted.
        methods: The methods that were judged, in the order of the contract.
        not_declared: The capabilities that it does not declare, without `raw`.
        isolation: Where the adapter ran, in the words of the option `isolation`: `namespace`, `process` or `none`; None
            if the report does not say.
    """

    adapter: str
    conversations: Mapping[str, int]
    unsupported: int | None
    apis: tuple[str, ...]
    methods: tuple[str, ...]
    not_declared: tuple[str, ...]
    isolation: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return these facts as JSON values."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @property
    def is_held_to_all(self) -> bool:
        """Whether the adapter declares all capabilities, so that all rules judge it."""
        return not self.not_declared

    @property
    def counts(self) -> str:
        """The conversations, as in `5 synthetic and 4 generated conversations`."""
        return _conversations(self.conversations)

    @property
    def reach(self) -> str:
        """What else was judged, in one line, as in `openai:chat through parse; not declared: audio`."""
        parts = [f"{self._apis} through {listed(self.methods, 'and')}"]
        if self.unsupported:
            parts.append(f"{counted(self.unsupported, 'conversation')} unsupported")
        if self.not_declared:
            parts.append(f"not declared: {', '.join(self.not_declared)}")
        if self.isolation is not None:
            parts.append(_ISOLATIONS[self.isolation])
        return "; ".join(parts)

    @property
    def sentence(self) -> str:
        """All of these facts in one line."""
        return f"{self.counts} of {self.reach}" if self.apis else self.counts

    @property
    def short(self) -> str:
        """All of these facts in a few words, for a badge. Generated conversations are left out."""
        count = sum(count for name, count in self.conversations.items() if name != GENERATED)
        recorded = f"{self.conversations.get(_RECORDED, 0):,} {_RECORDED}"
        methods = "all methods" if self.methods == _METHODS else ", ".join(self.methods)
        apis = self.apis[0] if len(self.apis) == 1 else self._count_of_apis
        parts = [apis, methods, f"{counted(count, 'conversation')} ({recorded})"]
        if self.not_declared:
            parts.append(f"{len(self.not_declared)} undeclared")
        return ", ".join(parts)

    @property
    def _apis(self) -> str:
        if len(self.apis) <= _NAMED:
            return listed(self.apis, "and")
        return self._count_of_apis

    @property
    def _count_of_apis(self) -> str:
        providers = sorted({api.partition(":")[0] for api in self.apis})
        return f"{len(self.apis)} APIs of {providers[0] if len(providers) == 1 else f'{len(providers)} providers'}"


def of_run(adapter: AdapterUnderTest, matrix: Matrix, methods: Collection[str]) -> Judged:
    """Return what a run judged of an adapter. The run need not have kept its verdicts.

    `methods` are those that the user selected; empty for all.
    """
    called = adapter.methods & set(methods) if methods else adapter.methods
    return _judged(adapter.label, adapter.capabilities, matrix, called, None, adapter.isolation)


def of_results(adapter: Document, rows: Iterable[Mapping[str, Any]], results: Iterable[Mapping[str, Any]]) -> Judged:
    """Return what was judged of an adapter of a report. `rows` are the `conversations` of the report."""
    called: set[str] = set()
    unsupported: set[tuple[str, str]] = set()
    decided: set[tuple[str, str]] = set()
    for each in results:
        if each["adapter"] != adapter["name"]:
            continue
        conversation = each["scenario"], each["mode"]
        if each["status"] in _DECIDED:
            called.add(each["method"])
            decided.add(conversation)
        elif each["status"] == Status.UNSUPPORTED and each["grounds"] != "probe":
            unsupported.add(conversation)
    matrix = Matrix(rows, adapter["name"])
    isolation = adapter.get("isolation")
    return _judged(adapter["name"], adapter["capabilities"], matrix, called, len(unsupported - decided), isolation)


def _judged(
    name: str,
    capabilities: Collection[str],
    matrix: Matrix,
    called: Collection[str],
    unsupported: int | None,
    isolation: str | None,
) -> Judged:
    return Judged(
        adapter=name,
        conversations={provenance: each.judged for provenance, each in matrix.by_provenance.items()},
        unsupported=unsupported,
        apis=tuple(matrix.apis),
        methods=tuple(each for each in _METHODS if each in called),
        not_declared=tuple(each for each in _EXPECTED if each not in capabilities),
        isolation=isolation,
    )


def read(document: Document, adapter: str) -> Judged:
    """Return what was judged of an adapter, as its report says."""
    found = next(each for each in document["judged"] if each["adapter"] == adapter)
    return Judged(
        adapter=adapter,
        conversations=found["conversations"],
        unsupported=found["unsupported"],
        apis=tuple(found["apis"]),
        methods=tuple(found["methods"]),
        not_declared=tuple(found["not_declared"]),
        isolation=found.get("isolation"),
    )


def _conversations(counts: Mapping[str, int]) -> str:
    named = listed([f"{count:,} {provenance}" for provenance, count in counts.items()], "and")
    return f"{named or 'no'} conversation{'' if Counter(counts).total() == 1 else 's'}"
