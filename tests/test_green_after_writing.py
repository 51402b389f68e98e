"""For broken adapters of all kinds: write the deviations, fill them in, and the next run is green.

Each sample has a random fault in `parse` and another one in `parse_stream`. Then one is repaired: the entries that are
stale are those that named only its failures.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from llm_conformance.judging import effort
from llm_conformance.reports import files
from tests import gated, inline
from tests.broken import BROKEN
from tests.broken.base import Broken, FaultyBody, FaultyDecoder, FaultyEvents, FaultyFraming, FaultyResponse
from tests.miniature import RULES

APIS = ("cerebras:chat", "zai:chat", "cohere:chat")
PLAIN = [each for each in BROKEN if issubclass(each, FaultyResponse | FaultyBody)]
STREAMED = [each for each in BROKEN if issubclass(each, FaultyEvents | FaultyDecoder | FaultyFraming)]

ADAPTER = """\
from adapters import ReferenceAdapters
from {plain.__module__} import {plain.__name__} as Plain
from {streamed.__module__} import {streamed.__name__} as Streamed


class Both(ReferenceAdapters):
    name = "both"
    complete = stream = None

    def __init__(self):
        super().__init__()
        self.providers = ["{api}"]
        self._plain, self._streamed = Plain(), Streamed()

    def parse(self, http, call):
        return self._plain.parse(http, call)

    def parse_stream(self, chunks, call):
        return self._streamed.parse_stream(chunks, call)


conformance_adapter = Both
"""
REPAIRED = "from adapters import ReferenceAdapters as Plain"
FEWER = 8
"""The examples of `ci` in these runs: its searches draw the same in every run, and these are enough."""


def run(pytester: pytest.Pytester, *options: str) -> tuple[int, dict[str, Any], str]:
    report = pytester.path / "report.json"
    fixed = ("-p", "no:cacheprovider", "-q", "--tb=no", "--conformance-examples=ci")
    done = inline.run(pytester, str(RULES), "--adapter=both.py", f"--conformance-report={report}", *fixed, *options)
    return int(done.ret), files.read(report), done.stdout.str()


def lines(report: dict[str, Any], status: str) -> set[int]:
    """Return the lines of the entries that have a deviation with a status."""
    return {each["line"] for each in report["deviations"] if each["status"] == status}


def sample(seed: int) -> tuple[type[Broken], type[Broken], str]:
    random = Random(seed)
    api = random.choice(APIS)
    plain = random.choice([each for each in PLAIN if api in each.apis and each().touches(api)])
    return plain, random.choice([each for each in STREAMED if api in each.apis and each().touches(api)]), api


SEEDS = (0, 5)
"""Samples in which both faults show, and no rule compares one with the other."""


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_run_after_writing_is_green_and_a_repair_makes_its_entries_stale(
    seed: int, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, streamed, api = sample(seed)
    monkeypatch.setattr(effort, "CI", FEWER)
    adapter, known = pytester.path / "both.py", pytester.path / "known.toml"
    source = ADAPTER.format(plain=plain, streamed=streamed, api=api)
    adapter.write_text(source, "utf-8")

    code, report, _ = run(pytester, f"--conformance-write-deviations={known}")
    assert code == 1
    assert report["summary"]["fail"]
    gated.fill_in(known)

    code, report, shown = run(pytester, f"--conformance-deviations={known}")
    assert code == 0, shown
    assert report["complete"]
    assert not lines(report, "stale")
    known_lines = lines(report, "expected")
    plural = "s" * (len(known_lines) != 1)
    assert f"OK: no failure that is not known; {len(known_lines)} known deviation{plural}\n" in shown
    at = [each["line"] for each in report["deviations"]]
    in_streams = {
        at[position]
        for each in report["results"]
        if each["status"] == "expected" and each["mode"] == "stream"
        for position in (each["deviation"], *each.get("further_deviations", ()))
    }

    line = next(line for line in source.splitlines() if line.endswith("as Plain"))
    adapter.write_text(source.replace(line, REPAIRED), "utf-8")
    code, report, shown = run(pytester, f"--conformance-deviations={known}")
    gone = set(at) - in_streams
    assert gone
    assert code == 1
    assert "fail" not in report["summary"], shown
    assert "OK: " not in shown
    assert set(at) - lines(report, "expected") == gone
    assert lines(report, "stale") >= gone
    assert all(f"known.toml:{line}: no cell fails; remove" in shown for line in gone)
