"""Reports of adapters with hostile names and texts, and reports that cannot be written."""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from llm_conformance.cli import main
from llm_conformance.compare import in_one_line
from llm_conformance.reports import files
from llm_conformance.reports.forms import badge, markdown, page
from llm_conformance.wording import printable
from tests import miniature
from tests.test_reports import Document, deviation, document, result

NAMES = {
    "table": "a|b",
    "link": "[click](https://evil.test)",
    "image": "![](https://evil.test/pixel.png)",
    "html": "<img src=x onerror=alert(1)>",
    "script": "</script><script>alert(1)</script>",
    "heading": "a\n## conforms",
    "code": "`a``",
    "entity": "&lt;b&gt;",
    "comment": "<!--",
    "nul": "a\0b",
    "escape": "\x1b[2J\x1b]0;owned\x07",
    "c1": "\x9b2J",
    "no character": "\uffff\ufffe",
    "surrogate": "\ud800",
    "turned": "\u202egnp.exe",
    "lines": "a\u2028b\x85c\x0bd",
}
EVIL = pytest.mark.parametrize("name", list(NAMES.values()), ids=list(NAMES))


def report(name: str, status: str = "pass") -> Document:
    """Return the report of an adapter that has this name, version, provider and texts."""
    made = document(result(status=status, adapter=name), result("openai/two", adapter=name))
    made["adapters"][0] |= {"name": name, "version": name, "spec": name, "providers": [name]}
    made["judged"][0]["adapter"] = name
    for each in made["findings"]:
        each["message"] = name
    made["bare_recordings"]["bad_files"] = [name]
    return made


def unescaped(text: str) -> str:
    """Return Markdown without its escaped characters."""
    return re.sub(r"\\[!-/:-@\[-`{-~]", "", text)


@EVIL
def test_a_badge_of_any_name_is_well_formed(name: str) -> None:
    drawn = badge.render([report(name)])
    title = ElementTree.fromstring(drawn.encode("utf-8")).findtext("{http://www.w3.org/2000/svg}title") or ""
    assert title.startswith(f"{printable(name)} {printable(name)}: ")
    assert drawn.replace("\n", "").isprintable()


@EVIL
@pytest.mark.parametrize("status", ["pass", "fail"])
def test_markdown_of_any_name_has_the_structure_of_a_plain_one(name: str, status: str) -> None:
    plain, evil = (unescaped(markdown.render([report(each, status)])) for each in ("plain", name))
    for mark in ("|", "<", ">", "[", "]", "`", "\n", "\n#", "!["):
        assert evil.count(mark) == plain.count(mark), mark
    assert evil.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("https://a.test/x", "https://a.test/x"),
        ("https://a.test/x_(y)", "https://a.test/x_%28y%29"),
        ("https://a.test/) [b](https://evil.test", "https://a.test/%29%20[b]%28https://evil.test"),
        ("https://a.test/|x|<b>", "https://a.test/%7Cx%7C%3Cb%3E"),
    ],
)
def test_the_link_of_a_deviation_ends_where_it_should(link: str, shown: str) -> None:
    made = document(result(status="expected"))
    made["deviations"] = [{**deviation("expected"), "link": link}]
    assert f"]({shown}) |\n" in markdown.render([made])


@EVIL
def test_a_page_of_any_name_has_one_script_and_no_markup_of_it(name: str) -> None:
    plain, evil = page.render([report("plain")]), page.render([report(name)])
    for mark in ("<script", "</script", "<img", "<!--", "<b>"):
        assert evil.lower().count(mark) == plain.lower().count(mark), mark


@EVIL
def test_a_json_report_of_any_name_is_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / "report.json"
    files.write(path, report(name))
    assert json.loads(path.read_text("utf-8"))["adapters"][0]["name"] == name


@EVIL
def test_a_message_about_any_value_is_one_line_that_no_terminal_obeys(name: str) -> None:
    line = in_one_line({"a": name}).encode("utf-8", "backslashreplace").decode()
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", line)


ADAPTER = """\
class Adapter:
    name = {name!r}
    version = "1\\0\\x1b"
    providers = ["deepseek:chat"]
    capabilities = []

    def parse(self, http, call):
        raise ValueError({name!r})

conformance_adapter = Adapter
"""


@pytest.mark.parametrize("name", ["a\0b", "\x1b[2J", "\ud800", "a\nb", "<b>|`"])
def test_an_adapter_of_any_name_is_judged_in_every_cell(pytester: pytest.Pytester, name: str) -> None:
    made = pytester.path / f"odd_name_{ord(name[0])}.py"
    made.write_text(ADAPTER.format(name=name))
    junit = pytester.path / "junit.xml"
    outcome, found = miniature.run(
        pytester, f"--conformance-adapter={made.name}", "--conformance-examples=0", f"--junitxml={junit}"
    )
    assert outcome.ret == 1
    assert found["summary"].keys() <= {"pass", "fail", "vacuous", "unsupported", "blocked"}
    assert found["adapters"][0]["name"] == printable(name)
    assert ElementTree.parse(junit).getroot().find(".//testcase") is not None
    assert "\x1b[2J" not in outcome.stdout.str()


def full_disk(path: Path) -> Path:
    """Make a file that can be opened, and not written."""
    path.symlink_to("/dev/full")
    return path


@pytest.mark.parametrize("form", [".json", ".html", ".md", ".svg"])
def test_a_report_on_a_full_disk_is_an_error_and_no_half_file(tmp_path: Path, form: str) -> None:
    path = full_disk(tmp_path / f"report{form}")
    with pytest.raises(OSError, match="No space left"):
        files.write(path, report("plain"))
    assert not os.path.lexists(path)


def test_the_command_show_says_that_the_disk_is_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.json"
    files.write(source, report("plain"))
    path = full_disk(tmp_path / "out.html")
    assert main.main(["report", "show", str(source), "-o", str(path)]) == 4
    assert "out.html: cannot be written: No space left on device" in capsys.readouterr().err


def run_with_report(pytester: pytest.Pytester, path: Path, adapter: str) -> pytest.RunResult:
    if not (pytester.path / "more").exists():
        miniature.write(pytester.path / "more")
    return pytester.runpytest_inprocess(
        str(miniature.RULES),
        f"--conformance-adapter={adapter}",
        f"--conformance-cassettes={pytester.path / 'more'}",
        "--conformance-scenario=mini/*",
        "--conformance-examples=0",
        f"--conformance-report={path}",
    )


def test_a_green_run_whose_report_cannot_be_written_is_not_green(pytester: pytest.Pytester) -> None:
    outcome = run_with_report(pytester, full_disk(pytester.path / "report.json"), "adapters")
    outcome.stdout.fnmatch_lines(["*report.json: not written: *No space left on device*"])
    assert outcome.ret == 4
    assert run_with_report(pytester, pytester.path / "other.json", "adapters").ret == 0


def test_a_red_run_whose_report_cannot_be_written_stays_red(pytester: pytest.Pytester) -> None:
    (pytester.path / "red_without_report.py").write_text(ADAPTER.format(name="red"))
    outcome = run_with_report(pytester, full_disk(pytester.path / "report.json"), "red_without_report.py")
    assert outcome.ret == 1


RERUNS = """\
import pytest
from _pytest.runner import runtestprotocol

# As pytest-rerunfailures does.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    for attempt in range(3):
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if report.when == "call" and report.failed and attempt < 2:
                report.outcome = "rerun"
                again = True
            elif report.when == "call":
                again = False
            item.ihook.pytest_runtest_logreport(report=report)
        if not again:
            return True
"""


def test_a_failure_that_is_run_again_counts_once(pytester: pytest.Pytester) -> None:
    (pytester.path / "fails_thrice.py").write_text(ADAPTER.format(name="red"))
    (pytester.path / "reruns.py").write_text(RERUNS)
    arguments = ["--conformance-adapter=fails_thrice.py", "--conformance-examples=0"]
    _, once = miniature.run(pytester, *arguments)
    pytester.syspathinsert()
    _, thrice = miniature.run(pytester, *arguments, "-p", "reruns")
    assert once["summary"]["fail"] > 0
    assert thrice["summary"] == once["summary"]


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "5", "{}", '{"suite": 5}', "\0", "NaN"])
def test_a_file_that_is_no_report_has_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    path = tmp_path / "in.json"
    path.write_text(text)
    assert main.main(["report", "show", str(path), "-o", str(tmp_path / "out.html")]) == 4
    assert "in.json:1: " in capsys.readouterr().err
