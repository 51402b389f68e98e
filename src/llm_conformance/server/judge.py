"""Rules times exchanges give verdicts."""

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
from llm_conformance.server.catalogue import rules_of
from llm_conformance.server.conversations import Conversation, conversation_of
from llm_conformance.server.exchange import Exchange, Key
from llm_conformance.server.plan import Target
from llm_conformance.server.recordings import Recording
from llm_conformance.server.rule import Rule
from llm_conformance.wire.interaction import MODES, Mode

METHODS = {"json": "complete", "stream": "stream"}
"""What known deviations call the modes as methods."""
_PROVIDER = "server"


@dataclass(frozen=True)
class Judgement:
    """What a run judged.

    Attributes:
        verdicts: One for each rule and exchange that it is about, and one for each that was not asked.
        edition: The edition to which the run is pinned.
        stale: The positions of the known deviations that name no failure.
    """

    verdicts: tuple[Verdict, ...]
    deviations: Deviations
    stale: tuple[int, ...]
    edition: str = editions.CURRENT


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

    All recordings may be compared with those that are judged.

    Known deviations turn failures into `expected`. One that names no failure is stale, if everything was judged. Other
    failures are `new` if the rule or the conversation is newer than `edition`.
    """
    api = APIS[target.api]
    siblings = {each.id: each for each in plan.selected(target.api, ())}
    order = list(siblings)
    kept = sorted(recordings, key=lambda each: (order.index(each.conversation), each.mode, each.number))
    run: dict[Key, Exchange] = {}
    for each in kept:
        key = (each.conversation, each.mode, each.number)
        run[key] = Exchange(siblings[each.conversation], each, api, target.claims, run)
    applied = [rule for rule in rules_of(target.api) if not rules or rule.id in rules]
    known = Deviations(tuple(deviations), {target.url: tuple(range(len(deviations)))})
    verdicts: list[Verdict] = []
    ids = {each.id for each in chosen}
    for exchange in (each for each in run.values() if each.conversation.id in ids and each.mode in modes):
        for rule in (each for each in applied if each.judges(exchange)):
            verdict = _known(known, _verdict(target, rule, exchange))
            verdicts.append(held_to(edition, verdict, rule.since, exchange.conversation.since))
    verdicts += (each for each in _not_asked(target, chosen, applied) if each.mode in modes)
    is_whole = not rules and len(chosen) == len(siblings) and len(modes) == len(MODES)
    stale = tuple(known.stale(_alive(known, verdicts))) if is_whole else ()
    return Judgement(tuple(verdicts), known, stale, edition)


def _known(known: Deviations, verdict: Verdict) -> Verdict:
    """Return the verdict with the deviations that name it. What is asked twice is known by one name."""
    return replace(known.apply(_under_one_name(verdict)), scenario=verdict.scenario)


def _alive(known: Deviations, verdicts: Iterable[Verdict]) -> set[int]:
    """Return the positions of the known deviations that name a failure, or that could not be judged.

    The latter name an answer that is blocked, or only such as give the rule nothing to judge: next time the model may
    make the call that it did not make now.
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
    return replace(verdict, scenario=conversation_of(verdict.scenario))


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
    return Verdict(
        adapter=target.url,
        rule=rule.id,
        scenario=f"{target.api}/{recording.label}",
        provider=_PROVIDER,
        api=target.api,
        mode=recording.mode,
        method=METHODS[recording.mode],
        status=status.value,
        message=message,
        provenance="recorded",
        cause=cause,
    )


def _not_asked(target: Target, chosen: Iterable[Conversation], rules: Sequence[Rule]) -> Iterator[Verdict]:
    for conversation in chosen:
        missing = [each for each in conversation.needs if each not in target.claims]
        if not missing:
            continue
        for mode in conversation.modes:
            nothing = Recording(conversation.id, mode, 1, "", {}, 0, {}, b"", (), "", 0)
            exchange = Exchange(conversation, nothing, APIS[target.api], target.claims, {})
            for rule in (each for each in rules if each.judges(exchange)):
                message = f"not asked; not claimed: {', '.join(missing)}"
                yield _made(target, rule, nothing, Status.UNSUPPORTED, message)
