"""What keeps reports of thousands of scenarios small: quiet verdicts in groups, exchanges on disk and in parts."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from typing import Any

from llm_conformance.judging.on_disk import OnDisk
from llm_conformance.judging.status import Status
from llm_conformance.judging.tally import Tally
from llm_conformance.judging.verdict import Verdict
from llm_conformance.reports.forms import page
from tests.test_reports import document, result

PASS = Verdict("mypkg", "MSG-1", "openai/one", "openai", "chat", "json", "parse", "pass", None, "synthetic")
PASSES = [replace(PASS, rule=f"MSG-{number}") for number in (1, 2, 3)]
NAMED = replace(PASS, rule="MSG-4", deviation=0)
FAILURE = replace(PASS, rule="MSG-5", status="fail", message="lost")


def test_quiet_verdicts_are_kept_as_one_group_in_every_process() -> None:
    tally = Tally(keeps=True)
    tally.add([*PASSES, NAMED, FAILURE])
    whole = Tally(keeps=True)
    whole.absorb(json.loads(json.dumps(tally.to_dict())))
    for each in (tally, whole):
        assert list(each.quiet.values()) == [("MSG-1", "MSG-2", "MSG-3")]
        assert each.verdicts == [NAMED, FAILURE]
        assert [(one.rule, one.status) for one in each.all_verdicts] == [
            *(("MSG-4", "pass"), ("MSG-5", "fail")),
            *((f"MSG-{number}", "pass") for number in (1, 2, 3)),
        ]


def test_nothing_quiet_is_kept_for_a_run_without_reports() -> None:
    tally = Tally(keeps=False)
    tally.add([*PASSES, FAILURE])
    assert (list(tally.quiet), tally.verdicts) == ([], [FAILURE])


def test_a_copy_of_a_tally_changes_alone() -> None:
    tally = Tally(keeps=True)
    tally.add([*PASSES, NAMED])
    before = tally.to_dict()
    other = tally.copy()
    other.mark_stale({0})
    other.absorb(before)
    assert tally.to_dict() == before
    assert (other.summary[Status.STALE], tally.summary[Status.STALE]) == (1, 0)


def test_values_on_disk_are_read_as_they_were_written_last() -> None:
    values = OnDisk()
    values.update({"one": {"text": "a\nb\ud800"}, "two": {"text": "ä" * 9000}})
    values["one"] = {"text": "later"}
    assert dict(values) == {"one": {"text": "later"}, "two": {"text": "ä" * 9000}}
    del values["two"]
    assert list(values) == ["one"]


def unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_the_page_has_its_exchanges_in_parts_that_it_need_not_unpack_to_be_shown() -> None:
    names = [f"openai/{number:03}" for number in range(120)]
    exchanges = [{"adapter": "mypkg", "scenario": name, "method": "parse", "body": f"of {name}"} for name in names]
    text = page.render([{**document(*map(result, names)), "exchanges": exchanges}])
    (data,) = re.findall(r'<script type="text/plain" id="data">(.*?)</script>', text)
    parts = [unpacked(part) for part in re.findall(r'<script type="text/plain" class="exchanges">(.*?)</script>', text)]
    assert [len(part) for part in parts] == [50, 50, 20]
    (report,) = unpacked(data)["reports"]
    assert "of openai/0" not in json.dumps(report)
    places = {place[1]: place[-1] for place in report["places"]}
    assert [parts[places[name][0]][places[name][1]]["body"] for name in names] == [f"of {name}" for name in names]
    assert len(report["quiet"]) == len(names)
    assert report["results"] == []
