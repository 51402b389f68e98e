"""Judge each exchange by each rule."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from llm_conformance import editions
from llm_conformance.judging.deviations import Deviation, Deviations
from llm_conformance.judging.status import Status
from llm_conformance.judging.verdict import Verdict, held_to
from llm_conformance.rules.violation import Blocked, Vacuous, Violation
from llm_conformance.server import plan
from llm_conformance.server.apis.known import APIS
from llm_conformance.server.catalogue import place as place_of_rule
from llm_conformance.server.catalogue import rules_of
from llm_conformance.server.conversations import Conversation, conversation_of
from llm_conformance.server.exchange import Exchange, Key
from llm_conformance.server.plan import Target
from llm_conformance.server.recordings import Recording
from llm_conformance.server.rule import Rule
from llm_conformance.wire.interaction import MODES, Mode

METHODS = {"json": "complete", "stream": "stream"}
"""Maps a mode to the method in its verdicts. Known deviations of servers name no method."""
_PROVIDER = "server"


@dataclass(frozen=True)
class Judgement:
    """What a run judged.

    Attributes:
        verdicts: A verdict for each rule and each exchange that the rule is about, including exchanges that were not
            asked.
        stale: The positions of the known deviations that name no failure.
        planned: The number of verdicts if everything that the claims allow is judged.
        edition: The edition to which the run is pinned.
    """

    verdicts: tuple[Verdict, ...]
    deviations: Deviations
    stale: tuple[int, ...]
    planned: int
    edition: str = editions.CURRENT

    @property
    def complete(self) -> bool:
        """Whether every rule was applied to every conversation."""
        return len(self.verdicts) == self.planned


def judge(
    target: Target,
    chosen: Sequence[Conversation],
    recordings: Iterable[Recording],
    rules: Collection[str] = (),
    deviations: Sequence[Deviation] = (),
    modes: Collection[Mode] = MODES,
    edition: str = editions.CURRENT,
) -> Judgement:
    """Judge the recordings of the chosen conversations by the rules with these ids, or by all rules.

    Rules may compare a judged recording with any other recording. Known deviations turn failures into `expected`. Other
    failures are `new` if the rule or the conversation is newer than `edition`. If everything was judged, a deviation
    that names no failure is stale.
    """
    api = APIS[target.api]
    siblings = {each.id: each for each in plan.selected(target.api, ())}
    kept = sorted(recordings, key=lambda each: plan.place(target.api, each.label, each.mode))
    run: dict[Key, Exchange] = {}
    for each in kept:
        key = (each.conversation, each.mode, each.number)
        run[key] = Exchange(siblings[each.conversation], each, api, target.claims, run)
    applied = [rule for rule in rules_of(target.api) if not rules or rule.id in rules]
    known = known_of(target.url, deviations)
    verdicts: list[Verdict] = []
    ids = {each.id for each in chosen}
    for exchange in (each for each in run.values() if each.conversation.id in ids and each.mode in modes):
        for rule in (each for each in applied if each.judges(exchange)):
            verdict = _known(known, _verdict(target, rule, exchange))
            verdicts.append(held_to(edition, verdict, rule.since, exchange.conversation.since))
    verdicts += (each for each in _not_asked(target, chosen, applied) if each.mode in modes)
    verdicts.sort(key=place)
    planned = _planned(target)
    stale = tuple(stale_of(known, verdicts)) if len(verdicts) == planned else ()
    return Judgement(tuple(verdicts), known, stale, planned, edition)


def place(verdict: Verdict) -> tuple[tuple[int, str, str], tuple[int, int]]:
    """Return the sort key of a verdict. Verdicts come by answers, in the order of the requests, then by rules."""
    return plan.place(verdict.api, verdict.scenario.partition("/")[2], verdict.mode), place_of_rule(verdict.rule)


def _planned(target: Target) -> int:
    """Return the number of verdicts on a server if everything that the claims allow is judged."""
    count = 0
    for conversation in plan.selected(target.api, ()):
        for mode in conversation.modes:
            exchange = _unanswered(target, conversation, mode)
            applied = sum(rule.judges(exchange) for rule in rules_of(target.api))
            count += applied * (plan.times(conversation, mode) if plan.is_claimed(conversation, target) else 1)
    return count


def known_of(url: str, deviations: Sequence[Deviation]) -> Deviations:
    """Return known deviations, all of which apply to the server at `url`."""
    return Deviations(tuple(deviations), {url: tuple(range(len(deviations)))})


def stale_of(known: Deviations, verdicts: Iterable[Verdict], seen: Collection[int] = ()) -> Iterator[int]:
    """Yield the positions of the stale deviations. `verdicts` must be all verdicts on a server.

    `seen` are the positions of deviations that are known to name a failure.
    """
    return known.stale({*_alive(known, verdicts), *seen})


def _known(known: Deviations, verdict: Verdict) -> Verdict:
    """Return the verdict with the deviations that name it. Repetitions (`#2`) have the name of their conversation."""
    return _named(known.apply(_under_one_name(verdict)), verdict.scenario)


def _alive(known: Deviations, verdicts: Iterable[Verdict]) -> set[int]:
    """Return the positions of the known deviations that name a failure, or that could not be judged.

    A deviation could not be judged if it names a blocked answer, or only answers that give the rule nothing to judge.
    In the next run, the model may make the call that it did not make now.
    """
    found: set[int] = set()
    silent: set[int] = set()
    judged: set[int] = set()
    for each in verdicts:
        if each.status == Status.EXPECTED:
            found.update(each.deviations)
            continue
        named = known.naming(_under_one_name(each))
        if each.status == Status.BLOCKED:
            found.update(named)
        elif each.status in (Status.VACUOUS, Status.UNSUPPORTED):
            silent.update(named)
        else:
            judged.update(named)
    return found | (silent - judged)


def _under_one_name(verdict: Verdict) -> Verdict:
    return _named(verdict, conversation_of(verdict.scenario))


def _named(verdict: Verdict, scenario: str) -> Verdict:
    """Return the verdict with this name of its scenario. Most have it already, and are not copied."""
    return verdict if verdict.scenario == scenario else replace(verdict, scenario=scenario)


def _verdict(target: Target, rule: Rule, exchange: Exchange) -> Verdict:
    missing = sorted(rule.needs - target.claims)
    if missing:
        return _made(target, rule, exchange.recording, Status.UNSUPPORTED, f"not claimed: {', '.join(missing)}")
    try:
        rule.check(exchange)
    except Violation as violation:
        message = f"{violation.where}: {violation}" if violation.where else str(violation)
        return _made(target, rule, exchange.recording, Status.FAIL, message, violation.cause)
    except Vacuous as vacuous:
        return _made(target, rule, exchange.recording, Status.VACUOUS, str(vacuous))
    except Blocked as blocked:
        return _made(target, rule, exchange.recording, Status.BLOCKED, str(blocked))
    return _made(target, rule, exchange.recording, Status.PASS, None)


def _made(
    target: Target, rule: Rule, recording: Recording, status: Status, message: str | None, cause: str | None = None
) -> Verdict:
    return made(target.url, target.api, rule.id, recording.label, recording.mode, status.value, message, cause)


def made(
    url: str,
    api: str,
    rule: str,
    label: str,
    mode: Mode,
    status: str,
    message: str | None,
    cause: str | None,
    deviation: int | None = None,
) -> Verdict:
    """Return the verdict of a rule on an answer of a server. `label` is the label of the recording."""
    return Verdict(
        adapter=url,
        rule=rule,
        scenario=f"{api}/{label}",
        provider=_PROVIDER,
        api=api,
        mode=mode,
        method=METHODS[mode],
        status=status,
        message=message,
        provenance="recorded",
        cause=cause,
        deviation=deviation,
    )


def _not_asked(target: Target, chosen: Iterable[Conversation], rules: Sequence[Rule]) -> Iterator[Verdict]:
    for conversation in chosen:
        missing = [each for each in conversation.needs if each not in target.claims]
        if not missing:
            continue
        for mode in conversation.modes:
            exchange = _unanswered(target, conversation, mode)
            for rule in (each for each in rules if each.judges(exchange)):
                message = f"not asked; not claimed: {', '.join(missing)}"
                yield _made(target, rule, exchange.recording, Status.UNSUPPORTED, message)


def _unanswered(target: Target, conversation: Conversation, mode: Mode) -> Exchange:
    nothing = Recording(conversation.id, mode, 1, "", {}, 0, {}, b"", (), "", 0)
    return Exchange(conversation, nothing, APIS[target.api], target.claims, {})
