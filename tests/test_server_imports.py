"""A kept answer in which a rule fails is imported as a scenario for adapters, in each wire format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llm_conformance.cli.main import main
from llm_conformance.scenarios.lint import load_all
from llm_conformance.server.apis.known import APIS
from tests.servers.broken import framing, messages, ollama, responses
from tests.servers.broken.base import Broken
from tests.test_server_reports import judge

FAILING: list[tuple[type[Broken], str]] = [
    (framing.WithoutDone, "plain.stream"),
    (messages.NoCountsAtTheEnd, "plain.stream"),
    (responses.NoNumbers, "plain.stream"),
    (ollama.CutSaysStop, "cut.stream"),
]


def test_all_formats_are_tried() -> None:
    assert {broken.api for broken, _ in FAILING} == {*APIS}


@pytest.mark.parametrize(("broken", "name"), FAILING, ids=[broken.api for broken, _ in FAILING])
def test_a_kept_failing_answer_becomes_a_scenario(broken: type[Broken], name: str, tmp_path: Path) -> None:
    conversation, mode = name.split(".")
    options = [f"--api={broken.api}", f"--conversation={conversation}", f"--mode={mode}", f"--rule={broken.fails[0]}"]
    assert judge(broken(), tmp_path, *options) == 1
    kept = tmp_path / "kept" / f"{name}.json"

    assert main(["import", str(kept), f"--into={tmp_path}/imported"]) == 0

    (scenario,) = load_all([tmp_path / "imported"])
    assert (scenario.api.provider, scenario.api.name) == APIS[broken.api].row
    ((shown, interaction),) = scenario.interactions.items()
    assert shown == mode
    (pair,) = json.loads(kept.read_text("utf-8"))["interactions"]
    assert interaction.body.decode("utf-8") == pair["response"]["body"]["string"]
    assert interaction.request == json.loads(pair["request"]["body"])
    message = scenario.expected[mode].message or ""
    assert message == "Paris" if conversation == "plain" else message.startswith("one two")
