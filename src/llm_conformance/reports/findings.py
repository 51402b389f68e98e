"""Findings: the failures of a run, grouped by what causes them.

One cause may break several rules in many scenarios. A finding has the failures of one rule with one cause (see
`causes`). If the cause is an exception, the finding has the failures of all rules with this exception. If a rule fails
only where rules with a worse harm fail, it has no finding of its own: their findings name it under `also`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llm_conformance.judging.causes import WHOLE, cause_of, each_fault, is_unmapped, kinds_of, message_of
from llm_conformance.judging.status import Status
from llm_conformance.rules.catalogue import FAMILIES, catalogue
from llm_conformance.rules.rule import HARMS, Harm
from llm_conformance.rules.segments import REPEATS_OTHERS

Result = Mapping[str, Any]
"""An entry of `results` in the JSON report."""

Exchange = tuple[str, str, str, str]
"""(scenario, mode, method, id of the generated input)"""

Key = tuple[str, str]
"""(rule, cause); the rule is "" if the cause is an exception."""

PROVENANCES = ("recorded", "transcribed", "edited", "synthetic", "generated")
"""All provenances, the best evidence first."""

_WRONG = (Status.FAIL.value, Status.EXPECTED.value)
_OF_A_FAILURE = ("example", "command", "think_profile", "traceback", "missed", "other_failures")
_ONLY_ZEROS = re.compile(r"expected \w+_tokens 0(, \w+_tokens 0)*; ")
"""How the message of a failure begins that only names counts of nothing. An example with a real count says more."""
_FURTHER = "further"
_EXAMPLES = 3
_IN_EXAMPLES = ("scenario", "provider", "api", "mode", "method", "provenance", "think_profile", "message", "command")


@dataclass(frozen=True)
class Finding:
    """Failures of one adapter with the same cause.

    Attributes:
        status: `fail`, or `expected` if known deviations name the failures.
        rule: The rule that fails. If several rules report the same exception, the rule with the worst harm.
        also: The rules of less harm that fail only in the same exchanges, or because of the same exception. RSN-3 is
            among them if it fails in these exchanges, because segments repeat other fields.
        also_messages: Maps a rule under `also` to the message of one of its failures, if that says something that the
            message of the finding does not say.
        harm: What a user of the adapter suffers.
        cause: The cause that the failures share.
        kinds: The finish reasons, token counts or classes of errors that the failures are about, if the cause leaves
            them out. Sorted.
        message: The message of the first example. If there are several kinds, a message that names all of them.
        conversations: The number of conversations (scenario and mode) with a failure of the finding. If the cause is an
            exception, these are also failures of rules under `also`.
        cells: The number of failing cells of the finding, including those of rules under `also`. A search of
            generated inputs gives one cell for each rule, even if it finds several causes of failure. A cell that names
            both lost and wrong token counts counts for the finding of the lost ones.
        provenance: Maps a provenance to its number of conversations.
        apis: Where it fails, as `provider:api`.
        methods: The methods that fail.
        think_profiles: The think profiles of the conversations, without `off`.
        examples: Up to three failures, each with scenario, mode, method, message, the unusual ways of a generated
            input, and the command that reproduces it.
        traceback: The traceback of the first example, shortened; None if its failure is no exception.
        missed: Where the library's own object has an expected value that the response lacks, in one of the examples;
            None if nowhere.
    """

    adapter: str
    status: str
    rule: str
    also: tuple[str, ...]
    harm: Harm
    cause: str
    message: str
    conversations: int
    cells: int
    provenance: Mapping[str, int]
    apis: tuple[str, ...]
    methods: tuple[str, ...]
    think_profiles: tuple[str, ...]
    examples: tuple[Mapping[str, Any], ...]
    traceback: str | None = None
    missed: str | None = None
    also_messages: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()

    @property
    def valid_because(self) -> str | None:
        """What is unusual in the first example, with the sources for it; None if it is not generated."""
        why: str | None = self.examples[0].get("valid_because")
        return why

    @property
    def command(self) -> str | None:
        """The command that reproduces the first example for which there is one."""
        return next((each["command"] for each in self.examples if each.get("command")), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        return {name: value for name, value in values.items() if value is not None}


def findings(results: Iterable[Result]) -> list[Finding]:
    """Return the findings of all adapters, sorted: unknown ones first, then the worst harm, then the most frequent.

    Findings with only generated inputs come after those with scenarios.

    `results` may be all results of a report. Only failures and known deviations are read.
    """
    failures: dict[tuple[str, str], list[Result]] = {}
    for each in results:
        if each["status"] in _WRONG:
            failures.setdefault((each["adapter"], each["status"]), []).extend(_each_cause(each))
    found = [finding for alike in failures.values() for finding in _of(alike)]
    return sorted(found, key=_order)


def _each_cause(result: Result) -> Iterator[Result]:
    """Yield a result once for each of its causes, and for each further cause that its search found."""
    shared = {name: value for name, value in result.items() if name not in _OF_A_FAILURE}
    found = [result, *({**shared, **further} for further in result.get("other_failures", ()))]
    first, *others = (fault for each in found for fault in each_fault(each))
    yield first
    yield from ({**each, _FURTHER: True} for each in others)


def _order(finding: Finding) -> tuple[Any, ...]:
    harm, is_drawn = HARMS.index(finding.harm), set(finding.provenance) == {"generated"}
    return _WRONG.index(finding.status), is_drawn, harm, -finding.conversations, _rank(finding.rule), finding.cause


def _of(failures: Iterable[Result]) -> Iterator[Finding]:
    """Yield the findings in the failures of one adapter with one status."""
    by_cause: dict[Key, list[Result]] = {}
    for each in failures:
        by_cause.setdefault(_key(each), []).append(each)
    rule = {key: min((each["rule"] for each in alike), key=_of_a_call) for key, alike in by_cause.items()}
    worst_first = sorted(by_cause, key=lambda key: (_rank(rule[key], bool(key[0])), -len(by_cause[key]), key))
    worst: dict[Exchange, Key] = {}
    heads: dict[Key, Key] = {}
    cells: Counter[Key] = Counter()
    also: dict[Key, dict[str, str]] = {}
    for key in worst_first:
        beside = [_other_head(each, worst, rule) or _head_beside(each, heads) for each in by_cause[key]]
        folds = all(beside) or rule[key] == REPEATS_OTHERS
        alike = []
        for each, head in zip(by_cause[key], beside, strict=True):
            if head is None or not folds:
                alike.append(each)
                continue
            heads.setdefault(key, head)
            cells[head] += _FURTHER not in each
            also[head].setdefault(each["rule"], each.get(WHOLE) or each["message"] or "")
        if not alike:
            continue
        by_cause[key], heads[key] = alike, key
        cells[key] += sum(_FURTHER not in each for each in alike)
        also[key] = {each["rule"]: each["message"] or "" for each in reversed(alike)}
        for each in alike:
            worst.setdefault(_exchange(each), key)
    for key, messages in also.items():
        others = {each: messages[each] for each in sorted(messages, key=_rank) if each != rule[key]}
        yield _finding(rule[key], others, by_cause[key], cells[key])


def _other_head(result: Result, worst: Mapping[Exchange, Key], rule: Mapping[Key, str]) -> Key | None:
    """Return the finding of another rule that has the worst failure of an exchange; None if there is none."""
    head = worst.get(_exchange(result))
    return None if head is None or rule[head] == result["rule"] else head


def _head_beside(result: Result, heads: Mapping[Key, Key]) -> Key | None:
    """Return the finding that a failure of the rule about segments only repeats; None if there is none."""
    beside = (result.get("example") or {}).get("beside", ()) if result["rule"] == REPEATS_OTHERS else ()
    return next((heads[rule, cause] for rule, cause in beside if (rule, cause) in heads), None)


def _of_a_call(rule: str) -> tuple[Any, ...]:
    """Return a sort key that puts the rules that report a failed call first."""
    return rule.partition("-")[0] not in ("SHP", "ERR"), *_rank(rule)


def _key(result: Result) -> Key:
    """Return the key that the results of a finding share. All rules that report one exception have the same cause."""
    return "" if result.get("traceback") else result["rule"], cause_of(result).text


def _finding(rule: str, also: Mapping[str, str], failures: Sequence[Result], cells: int) -> Finding:
    examples = list(_examples(each for each in failures if each["rule"] == rule))
    first = examples[0]
    conversations = {(each["scenario"], each["mode"]): each["provenance"] for each in failures}
    provenance = Counter(conversations.values())
    causes = [cause_of(each) for each in failures]
    cause, message = cause_of(first).text, message_of(first, causes)
    return Finding(
        adapter=first["adapter"],
        status=first["status"],
        rule=rule,
        also=tuple(also),
        harm=harm_of(rule),
        cause=cause,
        kinds=kinds_of(causes),
        message=message,
        conversations=len(conversations),
        cells=cells,
        provenance={each: provenance[each] for each in PROVENANCES if each in provenance},
        apis=tuple(sorted({f"{each['provider']}:{each['api']}" for each in failures})),
        methods=tuple(sorted({each["method"] for each in failures})),
        think_profiles=tuple(sorted({each["think_profile"] for each in failures if each.get("think_profile")})),
        examples=tuple(_shown(each, cause) for each in examples),
        traceback=first.get("traceback"),
        also_messages={other: text for other, text in also.items() if not _repeats(text, message)},
        missed=next((each["missed"] for each in failures if each.get("missed")), None),
    )


def _repeats(text: str, message: str) -> bool:
    """Return True if a message says nothing that the message of the finding does not say."""
    return text == message or (is_unmapped(text) and is_unmapped(message))


def _shown(example: Result, cause: str) -> Result:
    """Return what a finding tells of an example; with the example's own cause, if that is not the finding's."""
    why = (example.get("example") or {}).get("valid_because")
    shown = {name: example[name] for name in _IN_EXAMPLES if name in example}
    shown |= {"valid_because": why} if why else {}
    return shown | ({"cause": example["cause"]} if example.get("cause") not in (None, cause) else {})


def _examples(failures: Iterable[Result]) -> Iterator[Result]:
    """Yield a few failures, of different APIs if possible.

    Scenarios come first, then failures with counts above 0, then recordings, then short messages.
    """

    def order(failure: Result) -> tuple[bool, bool, int, int]:
        message, provenance = failure["message"] or "", failure["provenance"]
        says_little = _ONLY_ZEROS.match(message) is not None
        return provenance == "generated", says_little, PROVENANCES.index(provenance), len(message)

    left = sorted(failures, key=order)
    seen: set[tuple[str, str]] = set()
    scenarios: set[str] = set()
    for _ in range(_EXAMPLES):
        left = [each for each in left if each["scenario"] not in scenarios]
        chosen = next((each for each in left if (each["provider"], each["api"]) not in seen), next(iter(left), None))
        if chosen is None:
            return
        seen.add((chosen["provider"], chosen["api"]))
        scenarios.add(chosen["scenario"])
        yield chosen


def _exchange(result: Result) -> Exchange:
    """Return the exchange of a result. Each input that a search found is an exchange of its own."""
    example = result.get("example") or {}
    drawn = example.get("id") or "" if result["provenance"] == "generated" else ""
    return result["scenario"], result["mode"], result["method"], drawn


def harm_of(rule: str) -> Harm:
    """Return the harm of a rule; the last of `HARMS` for a rule that only another version of the suite has."""
    entry = catalogue().get(rule)
    return HARMS[-1] if entry is None else entry.rule.harm


def _rank(rule: str, has_answer: bool = False) -> tuple[int, bool, int, int]:
    """Return a sort key that puts the most telling rule first: the worst harm, then the order of families.

    Some rules come last within their harm. The rules about segments do, because segments repeat the faults of other
    fields. If there is an answer, the rule about the shape does, because a fault in the content says more.
    """
    family, _, number = rule.partition("-")
    place = FAMILIES.index(family) if family in FAMILIES else len(FAMILIES)
    entry = catalogue().get(rule)
    says_less = (entry is not None and entry.rule.capability == "segments") or (has_answer and family == "SHP")
    return HARMS.index(harm_of(rule)), says_less, place, int(number)
