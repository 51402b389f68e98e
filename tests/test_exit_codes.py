"""The exit code of a run, and the messages of usage errors: what is wrong and what to do, without a traceback."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from llm_conformance.replay.cell import Cell
from llm_conformance.replay.runner import Runner
from tests import inline, miniature
from tests.shell import sh

USAGE_ERROR = 4


def refused(result: pytest.RunResult) -> str:
    """Return the error message of a refused run."""
    return _refused(result.ret, result.stdout.str(), result.stderr.str())


def _refused(code: int, stdout: str, stderr: str) -> str:
    assert code == USAGE_ERROR
    assert "Traceback" not in stdout + stderr
    return stderr


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nosuchpackage", "cannot find 'nosuchpackage'"),
        ("json", "has no attribute 'conformance_adapter'; define it, or name another as json:attribute"),
        ("json:loads", "calling loads() raised TypeError"),
        ("a b", "is not a package name"),
        ("there/is/none.py", "no such file"),
        ("cmd:nosuchprogram x.mjs", "No such file or directory: 'nosuchprogram'"),
        ("needy", "importing needy: it needs 'nosuchmodule', which is not here; install it in this environment"),
        ("needy.py", "needy.py: cannot find 'nosuchmodule'; install it in this environment"),
        ("opnai.py", "the adapter lists only opnai:chat: no such provider; did you mean openai:chat?"),
        ("half.py", "the adapter lists antropic: no such provider; did you mean anthropic? `llm-conformance list"),
        ("straem.py", "has streaming, but the method is called straem; did you mean stream?"),
        ("broken.py", "invalid syntax (broken.py, line 1)"),
        ("raises.py", "ZeroDivisionError: division by zero (at "),
        ("empty.py", "it has none of the methods complete, stream, parse, parse_stream; `providers` has to list"),
        ("empty.py", '; write `providers = ["openai:chat"]`'),
        (
            "nearly.py",
            "has no attribute 'conformance_adapter'; define it, or name another as nearly:attribute; did",
        ),
        ("typo.py", "unknown capabilities raesoning; there are streaming, reasoning, "),
    ],
)
def test_a_bad_adapter_spec_is_a_usage_error(pytester: pytest.Pytester, spec: str, message: str) -> None:
    (pytester.path / "broken.py").write_text("def (:")
    (pytester.path / "needy.py").write_text("import nosuchmodule")
    (pytester.path / "raises.py").write_text("1 / 0")
    (pytester.path / "empty.py").write_text("conformance_adapter = object()")
    (pytester.path / "nearly.py").write_text("conformance_adaptor = object()")
    (pytester.path / "half.py").write_text(
        "class conformance_adapter:\n    providers = ['antropic', 'openai']\n    parse = staticmethod(dict)\n"
    )
    (pytester.path / "straem.py").write_text(
        "class conformance_adapter:\n    providers = ['openai']\n    capabilities = ['streaming']\n"
        "    complete = straem = staticmethod(dict)\n"
    )
    (pytester.path / "opnai.py").write_text(
        "class conformance_adapter:\n    providers = ['opnai:chat']\n    def parse(self, http, call): pass\n"
    )
    (pytester.path / "typo.py").write_text(
        "class conformance_adapter:\n"
        "    providers = {'openai'}; capabilities = {'raesoning'}\n"
        "    def parse(self, http, call): pass\n"
    )
    result, _ = miniature.run(pytester, f"--adapter={spec}")
    assert message in refused(result)


def test_all_bad_adapter_specs_are_reported_together(pytester: pytest.Pytester) -> None:
    result, _ = miniature.run(pytester, "--adapter=one_missing", "--adapter=two_missing")
    text = refused(result)
    assert "one_missing" in text
    assert "two_missing" in text


def test_rules_without_an_adapter_are_a_usage_error(pytester: pytest.Pytester) -> None:
    result, _ = miniature.run(pytester)
    assert "no adapter named; name yours with --adapter" in refused(result)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--conformance-rule=ANN-99", "no such rule; did you mean ANN-"),
        ("--conformance-rule=USE", "no such rule; did you mean USE-*?"),
        ("--conformance-provider=mistrall", "no such provider; did you mean mistral?"),
        ("--conformance-scenario=openai/refusl", "no such scenario; did you mean openai/refusal?"),
        ("--conformance-scenario=openai/core-x", "`llm-conformance list core-faults` lists them all"),
        ("--conformance-rul=ANN-1", "no such option: --conformance-rul; did you mean --conformance-rule?"),
        (
            "--conformance-examples=quik",
            "=quik: must be a whole number from 0, or one of quick, ci, deep; did you mean quick?",
        ),
        ("--conformance-method=sing", "invalid choice: 'sing'"),
        ("--conformance-report=report.pdf", "the suffix must be one of .json, .html, .md, .svg"),
        ("--conformance-report=no/such/dir.json", "no such directory"),
        (f"--conformance-report={'r' * 300}.md", ".md: cannot be written: File name too long"),
        ("--conformance-cassettes=nowhere", "no such directory"),
        ("--conformance-cassettes=one.yaml", "one.yaml: is a file; name its directory"),
        ("--conformance-cassettes=empty", "empty: contains no cassette (*.yaml, *.yml, "),
        ("--conformance-timeout=0", "=0: must be more than 0 seconds"),
        ("--conformance-timeout=nan", "=nan: must be more than 0 seconds"),
        ("--conformance-deviations=none.toml", "none.toml:1: cannot be read: No such file"),
        ("--conformance-write-deviations=there.toml", "there.toml: exists already and is not overwritten"),
        ("--conformance-write-deviations=no/new.toml", "no/new.toml: no such directory"),
        (f"--conformance-write-deviations={'w' * 300}.toml", ".toml: cannot be written: File name too long"),
    ],
)
def test_a_bad_option_value_is_a_usage_error(pytester: pytest.Pytester, option: str, message: str) -> None:
    pytester.mkdir("empty")
    (pytester.path / "one.yaml").touch()
    (pytester.path / "there.toml").touch()
    arguments = [option] if "scenario" in option else ["--conformance-scenario=zai/content-begins-*", option]
    result = inline.run(pytester, str(miniature.RULES), "--adapter=adapters", *arguments)
    assert message in refused(result)


def test_all_reports_that_cannot_be_written_are_told_and_no_file_is_changed(pytester: pytest.Pytester) -> None:
    kept = pytester.path / "kept.md"
    kept.write_text("old")
    names = ("kept.md", "new.html", f"{'a' * 300}.md", f"{'b' * 300}.json")
    arguments = [f"--conformance-report={name}" for name in names]
    text = refused(inline.run(pytester, str(miniature.RULES), "--adapter=adapters", *arguments))
    assert text.count("cannot be written: File name too long") == 2
    assert kept.read_text() == "old"
    assert not (pytester.path / "new.html").exists()


def test_all_problems_of_a_scenario_are_reported_together(pytester: pytest.Pytester) -> None:
    wrong = miniature.SCENARIO.replace("title:", "colour: red\ntitle:").replace("message: Eight.", "message: Nine.")
    path = miniature.write(pytester.path / "more", scenario=wrong.replace("total_tokens: 42", "total_tokens: 43"))
    result, _ = miniature.run(pytester, "--adapter=adapters")
    text = refused(result)
    assert f"{path}:1: colour: no such key" in text
    assert f'{path}:13: message: the scenario states "Nine.", the bytes give "Eight.", at code point 0' in text
    assert "usage.total_tokens: the scenario states 43, the bytes give 42" in text


def test_a_cassette_with_a_yaml_tag_stops_the_run(pytester: pytest.Pytester) -> None:
    cassette = miniature.write(pytester.path / "more").with_name("spider.yaml")
    cassette.write_text(
        cassette.read_text("utf-8").replace("source: the tests", "source: !!python/object/apply:os.getcwd []")
    )
    result, _ = miniature.run(pytester, "--adapter=adapters")
    assert f"{cassette}:4: YAML tag 'tag:yaml.org,2002:python/object/apply:os.getcwd' refused" in refused(result)


def test_a_truncated_cassette_stops_the_run(pytester: pytest.Pytester) -> None:
    cassette = miniature.write(pytester.path / "more").with_name("spider.yaml")
    text = cassette.read_text("utf-8")
    cassette.write_text(text[: len(text) // 3])
    result, _ = miniature.run(pytester, "--adapter=adapters")
    assert f"{cassette}:" in refused(result)


def test_a_run_in_which_nothing_is_judged_has_exit_code_5(pytester: pytest.Pytester) -> None:
    Path(pytester.path / "other.py").write_text(
        "class conformance_adapter:\n    providers = {'acme'}\n    def parse(self, http, call): pass\n",
        encoding="utf-8",
    )
    result, report = miniature.run(pytester, "--adapter=other.py")
    assert result.ret == 5
    assert report["results"] == []
    assert report["adapters"][0]["not_covered"] > 0
    result.stdout.fnmatch_lines(["*nothing to judge: the adapter lists only acme"])


def test_the_summary_names_a_method_that_the_adapter_does_not_have(pytester: pytest.Pytester) -> None:
    (pytester.path / "parses.py").write_text(
        "class conformance_adapter:\n    providers = {'deepseek'}\n    def parse(self, http, call): pass\n"
    )
    result, _ = miniature.run(pytester, "--adapter=parses.py", "--conformance-method=complete")
    assert result.ret == 5
    result.stdout.fnmatch_lines(["*nothing to judge: the adapter has no method complete; it has parse"])


def test_so_it_does_if_rules_judge_the_lack_of_the_method(pytester: pytest.Pytester) -> None:
    (pytester.path / "completes.py").write_text(
        "class conformance_adapter:\n    providers = {'deepseek'}\n    capabilities = ['tools']\n"
        "    def complete(self, call): pass\n"
    )
    result, _ = miniature.run(pytester, "--adapter=completes.py", "--conformance-method=stream")
    result.stdout.fnmatch_lines(["*nothing to judge: the adapter has no method stream; it has complete"])


def test_a_file_with_a_similar_name_is_suggested(pytester: pytest.Pytester) -> None:
    (pytester.path / "mypkg_conformance.py").write_text("")
    result, _ = miniature.run(pytester, "--adapter=mypkg_conformence.py")
    assert "mypkg_conformence.py; did you mean mypkg_conformance.py?" in refused(result)


@pytest.mark.usefixtures("with_cache")
def test_failed_cells_can_be_run_again(pytester: pytest.Pytester) -> None:
    (pytester.path / "wrong.py").write_text(miniature.HALF_WRONG)
    options = ("--adapter=wrong.py", "--conformance-examples=0", "-o", f"cache_dir={pytester.path}")
    first, whole = miniature.run(pytester, *options)
    again, report = miniature.run(pytester, *options, "--lf")
    assert first.ret == again.ret == 1
    assert first.parseoutcomes()["passed"] > 0
    assert again.parseoutcomes().get("passed", 0) == 0
    assert again.parseoutcomes()["failed"] == first.parseoutcomes()["failed"]
    assert report["summary"]["fail"] == whole["summary"]["fail"]
    assert report["complete"] is False


@pytest.mark.parametrize("options", [["-x"], ["-x", "-n2"], ["--maxfail=2"]])
def test_a_run_that_stops_at_a_failure_has_failed(pytester: pytest.Pytester, options: list[str]) -> None:
    (pytester.path / "wrong.py").write_text(
        "class conformance_adapter:\n    providers = {'deepseek'}\n    def parse(self, http, call): return {}\n"
    )
    result, report = miniature.run(pytester, "--adapter=wrong.py", *options)
    assert result.ret == 1
    assert report["complete"] is False


def test_the_reproduce_command_reproduces(pytester: pytest.Pytester) -> None:
    (pytester.path / "wrong.py").write_text(
        "class conformance_adapter:\n    providers = {'deepseek'}\n    def parse(self, http, call): return {}\n"
    )
    result, _ = miniature.run(pytester, "--adapter=wrong.py", "--tb=short", apart=True)
    (line, *_) = [line for line in result.stdout.lines if line.startswith("Reproduce") and "SHP-1" in line]
    command, *arguments = shlex.split(line.removeprefix("Reproduce"))
    assert command == "pytest"
    again = inline.run(pytester, *arguments)
    assert again.parseoutcomes() == {"failed": 1}


def test_two_scenarios_with_one_id_are_a_usage_error(pytester: pytest.Pytester) -> None:
    miniature.write(pytester.path / "more")
    miniature.write(pytester.path / "again")
    result, _ = miniature.run(pytester, "--adapter=adapters", f"--conformance-cassettes={pytester.path / 'again'}")
    assert "another file has the scenario mini/spider" in refused(result)


def test_another_projects_option_of_the_same_name_keeps_its_meaning(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "def pytest_addoption(parser): parser.addoption('--adapter', type=lambda name: {'eth0': 1}[name])"
    )
    pytester.makepyfile("def test_own(pytestconfig): assert pytestconfig.getoption('--adapter') == 1")
    assert inline.run(pytester, "--adapter=eth0").ret == 0


def test_a_run_with_unsupported_cells_only_has_exit_code_5(pytester: pytest.Pytester) -> None:
    Path(pytester.path / "silent.py").write_text(
        "class conformance_adapter:\n    providers = {'deepseek'}\n    def parse(self, http, call): return {}\n",
        encoding="utf-8",
    )
    result, report = miniature.run(pytester, "--adapter=silent.py", "--conformance-rule=STR-2")
    assert report["summary"] == {"unsupported": 1, "vacuous": 1}
    assert result.ret == 5


def test_a_fault_of_the_suite_has_exit_code_3(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_runner: Runner, _cell: Cell) -> NoReturn:
        raise KeyError("a fault of the harness")

    monkeypatch.setattr(Runner, "run", broken)
    result, report = miniature.run(pytester, "--adapter=adapters", "--conformance-rule=MSG-2")
    assert result.ret == 3
    assert set(report["summary"]) == {"error"}
    result.stdout.fnmatch_lines(["This is a fault of llm-conformance, not of the adapter."])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--rule=ANN-99", "--rule=ANN-99: no such rule"),
        ("--method=strea", "argument --method: invalid choice: 'strea' (choose from 'complete', 'stream'"),
        ("--provder=groq", "no such option: --provder; did you mean --provider?"),
        ("--zzz", "usage: llm-conformance run [options]"),
    ],
)
def test_a_usage_error_names_the_option_as_the_user_typed_it(tmp_path: Path, option: str, message: str) -> None:
    command = (sys.executable, "-m", "llm_conformance", "run", "--adapter=adapters", "--provider=zai")
    run = sh(*command, option, cwd=tmp_path)
    said = _refused(run.returncode, run.stdout, run.stderr)
    assert message in said
    assert "python -m pytest" not in said
