"""`python -m peers` judges each library twice, repeats only what has changed, and says what has."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.adapter.libraries import Library
from llm_conformance.corpus import places
from llm_conformance.reports.document import Document
from peers import __main__ as command
from peers import changes, environments, judge, steps
from peers.environments import Environment, NoPythonError, NotInstalledError
from tests.test_reports import document, result

TRIMMED = """
[[deviation]]
rule = "MSG-2"
scenario = "openai/answer-empty"
reason = "trimmed"
link = "https://example.com/1"
"""
TEXT = "openai/answer-empty"


class Field:
    """A clone with one library, and an environment that records what is run in it."""

    def __init__(self, root: Path) -> None:
        self.library = Library(root / "peers" / "lib")
        self.library.folder.mkdir(parents=True)
        for name, text in {"requirements.in": "lib==1.0\n", "requirements.txt": "lib==1.0\n"}.items():
            (self.library.folder / name).write_text(text, "utf-8")
        (self.library.folder / "adapter.py").write_text("# a shim\n", "utf-8")
        self.library.deviations.touch()
        self.ran: list[str] = []
        self.installing: Callable[[], object] = dict
        self.reports: dict[str, Document] = {"written": document(result()), "real": document(result("a/b/c"))}
        self.codes: dict[str, int] = {}

    def install_frozen(self, environment: Environment, _requirements: Path, _python: str | None) -> None:
        self.installing()
        environment.folder.mkdir(exist_ok=True)
        self.ran.append("install")

    def run(self, _environment: Environment, *command: str | Path, timeout: float | None = None) -> int:
        if command[0] != "llm-conformance":
            name = Path(command[-1]).name
            self.ran.append(name)
            return self.codes[name]
        (path,) = (Path(str(each).partition("=")[2]) for each in command if str(each).startswith("--report="))
        evidence = path.name.split(".")[1]
        self.ran.append(evidence)
        assert ("--corpus=public" in command) is (evidence == "real")
        if evidence in self.reports:
            path.write_text(json.dumps(self.reports[evidence]), "utf-8")
        return self.codes.get(evidence, 0)

    def reproduction(self, name: str, code: int) -> None:
        (self.library.folder / "reports").mkdir(exist_ok=True)
        (self.library.folder / "reports" / name).write_text(f"# {name}\n", "utf-8")
        self.codes[name] = code


@pytest.fixture
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Field:
    made = Field(tmp_path)
    monkeypatch.setattr(judge, "ROOT", tmp_path)
    monkeypatch.setattr(judge, "suite_digest", lambda: "suite")
    monkeypatch.setattr(Environment, "install_frozen", lambda *given: made.install_frozen(*given))
    monkeypatch.setattr(Environment, "run", lambda *given, **more: made.run(*given, **more))
    monkeypatch.setattr(command, "libraries", lambda: {"lib": made.library})
    monkeypatch.setattr(command, "no_traffic", lambda: "")
    monkeypatch.setattr(command, "uv", lambda: "uv")
    monkeypatch.setattr(changes, "FACTS", tmp_path / "field.json")
    monkeypatch.setattr(changes.read, "__defaults__", (tmp_path / "field.json",))
    monkeypatch.setattr(changes.write, "__defaults__", (tmp_path / "field.json",))
    return made


def run(field: Field, *options: str) -> tuple[int, list[str]]:
    """Return the exit code, and what has been run."""
    field.ran.clear()
    code = command.main(["--work", str(field.library.folder.parent.parent / "work"), *options])
    return code, list(field.ran)


def test_what_has_not_changed_is_not_done_again(field: Field) -> None:
    field.reproduction("fault.py", 1)
    everything = ["install", "written", "real", "fault.py"]
    assert run(field) == (0, everything)
    assert run(field) == (0, [])
    (field.library.folder / "adapter.py").write_text("# another shim\n", "utf-8")
    assert run(field) == (0, ["written", "real"])
    field.library.deviations.write_text("# reworded\n", "utf-8")
    assert run(field) == (0, []), "known deviations are applied to what was judged"
    (field.library.folder / "reports" / "fault.py").write_text("# again\n", "utf-8")
    assert run(field) == (0, ["fault.py"])
    (field.library.folder / "requirements.txt").write_text("lib==1.0\nneeded==2\n", "utf-8")
    assert run(field) == (0, everything)
    assert run(field, "--again") == (0, everything)


def test_a_change_of_the_suite_judges_again(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    run(field)
    monkeypatch.setattr(judge, "suite_digest", lambda: "another")
    assert run(field) == (0, ["written", "real"])


def test_what_went_wrong_is_tried_again(field: Field, capsys: pytest.CaptureFixture[str]) -> None:
    field.codes["real"] = 3
    assert run(field) == (1, ["install", "written", "real"])
    assert "* **lib** real traffic: was not judged (exit code 3)" in capsys.readouterr().out
    field.codes["real"] = 0
    assert run(field) == (0, ["real"])


def test_a_reproduction_that_does_not_show_its_fault_fails_the_run(
    field: Field, capsys: pytest.CaptureFixture[str]
) -> None:
    field.reproduction("mended.py", 0)
    field.reproduction("shows.py", 1)
    field.reproduction("trouble.py", 2)
    assert run(field)[0] == 1
    told = capsys.readouterr().out
    assert "* **lib** reports/mended.py: the fault does not show any more" in told
    assert "* **lib** reports/trouble.py: did not run (exit code 2)" in told
    assert "shows.py" not in told.partition("## To be looked at")[2]


def test_an_interpreter_or_a_corpus_that_is_not_here_is_told_and_is_no_green(
    field: Field, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "no_traffic", lambda: "NOT JUDGED, because it rains")
    assert run(field) == (5, ["install", "written"])
    assert "## Not judged\n\n* **lib** real traffic: NOT JUDGED, because it rains" in capsys.readouterr().out

    def no_python() -> None:
        raise NoPythonError("needs Python 3.12")

    field.installing = no_python
    assert run(field, "--again") == (5, [])
    assert "lib: done, not judged here (1 of 1)" in capsys.readouterr().out
    assert changes.read()["lib"]["missing"] == "not judged here: needs Python 3.12"


@pytest.mark.parametrize(("code", "why"), [(0, ""), (5, "NOT JUDGED, because recordings could not be fetched")])
def test_recordings_that_are_not_here_are_fetched_once(code: int, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def fetch(given: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        ran.append(given)
        return subprocess.CompletedProcess(given, code)

    monkeypatch.setattr(subprocess, "run", fetch)
    monkeypatch.setattr(places, "is_fetched", lambda _package: False)
    assert command.no_traffic().startswith(why)
    assert bool(command.no_traffic()) is bool(code)
    assert ran[0][-2:] == ["corpus", "fetch"]
    monkeypatch.setattr(places, "is_fetched", lambda _package: True)
    ran.clear()
    assert command.no_traffic() == ""
    assert not ran


def test_a_library_that_cannot_be_installed_fails_the_run(field: Field) -> None:
    def broken() -> None:
        raise NotInstalledError("uv pip sync failed")

    field.installing = broken
    assert run(field) == (1, [])
    assert changes.read()["lib"]["missing"] == "could not be installed: uv pip sync failed"


def test_without_uv_nothing_begins(
    field: Field, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "uv", environments.uv)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        run(field)
    assert ended.value.code == 2
    assert "there is no uv; install it with `pip install uv`" in capsys.readouterr().err
    assert not changes.FACTS.exists()


def test_the_report_of_real_traffic_has_failures_and_one_result_of_each_conversation(field: Field) -> None:
    failing = result("a/b/c", "fail")
    right, also_right = result("a/b/d"), result("a/b/d", rule="MSG-1")
    results = [failing, right, also_right, result("a/b/e", "vacuous")]
    field.reports["real"] = document(*results) | {"exchanges": [{"big": 1}]}
    run(field)
    path = field.library.folder.parent.parent / "work" / "lib.real.json"
    kept = json.loads(path.read_text("utf-8"))
    assert kept["results"] == [failing, also_right]
    assert kept["exchanges"] == []


def test_it_ends_with_what_has_changed_since_the_last_page(field: Field, capsys: pytest.CaptureFixture[str]) -> None:
    field.library.deviations.write_text(TRIMMED, "utf-8")
    field.reports["written"] = document(result(TEXT, "fail"))
    field.reproduction("fault.py", 1)
    assert run(field)[0] == 0
    assert "* **lib** 1.0: judged for the first time, 1 finding" in capsys.readouterr().out
    assert run(field)[0] == 0
    assert "Nothing has changed." in capsys.readouterr().out
    (field.library.folder / "requirements.in").write_text("lib==1.1\n", "utf-8")
    (field.library.folder / "requirements.txt").write_text("lib==1.1\n", "utf-8")
    field.reports["written"] = document(result("openai/two", "fail", cause="got nothing"))
    field.codes["fault.py"] = 0
    assert run(field)[0] == 1
    told = capsys.readouterr().out
    assert (
        "* **lib** 1.0 → 1.1\n"
        "  * new (**not judged yet**, lost): MSG-2: got nothing\n"
        "  * gone (lost): trimmed\n"
        "  * reports/fault.py does not show any more\n"
    ) in told
    assert "* **lib** written scenarios: 1 finding is not judged yet" in told


def test_a_finding_keeps_the_release_in_which_it_was_first_seen(field: Field) -> None:
    field.library.deviations.write_text(TRIMMED, "utf-8")
    field.reports["written"] = document(result(TEXT, "fail"))
    run(field)
    (field.library.folder / "requirements.in").write_text("lib==1.1\n", "utf-8")
    run(field)
    (finding,) = changes.read()["lib"]["findings"]
    assert finding == {
        **{"what": "trimmed", "judgement": "fault", "rules": ["MSG-2"], "harm": "lost"},
        **{"link": "https://example.com/1", "argument": None, "reproduction": None},
        **{"written": 1, "real": 0, "examples": {"written": [TEXT, "json"]}, "first_seen": "1.0"},
    }
    assert changes.read()["lib"]["release"] == "1.1"


def test_a_run_of_some_libraries_writes_nothing_down(field: Field) -> None:
    run(field, "lib")
    assert not changes.FACTS.exists()


def test_a_run_of_some_libraries_writes_them_down_beside_the_others_if_asked_to(field: Field) -> None:
    run(field)
    ours = changes.read()["lib"]
    changes.write({"another": ours, "lib": {**ours, "release": "0.9"}})
    run(field, "lib", "--write")
    assert changes.read() == {"another": ours, "lib": ours}


def test_an_entry_that_is_written_later_needs_no_other_run(field: Field, capsys: pytest.CaptureFixture[str]) -> None:
    field.reports["written"] = document(result(TEXT, "fail", cause="got none"))
    assert run(field)[0] == 1
    assert "* **lib** written scenarios: 1 finding is not judged yet" in capsys.readouterr().out
    field.library.deviations.write_text(TRIMMED, "utf-8")
    assert run(field) == (0, [])
    (finding,) = changes.read()["lib"]["findings"]
    assert finding["what"] == "trimmed"


def test_stale_entries_fail_the_run(field: Field, capsys: pytest.CaptureFixture[str]) -> None:
    recording = "langchain-openai/tests/cassettes/a"
    more = TRIMMED.replace(f'"{TEXT}"', f'["{recording}", "langchain-openai/tests/cassettes/b"]')
    mended = TRIMMED.replace("MSG-2", "USE-1").replace("trimmed", "mended")
    field.library.deviations.write_text(f"{more}{mended}", "utf-8")
    field.reports["real"] = document(result(recording, "fail"))
    assert run(field)[0] == 1
    told = capsys.readouterr().out
    assert "* **lib** stale: deviations.toml:2: no cell fails; remove langchain-openai/tests/cassettes/b from " in told
    assert "* **lib** stale: deviations.toml:8: no cell fails; remove the entry (USE-1 in openai/answer-empty)" in told


def test_entries_about_recordings_are_not_stale_without_recordings(
    field: Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    field.library.deviations.write_text(TRIMMED.replace(TEXT, "langchain-openai/tests/cassettes/a"), "utf-8")
    monkeypatch.setattr(command, "no_traffic", lambda: "NOT JUDGED, because it rains")
    assert run(field)[0] == 5


def test_an_entry_of_a_cell_that_could_not_be_judged_is_not_stale(field: Field) -> None:
    field.library.deviations.write_text(TRIMMED, "utf-8")
    field.reports["written"] = document(result(TEXT, "blocked"))
    assert run(field)[0] == 0


def test_a_mistake_in_the_known_deviations_is_told(field: Field, capsys: pytest.CaptureFixture[str]) -> None:
    field.library.deviations.write_text(TRIMMED.replace("MSG-2", "MSG-99"), "utf-8")
    assert run(field)[0] == 1
    assert "deviations.toml:3: MSG-99" in capsys.readouterr().out


def test_a_stopped_run_begins_no_further_step(field: Field, tmp_path: Path) -> None:
    judging = judge.Judge(tmp_path, "suite", "", lambda *_: None)
    field.installing = judging.stop.set
    with pytest.raises(steps.StoppedError):
        judging.judge(field.library)
    assert not list(tmp_path.glob("*.done")), "what was stopped is not kept"
