"""The written file of known deviations: one entry for one fault, and the next run with it is green."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from llm_conformance.adapter.declarations import METHODS, AdapterUnderTest
from llm_conformance.judging import deviations, deviations_file
from llm_conformance.judging.deviations import Deviations
from llm_conformance.judging.effort import Effort
from llm_conformance.judging.known.globs import globs
from llm_conformance.judging.known.messages import stable_part, widest
from llm_conformance.judging.known.write import write
from llm_conformance.judging.verdict import Verdict
from llm_conformance.rules.catalogue import catalogue
from llm_conformance.rules.rule import Harm
from tests import gated

RULES: dict[str, Harm] = {
    "MSG-1": "leak",
    "MSG-2": "lost",
    "STR-1": "wrong",
    "USE-1": "wrong count",
    "PRV-1": "untraceable",
}
MODES: dict[str, str] = {method: mode for mode, methods in METHODS.items() for method in methods}
IDS = [f"openai/{name}" for name in ("a-1", "a-2", "a-3", "b-1", "generated-chat-answers", "generated-chat-usage")]
CAUSES = [
    "KeyError in mypkg/decode.py:31 decode",
    "KeyError in mypkg/decode.py:77 usage",
    "ValueError in mypkg/decode.py:31 decode",
    'expected the message "…"; got "…"',
    'expected the message "…"; got ""',
    "expected N tokens; got N",
    "expected N tokens; got null",
    'expected finish_reason "stop"; got null',
    'expected finish_reason "length"; got null',
]


def verdict(rule: str, scenario: str, method: str, status: str, cause: str | None = None, **more: Any) -> Verdict:
    message = None if cause is None else cause.replace("…", "x").replace("N", "7")
    where = ("mypkg", rule, scenario, "openai", "chat", MODES[method], method)
    return Verdict(*where, status, message, "synthetic", cause=cause, **more)


def adapter(name: str = "mypkg") -> AdapterUnderTest:
    nothing: frozenset[str] = frozenset()
    return AdapterUnderTest(f"{name}.py", name, name, None, "1.0", nothing, nothing, frozenset({"parse"}))


def written(
    path: Path, verdicts: Sequence[Verdict], known: Deviations | None = None, stale: Collection[int] = ()
) -> Deviations:
    """Write a file, fill it in and load it."""
    path.unlink(missing_ok=True)
    write(path, verdicts, known or Deviations(), stale, [adapter()], RULES, IDS, Effort.named("ci"))
    gated.fill_in(path)
    return deviations.for_run(deviations_file.load(path, RULES, IDS), [adapter()], (), Effort.named("ci"))


def failures(cause: str, rules: Collection[str], scenarios: Collection[str]) -> list[Verdict]:
    return [verdict(rule, scenario, "parse", "fail", cause) for rule in rules for scenario in scenarios]


def test_a_fault_that_several_rules_find_is_one_entry(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    known = written(path, failures(CAUSES[0], ["MSG-2", "MSG-1"], IDS[:3]) + failures(CAUSES[5], ["STR-1"], IDS[:2]))
    assert path.read_text("utf-8").partition("\n\n")[2] == (
        "[[deviation]]\n"
        f"# leak: {catalogue()['MSG-1'].noticed}\n"
        "# MSG-1 in openai/a-1, parse: KeyError in mypkg/decode.py:31 decode\n"
        "# STR-1 in openai/a-1, parse: expected 7 tokens; got 7\n"
        'rule = ["MSG-1", "MSG-2", "STR-1"]\n'
        'scenario = "openai/a-*"\n'
        'message = ["KeyError in mypkg/decode.py", "expected N tokens; got N"]\n'
        'reason = "not mapped yet"\n'
        'link = "https://example.com/7"\n'
    )
    assert len(known.by_entry) == 1


def test_different_causes_of_a_rule_are_different_entries_and_the_worst_harm_is_first(tmp_path: Path) -> None:
    verdicts = failures(CAUSES[5], ["USE-1"], IDS[4:]) + failures(CAUSES[0], ["MSG-2"], IDS[2:4])
    verdicts += failures(CAUSES[2], ["MSG-2"], IDS[:2])
    known = written(tmp_path / "new.toml", verdicts)
    assert [known.listed[at].rule for at, *_ in known.by_entry.values()] == ["MSG-2", "MSG-2", "USE-1"]


def test_values_that_are_lost_are_one_entry(tmp_path: Path) -> None:
    lost = failures(CAUSES[7], ["MSG-2"], IDS[:2]) + failures(CAUSES[8], ["MSG-2"], IDS[2:4])
    written(tmp_path / "new.toml", lost)
    text = (tmp_path / "new.toml").read_text("utf-8")
    assert text.count("\n[[deviation]]\n") == 1
    assert f"message = ['{CAUSES[8]}', '{CAUSES[7]}']" in text


def test_lost_counts_are_one_entry_each(tmp_path: Path) -> None:
    """An entry for both counts would name a scenario that has both, even if it loses the other one later."""
    lost = [f"expected {count} N; got {count} null" for count in ("cached_tokens", "reasoning_tokens")]
    known = written(
        tmp_path / "new.toml", failures(lost[0], ["MSG-2"], IDS[:2]) + failures(lost[1], ["MSG-2"], IDS[2:4])
    )
    (other,) = failures(lost[1], ["MSG-2"], IDS[:1])
    assert not any(each.names(other) for each in known.listed)


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ('expected a finish_reason ("length" or "stop"); got null', [True, True]),
        ('expected a finish_reason ("length" or "content_filter"); got null', [False, True]),
        ("expected a finish_reason; got null", [True, True]),
    ],
)
def test_the_message_or_cause_of_a_finding_names_what_it_joins(tmp_path: Path, message: str, named: list[bool]) -> None:
    path = tmp_path / "known.toml"
    path.write_text(
        f'[[deviation]]\nrule = "MSG-2"\nscenario = "openai/a-*"\nmessage = \'{message}\'\n'
        'reason = "none is read"\nlink = "https://example.com/issues/7"\n'
    )
    (known,) = deviations_file.load(path, RULES, IDS)
    names = [known.names(each) for cause in CAUSES for each in failures(cause, ["MSG-2"], IDS[:1])]
    assert names == [*[False] * 7, *named]


def test_a_rare_failure_does_not_join_one_that_is_everywhere(tmp_path: Path) -> None:
    verdicts = failures(CAUSES[5], ["PRV-1"], IDS) + failures(CAUSES[3], ["MSG-2"], IDS[:1])
    assert len(written(tmp_path / "new.toml", verdicts).by_entry) == 2
    passing = [replace(each, rule="MSG-2", scenario="openai/c-1", status="pass") for each in verdicts[:1]]
    verdicts = failures(CAUSES[5], ["PRV-1"], IDS[:5]) + failures(CAUSES[3], ["MSG-2"], IDS[:1]) + passing
    assert len(written(tmp_path / "new.toml", verdicts).by_entry) == 1


def test_entries_that_still_apply_are_kept_without_what_is_stale(tmp_path: Path) -> None:
    known = written(tmp_path / "old.toml", failures(CAUSES[0], ["MSG-1", "MSG-2"], IDS[:2]))
    gone = [at for at, each in enumerate(known.listed) if each.rule == "MSG-1"]
    new = failures(CAUSES[5], ["USE-1"], IDS[:2])
    again = written(tmp_path / "new.toml", new, known, gone)
    assert [(each.rule, each.scenario) for each in again.listed] == [
        *(("MSG-2", id) for id in IDS[:2]),
        *(("USE-1", id) for id in IDS[:2]),
    ]


def test_what_an_entry_says_of_a_deviation_is_kept(tmp_path: Path) -> None:
    known = written(tmp_path / "old.toml", failures(CAUSES[0], ["MSG-1"], IDS[:1]))
    said: dict[str, Any] = {
        "link": "a.md",
        "judgement": "arguable",
        "argument": "nobody asks for it",
        "reproduction": "a.py",
        "harm": "late",
        "sometimes": True,
    }
    told = replace(known, listed=tuple(replace(each, **said) for each in known.listed))
    for name in ("a.md", "a.py"):
        (tmp_path / name).write_text("", "utf-8")
    (again,) = written(tmp_path / "new.toml", [], told).listed
    assert {name: getattr(again, name) for name in said} == said


def test_a_file_for_several_adapters_names_them(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    both = [adapter(), adapter("other")]
    write(path, failures(CAUSES[0], ["MSG-1"], IDS[:1]), Deviations(), (), both, RULES, IDS, Effort.named("ci"))
    assert 'adapter = "mypkg"' in path.read_text("utf-8")


def any_run(random: Random) -> Iterator[Verdict]:
    statuses = ["pass", "pass", "vacuous", "blocked", "unsupported", *random.sample(CAUSES, random.randint(1, 7))]
    for rule, scenario, method in itertools.product(RULES, IDS, MODES):
        status = random.choice(statuses)
        if status not in CAUSES:
            yield verdict(rule, scenario, method, status)
            continue
        others = random.sample(CAUSES, random.randint(0, 2)) if "generated" in scenario else ()
        more = tuple({"message": "other", "cause": each} for each in others)
        yield verdict(rule, scenario, method, "fail", status, other_failures=more)


@pytest.mark.parametrize("seed", range(30))
def test_whatever_fails_the_file_names_it_and_nothing_that_passes(seed: int, tmp_path: Path) -> None:
    run = list(any_run(Random(seed)))
    known = written(tmp_path / "new.toml", run)
    borne_out: set[int] = set()
    for each in run:
        if each.status == "pass":
            assert not known.naming(each)
        elif each.status == "fail":
            for cause in (each.cause, *(other["cause"] for other in each.other_failures)):
                applied = known.apply(replace(each, cause=cause, message=None))
                assert applied.status == "expected"
                borne_out |= {applied.deviation or 0, *applied.further_deviations}
    assert list(known.stale(borne_out)) == []


@pytest.mark.parametrize(
    ("cause", "part"),
    [
        ("KeyError in decode.py:31 decode", "KeyError in decode.py"),
        ("KeyError in src/mypkg/decode.py:31 decode", "KeyError in …mypkg/decode.py"),
        ('expected the message "…"; got "…"', 'expected the message "…"; got "…"'),
        (f"expected {'many words ' * 30}", " ".join(["expected", *["many words"] * 13, "many"])),
    ],
)
def test_a_message_is_the_part_of_a_cause_that_later_runs_have_too(cause: str, part: str) -> None:
    assert stable_part(cause) == part


def test_a_part_that_another_contains_stands_for_both() -> None:
    assert widest(['got ""', 'got "…"', "got N", 'expected N; got ""']) == {
        'got ""': 'got "…"',
        'got "…"': 'got "…"',
        "got N": "got N",
        'expected N; got ""': 'got "…"',
    }


def test_globs_match_exactly_the_wanted_ids() -> None:
    ids = [*IDS, "groq/a-1", "groq/a-2", "groq/a-3", "groq/generated-chat-usage", "groq/generated-chat-statuses"]
    assert globs(ids[:3], ids) == ["openai/a-*"]
    assert globs(ids[:4], ids) == ["openai/*"]
    assert globs(ids[:2], ids) == ["openai/a-1", "openai/a-2"]
    assert globs([*ids[:6]], ids) == ["openai/*", "openai/generated-chat-answers", "openai/generated-chat-usage"]
    assert globs(["groq/generated-chat-usage", "bare/file#1"], ids) == ["bare/file#1", "groq/generated-chat-usage"]
    more = [f"groq/generated-{name}" for name in ("usage", "answers", "statuses")]
    assert globs(more, more) == ["groq/generated-*"]


@pytest.mark.parametrize(
    ("before", "examples", "after"),
    [
        (None, "quick", "quick"),
        (None, "300", "300"),
        ("quick", "ci", "ci"),
        ("ci", "quick", "ci"),
        ("deep", "ci", "deep"),
        ("ci", "0", "ci"),
    ],
)
def test_a_file_says_what_has_to_be_drawn_to_find_its_failures(
    before: str | None, examples: str, after: str, tmp_path: Path
) -> None:
    path = tmp_path / "new.toml"
    known = Deviations()
    if before is not None:
        write(path, failures(CAUSES[0], ["MSG-1"], IDS[-1:]), known, (), [adapter()], RULES, IDS, Effort.named(before))
        gated.fill_in(path)
        known = deviations.for_run(deviations_file.load(path, RULES, IDS), [adapter()], (), Effort.named("ci"))
        path.unlink()
    write(path, [], known, (), [adapter()], RULES, IDS, Effort.named(examples))
    assert f'\nexamples = "{after}" #' in path.read_text("utf-8")
