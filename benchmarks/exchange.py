"""What one replayed exchange costs, compared with the same call replayed by vcrpy alone.

    python benchmarks/exchange.py [--rounds N]

DeepSeek's reference adapter makes the same plain call each time, with a new HTTP client. `vcrpy` loads the cassette and
plays it, as its decorator does. `server` and `vcr` are the suite's two transports: they build the call, replay the
response, build the outcome and judge it by every rule. `process` is `server` with the adapter in a process of its own.
`namespace` also has a network of its own. Prints the median microseconds of each and the ratios to `vcrpy`. Aim: 1.5 or
less.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import vcr

from adapters import ReferenceAdapters
from llm_conformance.adapter import loader
from llm_conformance.adapter.declarations import Isolation
from llm_conformance.calling.certificates import cheap_certificates
from llm_conformance.judging.judge import judge_exchange, known_without_running
from llm_conformance.locations import CASSETTES, RULES
from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.replay.vcr_transport import VcrTransport
from llm_conformance.rules.catalogue import rules_in
from llm_conformance.scenarios import lint
from llm_conformance.scenarios.load import cassette_path

SCENARIO = "deepseek/reasoning-beside-content"
ISOLATIONS: tuple[Isolation, ...] = ("process", "namespace")


def microseconds(action: Callable[[], object]) -> float:
    """Return how long one call of `action` takes."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    (scenario,) = (each for each in lint.load_all([CASSETTES]) if each.id == SCENARIO)
    (reference,) = loader.load_all(["adapters"], Path.cwd())
    cell = Cell(reference, scenario, "json", "complete")
    isolated = {name: loader.load("adapters", Path.cwd(), (), name) for name in ISOLATIONS}
    cells: dict[str, Cell] = {name: replace(cell, adapter=each) for name, each in isolated.items()}
    rules = [rule for path in sorted(RULES.glob("test_*.py")) for _, rule in rules_in(path)]
    judging = [rule for rule in rules if known_without_running(cell, rule) is None]
    runners = {name: Runner(10, ReplayServer()) for name in ("server", *ISOLATIONS)} | {
        "vcr": Runner(10, VcrTransport())
    }
    call = runners["vcr"].run(cell).call
    adapter = ReferenceAdapters()

    def bare() -> None:
        with cheap_certificates(), vcr.use_cassette(str(cassette_path(scenario.path)), record_mode="none"):
            adapter.complete(call)

    def ours(name: str) -> None:
        exchange = runners[name].run(cells.get(name, cell))
        for rule in judging:
            judge_exchange(rule, exchange)

    times: dict[str, list[float]] = {"vcrpy": [], **{name: [] for name in runners}}
    for _ in range(rounds):
        times["vcrpy"].append(microseconds(bare))
        for name in runners:
            times[name].append(microseconds(functools.partial(ours, name)))
    medians = {name: statistics.median(each) for name, each in times.items()}
    for name, median in medians.items():
        print(f"{name:<9} {median:7.0f} us   x {median / medians['vcrpy']:.2f}")
    for runner in runners.values():
        runner.close()
    for each in isolated.values():
        each.close()


if __name__ == "__main__":
    main()
