"""What a run writes to the terminal: progress, findings, a matrix; pytest's own output if the user asks for it."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from llm_conformance.judging.deviations import Deviation, Deviations
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import Verdict
from llm_conformance.pytest_plugin import finding_text, summary
from llm_conformance.reports import conversations
from llm_conformance.reports.findings import findings
from llm_conformance.reports.matrix import Matrix
from llm_conformance.rules.exchange import UNMAPPED
from tests import inline, miniature
from tests.test_findings import failure

WRONG = """
from dataclasses import replace

from adapters import ReferenceAdapters


class conformance_adapter(ReferenceAdapters):
    name = "wrong"

    def parse(self, http, call):
        return replace(super().parse(http, call), message="Nine.", id="another")
"""


def run(pytester: pytest.Pytester, *options: str, code: str = WRONG) -> pytest.RunResult:
    """Judge an adapter by the miniature scenario."""
    (pytester.path / "wrong.py").write_text(code, "utf-8")
    if not (pytester.path / "own").exists():
        miniature.write(pytester.path / "own")
    arguments = ("--adapter=wrong", "--conformance-cassettes=own", "--conformance-scenario=mini/*")
    return inline.run(pytester, *arguments, "--conformance-examples=0", str(miniature.RULES), *options)


@pytest.mark.parametrize("processes", inline.WORKERS)
def test_a_run_shows_findings_and_no_line_for_each_cell(pytester: pytest.Pytester, processes: tuple[str, ...]) -> None:
    result = run(pytester, *processes)
    result.stdout.fnmatch_lines(
        [
            "* judged, * failing*",
            "*= llm-conformance *",
            "wrong*: 1 finding",
            "1. lost: MSG-2 (also PRV-1) in 1 of 2 generated, deepseek:chat, parse*",
            '    expected the message of 6 code points: "Eight."; got *',
            "    *mini/spider*",
            "    pytest * --conformance-rule=MSG-2",
            "conversations right *generated*",
            "deepseek:chat *1/2*",
            "cells: *",
        ]
    )
    text = result.stdout.str()
    assert "FAILURES" not in text
    assert "short test summary" not in text
    assert "test_message.py" not in text
    assert result.ret == 1
    assert result.parseoutcomes()["failed"] == 1


@pytest.mark.parametrize("option", ["-v", "--tb=short", "-rf"])
def test_who_asks_for_details_gets_the_output_of_pytest(pytester: pytest.Pytester, option: str) -> None:
    result = run(pytester, option)
    result.stdout.fnmatch_lines(["*= FAILURES =*", "Requirement  *", "Reproduce  *", "1. lost: MSG-2*"])
    assert result.ret == 1


def test_other_tests_of_the_run_look_as_usual(pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(test_mine="def test_it(): assert 0\ndef test_other(): pass")
    result = run(pytester, str(path))
    result.stdout.fnmatch_lines(["* F. *", "*= FAILURES =*", "*assert 0*", "FAILED *::test_it*"])
    assert "Requirement" not in result.stdout.str()


def test_a_fault_of_the_suite_keeps_its_traceback(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        breaks="""
        from llm_conformance.judging import cell_judge

        def judge_exchange(rule, exchange):
            raise LookupError("no such thing")

        cell_judge.judge_exchange = judge_exchange
        """
    )
    result = run(pytester, "--conformance-rule=MSG-2", "-p", "breaks")
    result.stdout.fnmatch_lines(["*= FAILURES =*", "*LookupError: no such thing*"])
    assert result.ret == 3


def test_junit_has_the_text_that_the_terminal_leaves_out(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--junitxml=junit.xml", "--conformance-rule=MSG-2")
    assert result.ret == 1
    text = (pytester.path / "junit.xml").read_text("utf-8")
    assert 'failures="1"' in text
    assert "Reproduce" in text


def test_every_finding_has_a_line() -> None:
    found = findings([failure("MSG-2", f"openai/a{number}", f"cause {number}") for number in range(30)])
    written: list[str] = []
    terminal: Any = SimpleNamespace(
        config=SimpleNamespace(getoption=lambda _: 0), write_line=lambda line, **_: written.append(line)
    )
    summary._show_findings(terminal, found, Matrix([], "mine"), in_full=5)
    numbers = [int(line.partition(".")[0]) for line in written if line[:1].isdigit()]
    assert numbers == list(range(1, 31))
    assert sum("for example" in line for line in written) == 5
    assert any("=FILE.md" in line for line in written)


def lines(result: dict[str, Any], whole: bool = False) -> list[str]:
    (finding,) = findings([result])
    return list(finding_text.in_full(finding, 1, "1 of 2 conversations", ["openai:chat"], 100, whole))


def test_a_finding_has_the_end_of_the_traceback_and_all_of_it_on_demand() -> None:
    traceback = "\n".join(["Traceback", *(f"  frame {number}" for number in range(20)), "KeyError: 'x'"])
    raised = failure("SHP-1", "openai/a", traceback=traceback)
    assert "    KeyError: 'x'" in lines(raised)
    assert not any("frame 3" in line for line in lines(raised))
    assert any("frame 3" in line for line in lines(raised, whole=True))


def test_a_finding_hides_secrets_and_stays_in_its_lines() -> None:
    key = "sk-proj-" + "a1b2c3d4" * 4
    shown = lines(failure("MSG-2", "openai/a", f"got {key}\n\x1b[31m\nnext \udc80" + " more" * 200))
    assert key not in "\n".join(shown)
    assert all("\n" not in line and "\udc80" not in line and len(line) <= 100 for line in shown)


def test_a_long_message_keeps_the_hint_at_its_end() -> None:
    message = f"expected the message of {'many ' * 80}words; got others (the body has U+0085, which ends no line)"
    shown = " ".join(each.strip() for each in lines(failure("MSG-2", "openai/a", message))[1:])
    assert shown.startswith("expected the message of many")
    assert " ... " in shown
    assert "(the body has U+0085, which ends no line)" in shown


@pytest.mark.parametrize("columns", [80, 120])
def test_the_advice_on_an_error_without_a_class_is_shown_whole(columns: int) -> None:
    found = f"expected AuthenticationError; got HTTPStatusError: Client error '401' for {'many ' * 60}words"
    (finding,) = findings([failure("ERR-1", "openai/a", f"{found} ({UNMAPPED})")])
    written = list(finding_text.in_full(finding, 1, "1 of 2 conversations", ["openai:chat"], columns))
    shown = " ".join(each.strip() for each in written[1:])
    assert shown.startswith("expected AuthenticationError; got HTTPStatusError: Client")
    assert f"({UNMAPPED})" in shown
    assert "many " * 60 not in shown


def test_a_finding_in_one_line_has_both_ends_of_its_message_and_no_advice() -> None:
    found = f"expected TimeoutError; got {'many ' * 40}ReadTimeout of httpx"
    (finding,) = findings([failure("ERR-3", "openai/a", f"{found} ({UNMAPPED})")])
    line = finding_text.in_one_line(finding, 7, "3 of 32 conversations and 1 of 5 generated", 100)
    assert line.startswith("7. wrong: ERR-3 in 3 of 32: expected TimeoutError; got many")
    assert line.endswith("Timeout of httpx")
    assert " ... " in line
    assert len(line) == 100


def test_long_parentheses_at_the_end_are_no_advice() -> None:
    message = f"expected RateLimitError; got LLMError (LLMError: {'many ' * 80}words)"
    shown = " ".join(each.strip() for each in lines(failure("ERR-1", "openai/a", message))[1:4])
    assert "many " * 40 not in shown


def test_a_finding_names_the_think_profile() -> None:
    assert "think profile leading" in lines(failure("MSG-1", "openai/a", think_profile="leading"))[0]


def test_a_run_of_generated_inputs_alone_does_not_count_scenarios(pytester: pytest.Pytester) -> None:
    adapter = "class Adapter:\n    providers = ['zai:chat']\n    def parse(self, http, call): return {}\n"
    pytester.makepyfile(other=f"{adapter}conformance_adapter = Adapter()")
    miniature.write(pytester.path / "own")
    options = ("--adapter=other", "--conformance-cassettes=own", str(miniature.RULES))
    drawn = inline.run(pytester, *options, "--conformance-examples=1", "-k", "generated and usage")
    drawn.stdout.fnmatch_lines(["right: 0 of 1 generated"])
    more = "1 input of each kind or fewer; gates draw 100 (--conformance-examples=ci)"
    drawn.stdout.fnmatch_lines([f"generated inputs: --conformance-examples=1, {more}"])
    drawn.stdout.no_fnmatch_line("not covered*")
    written = inline.run(pytester, *options, "--conformance-examples=0")
    written.stdout.no_fnmatch_line("generated inputs: *")
    written.stdout.fnmatch_lines(["not covered: * scenarios, of APIs that the adapter does not list"])


@pytest.mark.parametrize(
    ("statuses", "said"),
    [
        (["pass"], "no failure"),
        (["pass", "new"], "no failure but those newer than edition 0.1"),
        (["expected", "expected", "new"], "no failure that is not known; 1 known deviation"),
    ],
)
def test_a_green_run_says_why(statuses: list[str], said: str) -> None:
    tally = Tally(keeps=True)
    tally.add(Verdict(**failure("MSG-2", f"openai/{at}", status=each)) for at, each in enumerate(statuses))
    tally.named.update({(0, ("", "", "", "", each)): 1 for each in statuses if each == "expected"})
    lines = (1, 7)
    known = Deviations(tuple(Deviation(Path("k"), at, "MSG-2", "openai/*", "so", "https://a.test") for at in lines))
    result: Any = SimpleNamespace(tally=tally, deviations=known, edition="0.1")
    assert summary._why_green(result) == said


def test_generated_conversations_are_counted_apart() -> None:
    tally = Tally(keeps=True)
    tally.add(
        Verdict(**failure("MSG-2", scenario, status=status, provenance=provenance))
        for scenario, status, provenance in (
            ("openai/a", "fail", "synthetic"),
            ("openai/b", "pass", "recorded"),
            ("openai/generated-chat-answers", "fail", "generated"),
        )
    )
    matrix = Matrix(conversations.counts(tally.conversations), "mine")
    assert {api: list(map(str, fields)) for api, fields in matrix.rows.items()} == {
        "openai:chat": ["1/2", "1/2", "0/1"]
    }
    counts = {name: str(each) for name, each in matrix.by_provenance.items()}
    assert counts == {"recorded": "1", "synthetic": "0/1", "generated": "0/1"}
    touched = Counter({"synthetic": 1, "generated": 1})
    assert matrix.of_judged(touched) == "1 of 2 conversations and 1 of 1 generated"


def test_the_readme_adapter_fits_on_a_screen(
    project: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    command = ("llm_conformance", "run", f"--adapter={project / 'mypkg.py'}", "--examples=0", "-p", "no:cacheprovider")
    result = pytester.run(sys.executable, "-m", *command)
    assert result.ret == 1
    assert 20 < len(result.outlines) <= 61
