"""Comparing and merging reports on servers."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import schema
from llm_conformance.cli.main import main
from llm_conformance.reports.comparing import NotComparableError
from llm_conformance.reports.merging import NotOfOneRunError
from llm_conformance.server.reports import comparing, merging
from tests.servers.broken.framing import WithoutDone
from tests.servers.reference import KEY, MODEL, Reference, running
from tests.test_reports import WHOLE as OF_AN_ADAPTER

Document = dict[str, Any]

KNOWN = """
[[deviation]]
rule = "WIRE-6"
scenario = "chat/plain"
mode = "stream"
reason = "a proxy drops it"
link = "https://example.com/1"

[[deviation]]
rule = "WIRE-6"
scenario = "chat/stop"
mode = "json"
reason = "there is nothing of the kind"
link = "https://example.com/2"
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the answers of a server whose streams end without `[DONE]`, and of one that is right."""
    directory = tmp_path_factory.mktemp("kept")
    for name, server in (("wrong", WithoutDone()), ("right", Reference())):
        with pytest.MonkeyPatch.context() as patch, running(server) as url:
            patch.setenv("REFERENCE_KEY", KEY)
            named = [f"--model={MODEL}", "--key-env=REFERENCE_KEY", f"--keep={directory / name}"]
            main(["server", url, *named, "--capabilities", "tools", "n"])
    (directory / "known.toml").write_text(KNOWN, "utf-8")
    return directory


@pytest.fixture(scope="module")
def report(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Document]:
    """Return a function that judges the answers of one of the servers and returns the report."""
    file = tmp_path_factory.mktemp("reports") / "report.json"

    @functools.cache
    def text(name: str, *options: str) -> str:
        main(["server", f"--replay={kept / name}", *options, f"--report={file}"])
        return file.read_text("utf-8")

    def made(name: str, *options: str) -> Document:
        document: Document = json.loads(text(name, *options))
        return document

    return made


def put(directory: Path, **documents: Document) -> list[str]:
    paths = [directory / f"{name}.json" for name in documents]
    for path, document in zip(paths, documents.values(), strict=True):
        path.write_text(json.dumps(document), "utf-8")
    return list(map(str, paths))


HALVES = {
    "modes": (["--mode=json"], ["--mode=stream"]),
    "rules": (["--rule=WIRE"], ["--rule=SRV"]),
    "conversations": (["--conversation=[a-p]*"], ["--conversation=[q-z]*"]),
}


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize("halves", HALVES.values(), ids=HALVES)
@pytest.mark.parametrize("known", [[], ["--deviations={}/known.toml"]], ids=["", "known"])
def test_parts_merge_into_the_report_of_the_whole(
    halves: tuple[list[str], list[str]], known: list[str], report: Callable[..., Document], kept: Path
) -> None:
    options = [each.format(kept) for each in known]
    whole = report("wrong", *options)
    parts = [report("wrong", *half, *options) for half in halves]

    merged = merging.merge(parts)

    assert whole["complete"] is True
    assert [each["complete"] for each in parts] == [False, False]
    assert {**merged, "finished": ""} == {**whole, "finished": ""}
    assert list(schema.problems("server-report", merged)) == []


def test_a_known_deviation_is_stale_once_the_report_is_whole(report: Callable[..., Document], kept: Path) -> None:
    options = f"--deviations={kept}/known.toml"
    parts = [report("wrong", f"--mode={mode}", options) for mode in ("json", "stream")]

    assert [each["status"] for each in merging.merge(parts[1:])["deviations"]] == ["expected", "not seen"]
    merged = merging.merge(parts)
    assert [each["status"] for each in merged["deviations"]] == ["expected", "stale"]
    assert merged["summary"]["stale"] == 1


def test_merge_writes_any_form_and_ends_as_one_run_would(
    report: Callable[..., Document], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = put(tmp_path, a=report("right", "--mode=json"), b=report("right", "--mode=stream"))
    capsys.readouterr()

    for form in ("json", "html", "md", "svg"):
        assert main(["report", "merge", *names, "-o", f"{tmp_path}/whole.{form}"]) == 0

    assert capsys.readouterr().out.startswith(f"{tmp_path}/whole.json: conforms; ")
    parts = put(tmp_path, a=report("wrong", "--mode=json"), b=report("wrong", "--mode=stream"))
    assert main(["report", "merge", *parts, "-o", f"{tmp_path}/whole.md"]) == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"server": {"url": "http://127.0.0.1:1/v1"}}, "different servers, wire formats, models or capabilities"),
        ({"suite": {"version": "0.2"}}, "different versions of the suite"),
        ({"edition": "0.2"}, "different editions of the suite"),
        ({"planned": 7}, "different numbers of results"),
        ({"deviations": [{"status": "not seen"}]}, "the known deviations differ"),
        ({}, "they overlap: WIRE-1 chat/plain json is in two reports"),
    ],
    ids=lambda change: next(iter(change), "none") if isinstance(change, dict) else "",
)
def test_parts_of_different_runs_are_refused(
    change: Mapping[str, Any], problem: str, report: Callable[..., Document]
) -> None:
    part = report("right", "--mode=json")
    other = {**part, **{name: ({**part[name], **to} if isinstance(to, dict) else to) for name, to in change.items()}}

    with pytest.raises(NotOfOneRunError, match=problem):
        merging.merge([part, other])


def test_compare_says_what_is_new_and_what_is_gone(
    report: Callable[..., Document], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong = put(tmp_path, right=report("right"), wrong=report("wrong"))
    capsys.readouterr()

    assert main(["report", "compare", right, wrong]) == 1
    told = capsys.readouterr().out
    assert "the url differs: http://127.0.0.1:" in told
    assert "1 new finding\n  false success: WIRE-6 in " in told
    assert "0 findings gone\n" in told
    assert "\n  WIRE-6 chat/plain stream: pass -> fail: " in told

    assert main(["report", "compare", wrong, right]) == 0
    told = capsys.readouterr().out
    assert "0 new findings\n1 finding gone\n  false success: WIRE-6 in " in told
    assert "0 cells got worse\n" in told
    assert "\n  WIRE-6 chat/plain stream: fail -> pass\n" in told

    assert main(["report", "compare", wrong, wrong]) == 0
    assert capsys.readouterr().out == ("0 new findings\n0 findings gone\n0 cells got worse\n0 cells got better\n")


def test_what_the_model_left_unjudged_in_one_run_is_told_apart(
    report: Callable[..., Document], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = report("wrong"), report("wrong")
    changed = copy.deepcopy(before)
    for each in changed["results"]:
        if each["rule"] == "WIRE-6":
            each |= {"status": "vacuous"}
    changed["findings"] = []
    names = put(tmp_path, before=changed, after=after)
    capsys.readouterr()

    assert main(["report", "compare", *names]) == 0

    told = capsys.readouterr().out
    assert told.startswith("0 new findings\n0 findings gone\n0 cells got worse\n0 cells got better\n")
    assert " failing cells that only one of the runs could judge\n  WIRE-6 chat/plain stream: vacuous -> fail" in told


def test_a_part_by_rules_is_compared_with_the_whole(
    report: Callable[..., Document], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = put(tmp_path, part=report("right", "--rule=WIRE"), whole=report("wrong"))
    capsys.readouterr()

    assert main(["report", "compare", *names]) == 1

    told = capsys.readouterr().out
    assert told.startswith(f"{tmp_path}/part.json is a partial report; cells that it does not have are not compared\n")
    assert "1 new finding\n" in told


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"server": {"api": "messages"}},
            "  wire format: only the first has chat; only the second has messages (--api)",
        ),
        (
            {"server": {"capabilities": ["keys", "tools", "seed"]}},
            "  capabilities: only the first has n; only the second has seed (--capabilities, --key-env, --context)",
        ),
        ({"edition": "0.2"}, "  edition: only the first has 0.1; only the second has 0.2 (--edition)"),
    ],
)
def test_reports_that_cannot_be_compared_are_refused(
    change: Mapping[str, Any],
    problem: str,
    report: Callable[..., Document],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = report("right")
    other = {**one, **{name: ({**one[name], **to} if isinstance(to, dict) else to) for name, to in change.items()}}
    capsys.readouterr()

    assert main(["report", "compare", *put(tmp_path, one=one, other=other)]) == 4

    told = capsys.readouterr().err
    assert f"the reports cannot be compared; they differ in\n{problem}\n" in told
    assert "Make one of them again with the options of the other." in told


def test_reports_on_other_conversations_are_not_compared(report: Callable[..., Document]) -> None:
    whole, part = report("right"), report("right", "--conversation=[a-c]*")
    with pytest.raises(NotComparableError, match=r"conversations: only the first has chat/plain \(json\), .* and \d+ "):
        comparing.check_comparable(whole, part)
    modes = [report("right", f"--mode={mode}", "--conversation=plain") for mode in ("json", "stream")]
    with pytest.raises(
        NotComparableError, match=r"first has chat/plain \(json\); only the second has chat/plain \(stream\)"
    ):
        comparing.check_comparable(*modes)


@pytest.mark.parametrize("words", [["compare"], ["merge", "-o", "x.json"], ["show", "-o", "x.html"]])
def test_reports_on_servers_and_on_adapters_do_not_mix(
    words: list[str], report: Callable[..., Document], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = put(tmp_path, server=report("right", "--conversation=plain"), adapter=OF_AN_ADAPTER)

    assert main(["report", words[0], *names, *words[1:]]) == 4

    assert "reports on servers and reports on adapters cannot be " in capsys.readouterr().err
