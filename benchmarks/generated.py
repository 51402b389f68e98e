"""What a generated example costs, compared with the parser alone.

    python benchmarks/generated.py [--examples N]

Draws examples of the theme `answers` for DeepSeek's streams, and gives them to the reference adapter. `parser` only
calls the adapter's method with a body; `drawn` only draws the example. `parse_stream` and `stream` (over the replay
server) do what a test does: draw an example, run its exchanges, judge them by every rule. Prints microseconds per
example, examples per second, and the ratio to `parser`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from adapters import ReferenceAdapters
from llm_conformance.adapter import loader
from llm_conformance.adapter.declarations import Method
from llm_conformance.judging.example_judge import ExampleJudge
from llm_conformance.locations import RULES
from llm_conformance.replay import cell
from llm_conformance.replay.runner import Runner
from llm_conformance.replay.server import ReplayServer
from llm_conformance.rules.catalogue import rules_in
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.draw import draw
from llm_conformance.themes.theme import THEMES
from llm_conformance.wire.providers.table import table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=300)
    examples_each = parser.parse_args().examples
    (reference,) = loader.load_all(["adapters"], Path.cwd())
    drawn = THEMES[0].scenarios(table()["deepseek", "chat"], "stream")
    runner = Runner(10, ReplayServer())
    rules = [rule for path in sorted(RULES.glob("test_*.py")) for _, rule in rules_in(path)]
    examples: list[Scenario] = []

    def judged(method: Method) -> Callable[[Scenario], bool]:
        judge = ExampleJudge(runner, rules)
        return lambda scenario: judge.is_wrong(cell.Cell(reference, scenario, "stream", method))

    def collected(scenario: Scenario) -> bool:
        examples.append(scenario)
        return False

    times = {"drawn": seconds(lambda: draw(drawn, collected, examples_each, seed=1))}
    call = runner.run(cell.Cell(reference, examples[0], "stream", "parse_stream")).call
    adapter = ReferenceAdapters()
    times["parser"] = seconds(
        lambda: [list(adapter.parse_stream([each.interactions["stream"].body], call)) for each in examples]
    )
    for method in ("parse_stream", "stream"):
        times[method] = seconds(lambda method=method: draw(drawn, judged(method), examples_each, seed=1))  # type: ignore[misc]
    for name in ("parser", "drawn", "parse_stream", "stream"):
        seconds_each = times[name] / len(examples)
        ratio = times[name] / times["parser"]
        print(f"{name:<13}{seconds_each * 1e6:7.0f} us {1 / seconds_each:8.0f} per second   x {ratio:.1f}")
    runner.close()


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
