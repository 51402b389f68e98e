"""Reports on servers: what they say, and that an answer of a server is never markup in them."""

from __future__ import annotations

import copy
import json
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import schema
from llm_conformance.cli.main import main
from llm_conformance.markup import in_one_line
from llm_conformance.server.conversations import CAPABILITIES
from llm_conformance.server.reports import badge, markdown, page
from llm_conformance.wording import printable
from tests.hostile_files.test_reports import NAMES, unescaped
from tests.servers.broken.framing import WithoutDone
from tests.servers.reference import CONTEXT, KEY, MODEL, Reference, running
from tests.test_badge import AMBER, GREEN, GREY, RED, read
from tests.test_reports import WHOLE

CLAIMED = [name for name in CAPABILITIES if name not in ("keys", "context")]
FORMS = ("json", "html", "md", "svg")
Document = dict[str, Any]


def judge(server: Reference, directory: Path, *options: str, claimed: list[str] = CLAIMED) -> int:
    """Judge a server, and write the report in all forms to a directory."""
    with pytest.MonkeyPatch.context() as patch, running(server) as url:
        patch.setenv("REFERENCE_KEY", KEY)
        named = [f"--model={MODEL}", "--key-env=REFERENCE_KEY", f"--context={CONTEXT}", f"--keep={directory}/kept"]
        reports = [f"--report={directory}/report.{suffix}" for suffix in FORMS]
        return main(["server", url, *named, *reports, *options, "--capabilities", *claimed])


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory with the reports on a server whose streams end without `[DONE]`."""
    directory = tmp_path_factory.mktemp("broken")
    assert judge(WithoutDone(), directory) == 1
    return directory


@pytest.fixture
def report(broken: Path) -> Document:
    """Return its JSON report."""
    found: Document = json.loads((broken / "report.json").read_text("utf-8"))
    assert list(schema.problems("server-report", found)) == []
    return found


def test_the_json_report_has_the_bytes_of_a_finding(report: Document) -> None:
    (finding,) = report["findings"]
    shown = {(each["conversation"], each["mode"]): each for each in report["exchanges"]}

    assert list(map(list, shown)) == finding["failures"][:3]
    first = shown["chat/plain", "stream"]
    assert json.loads(first["request"])["stream"] is True
    assert (first["status"], first["ended"], first["left_out"]) == (200, "closed", 0)
    assert '"finish_reason": "stop"' in first["body"]
    assert report["edition"] == "0.1"
    assert report["server"]["not_claimed"] == []


def test_the_markdown_has_the_finding_its_command_and_the_conversations(broken: Path, report: Document) -> None:
    text = (broken / "report.md").read_text("utf-8")

    assert text.startswith(f"## reference at {report['server']['url']}: failing\n")
    message, streams = report["findings"][0]["message"], len(report["findings"][0]["failures"])
    asked = sum(len(modes) for modes in conversations_of(report).values())
    assert f"**Conversations right: {asked - streams} of {asked}.**" in text
    assert f"\n| 1 | false success | WIRE-6 | {in_one_line(message)} | {streams} | chat/plain (stream) |\n" in text
    assert f"\n{report['findings'][0]['command']}  # 1\n" in text
    assert "\n| chat/plain | right | WIRE-6 |\n" in text
    assert "\n| chat/without-usage | – | WIRE-6 |\n" in text  # it is asked as a stream only
    assert "Partial" not in text


def conversations_of(report: Document) -> dict[str, set[str]]:
    """Return the modes in which each conversation was judged."""
    found: dict[str, set[str]] = {}
    for each in report["results"]:
        if each["status"] in ("pass", "fail"):
            found.setdefault(each["conversation"].partition("#")[0], set()).add(each["mode"])
    return found


def test_the_page_has_no_script_and_loads_nothing(broken: Path) -> None:
    text = (broken / "report.html").read_text("utf-8")

    assert "default-src 'none'; style-src 'unsafe-inline'" in text
    found = tags(text)
    assert {"script", "img", "link", "iframe", "a"}.isdisjoint(found)
    assert found.count("article") == 1
    assert found.count("details") == 3 + 1  # three examples, and the rules that judged nothing
    assert "What was sent and came back: chat/plain (stream)" in text


def tags(text: str) -> list[str]:
    """Return the elements of a page."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append(tag)

    Reader().feed(text)
    return found


def with_texts(report: Document, text: str) -> Document:
    """Return a report in which a text is wherever a server or its user has written something."""
    made = copy.deepcopy(report)
    made["server"] |= {"url": text, "model": text}
    for each in made["findings"]:
        each["message"] = text
    for each in made["exchanges"]:
        each |= {"request": text, "body": text, "headers": {text: text}, "ended": text}
    made["not_judged"] = {"SRV-53": {text: 1}}
    entry = {"path": "a", "line": 1, "rule": "WIRE-6", "scenario": text, "reason": text, "link": "https://a.test/x"}
    made["deviations"] = [{**entry, "status": "expected"}]
    return made


@pytest.mark.parametrize("text", NAMES.values(), ids=NAMES)
def test_no_answer_is_markup_in_a_report(text: str, report: Document) -> None:
    plain, evil = (with_texts(report, each) for each in ("plain", text))

    one, other = (unescaped(markdown.render([each])) for each in (plain, evil))
    for mark in ("|", "<", ">", "[", "]", "`", "\n", "\n#", "!["):
        assert other.count(mark) == one.count(mark), mark
    shown = page.render([evil])
    assert tags(shown) == tags(page.render([plain]))
    assert shown.replace("\n", "").isprintable()
    drawn = badge.render([evil])
    title = ElementTree.fromstring(drawn.encode("utf-8")).findtext("{http://www.w3.org/2000/svg}title") or ""
    assert title.startswith(f"{printable(f'{text} at {text}')}: failing: chat, ")


def test_the_badge_of_a_server_says_what_was_judged(broken: Path, tmp_path: Path) -> None:
    title, text, colour = read((broken / "report.svg").read_text("utf-8"))
    assert (text[:15], colour) == ("failing: chat, ", RED)

    assert judge(Reference(), tmp_path) == 0
    title, text, colour = read((tmp_path / "report.svg").read_text("utf-8"))
    asked = sum(map(len, conversations_of(json.loads((tmp_path / "report.json").read_text("utf-8"))).values()))
    assert (text, colour) == (f"conforms: chat, {asked} conversations", GREEN)
    assert title.startswith("reference at http://127.0.0.1:")
    assert "llm-conformance 0.1.0, edition 0.1)" in title


@pytest.mark.parametrize(
    ("claimed", "options", "verdict", "end", "colour"),
    [
        (["tools"], (), "conforms", ", 9 not claimed", AMBER),
        (CLAIMED, ("--conversation=plain",), "partial", "partial", GREY),
    ],
)
def test_a_badge_is_green_only_for_all_that_can_be_claimed(
    claimed: list[str], options: tuple[str, ...], verdict: str, end: str, colour: str, tmp_path: Path
) -> None:
    assert judge(Reference(), tmp_path, *options, claimed=claimed) == 0

    _, text, shown = read((tmp_path / "report.svg").read_text("utf-8"))
    assert text.startswith(verdict)
    assert text.endswith(end)
    assert shown == colour


def test_the_step_summary_of_a_workflow_gets_the_markdown(
    broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", "utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    assert main(["server", f"--replay={broken}/kept"]) == 1

    before, _, text = summary.read_text("utf-8").partition("\n")
    assert before == "before"
    assert text.startswith("## reference at ")


@pytest.mark.parametrize(
    ("name", "problem"),
    [("report.pdf", "the suffix must be one of .json, .html, .md, .svg"), ("no/report.md", "no such directory")],
)
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_sent(
    name: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["server", "http://127.0.0.1:9/v1", "--model=m", f"--report={tmp_path / name}"]) == 4
    assert f"--report={tmp_path / name}: {problem}" in capsys.readouterr().err


def test_a_run_that_dies_leaves_no_earlier_badge(tmp_path: Path) -> None:
    badge = tmp_path / "report.svg"
    badge.write_text("earlier", "utf-8")

    assert main(["server", "http://127.0.0.1:9/v1", "--model=m", f"--report={badge}"]) == 4

    assert not badge.exists()


def test_reports_of_several_formats_are_shown_on_one_page(broken: Path, report: Document, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**report, "server": {**report["server"], "api": "messages"}}), "utf-8")
    show = ["report", "show", f"{broken}/report.json", str(other), "-o"]

    assert main([*show, f"{tmp_path}/both.html"]) == 0
    assert main([*show, f"{tmp_path}/both.md"]) == 0

    assert tags((tmp_path / "both.html").read_text("utf-8")).count("article") == 2
    assert (tmp_path / "both.md").read_text("utf-8").count("\n### 1 finding\n") == 2


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["show", "one.json", "adapters.json", "-o", "x.html"], "cannot be shown together"),
        (["show", "one.json", "one.json", "-o", "x.svg"], "a badge is for one server and one wire format"),
        (["show", "bad.json", "-o", "x.html"], "bad.json:1: calls: must be an integer"),
        (["examples", "one.json", "-o", "x"], "is a report on a server, which has no generated inputs"),
    ],
    ids=["of both kinds", "badge", "bad", "examples"],
)
def test_what_cannot_be_done_with_reports_on_servers_is_told(
    words: list[str],
    problem: str,
    report: Document,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, made in (("one", report), ("bad", {**report, "calls": "many"}), ("adapters", WHOLE)):
        Path(f"{name}.json").write_text(json.dumps(made), "utf-8")

    assert main(["report", *words]) == 4

    assert problem in capsys.readouterr().err
