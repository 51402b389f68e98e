"""`python -m tools.promote`: public recordings are named where they show what a scenario claims, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from llm_conformance.corpus import manifest
from llm_conformance.corpus.manifest import Package
from llm_conformance.scenarios import cassette, lint, load
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers import table
from tests import miniature, tiny_corpus
from tests.tiny_corpus import FILE, METADATA, record, replaced
from tools.promote import claims
from tools.promote.__main__ import main
from tools.promote.point import point
from tools.site import grounds

PLAIN, STREAM = miniature.interactions()
NAMED = f"""\
  grounds: recording
  shown_by:
    json: acme-tests 1.0, {FILE}, interaction 0
    stream: acme-tests 1.0, {FILE}, interaction 1
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    return tiny_corpus.use(tmp_path, monkeypatch)


def promoted(directory: Path, *options: str) -> int:
    return main([f"--cassettes={directory}", *options])


def test_a_scenario_names_the_recordings_that_show_it(
    tmp_path: Path, package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tiny_corpus.scenario(tmp_path / "own")
    before = path.read_text("utf-8")
    other = replaced(PLAIN, [("Eight.", "Six of them."), ('"a-1"', '"b-2"'), ("12,", "13,")])
    record(package, other, STREAM)
    assert promoted(tmp_path / "own", "--write") == 0
    assert path.read_text("utf-8") == before.replace("  grounds: documentation\n", NAMED)
    assert "1 of 1 scenario shown, 1 of them in each of their modes" in capsys.readouterr().out
    assert list(lint.lint(load.read(path.with_name("spider.scenario.yaml")))) == []
    assert promoted(tmp_path / "own", "--check") == 0
    assert promoted(tmp_path / "own", "--write") == 0
    assert "0 cassettes changed" in capsys.readouterr().out


def chunk(body: bytes, number: int) -> str:
    return body.decode().split("\n\n")[number] + "\n\n"


LACKING = {
    "no reasoning": (PLAIN, [(', "reasoning_content": "Spiders are arachnids, so not six."', "")]),
    "another end": (PLAIN, [('"finish_reason": "stop"', '"finish_reason": "length"')]),
    "not counted": (PLAIN, [(', "completion_tokens_details": {"reasoning_tokens": 20}', "")]),
    "no text": (PLAIN, [("Eight.", "")]),
    "another order": (STREAM, [("reasoning_content", "x"), ('"content"', '"reasoning_content"'), ('"x"', '"content"')]),
    "no null beside the reasoning": (STREAM, [('"content": null, ', "")]),
    "no piece of text": (STREAM, [(chunk(STREAM.body, 3), ""), (chunk(STREAM.body, 4), "")]),
    "no finish word": (STREAM, [('"finish_reason": "stop"', '"finish_reason": null')]),
}


@pytest.mark.parametrize("name", LACKING)
def test_a_recording_that_lacks_a_claim_is_not_named(
    name: str, tmp_path: Path, package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    interaction, changes = LACKING[name]
    mode = "stream" if interaction is STREAM else "json"
    path = tiny_corpus.scenario(tmp_path / "own")
    record(package, *(replaced(each, changes) if each is interaction else each for each in (PLAIN, STREAM)))
    assert promoted(tmp_path / "own", "--write", "--near=9") == 0
    assert f"    {mode}: " not in path.read_text("utf-8")
    assert f"mini/spider {mode}: nearly: acme-tests 1.0, {FILE}" in capsys.readouterr().out


@pytest.mark.parametrize("title", ["Reasoning before an emoji", "Text that begins with a blank", "A text that is JSON"])
def test_what_the_title_speaks_of_has_to_be_shown(title: str, tmp_path: Path, package: Package) -> None:
    spoken = miniature.SCENARIO.replace("Reasoning beside the answer", title)
    path = tiny_corpus.scenario(tmp_path / "own", spoken)
    own = {"emoji": "🦀", "blank": " Eight", "JSON": '{\\"legs\\": 8}'}
    new = next(text for word, text in own.items() if word in title)
    text = path.read_text("utf-8").replace('"Eight."', f'"{new}"')
    path.write_text(text, "utf-8")
    record(package, PLAIN, PLAIN)
    promoted(tmp_path / "own", "--write")
    assert "shown_by" not in path.read_text("utf-8")
    record(package, replaced(PLAIN, [("Eight.", new)]), PLAIN)
    promoted(tmp_path / "own", "--write")
    assert f"    json: acme-tests 1.0, {FILE}, interaction 0\n" in path.read_text("utf-8")


def test_a_scenario_about_streams_is_not_shown_by_a_plain_answer(tmp_path: Path, package: Package) -> None:
    path = tiny_corpus.scenario(tmp_path / "own", miniature.SCENARIO.replace("the answer", "text in each chunk"))
    record(package, PLAIN)
    promoted(tmp_path / "own", "--write")
    assert "shown_by" not in path.read_text("utf-8")
    record(package, PLAIN, STREAM)
    promoted(tmp_path / "own", "--write")
    assert NAMED in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("uri", "is_shown"),
    [("https://api.deepseek.com/v1/chat/completions", True), ("http://localhost:9/v1/chat/completions", False)],
)
def test_a_recording_of_another_api_shows_nothing(tmp_path: Path, package: Package, uri: str, is_shown: bool) -> None:
    path = tiny_corpus.scenario(tmp_path / "own")
    record(package, *(replace(each, uri=uri) for each in (PLAIN, STREAM)))
    promoted(tmp_path / "own", "--write")
    assert ("shown_by" in path.read_text("utf-8")) is is_shown


EARLIER = {"role": "assistant", "content": "Eight.", "reasoning_content": "Not six."}
ROUND_TRIP = """\
round_trip:
  source: https://example.com/docs
  sent: {/messages/1/reasoning_content: Not six.}
"""


@pytest.mark.parametrize(
    ("sent", "is_shown"), [((EARLIER,), True), ((), False), (({**EARLIER, "reasoning_content": ""},), False)]
)
def test_what_goes_back_has_to_be_in_the_request(
    tmp_path: Path, package: Package, sent: Sequence[dict[str, str]], is_shown: bool
) -> None:
    def asked(interaction: Interaction, *earlier: object) -> Interaction:
        question = {"role": "user", "content": "Why?"}
        return replace(interaction, request={**interaction.request, "messages": [question, *earlier, question]})

    path = tiny_corpus.scenario(tmp_path / "own", miniature.SCENARIO + ROUND_TRIP)
    path.unlink()
    cassette.save(path, METADATA, [asked(each, EARLIER) for each in (PLAIN, STREAM)])
    record(package, *(asked(each, *sent) for each in (PLAIN, STREAM)))
    promoted(tmp_path / "own", "--write")
    assert ("shown_by" in path.read_text("utf-8")) is is_shown


def test_a_reference_that_does_not_hold_any_more_is_found(
    tmp_path: Path, package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny_corpus.scenario(tmp_path / "own")
    record(package, PLAIN, STREAM)
    promoted(tmp_path / "own", "--write")
    record(package, replaced(PLAIN, [("Eight.", "")]))
    capsys.readouterr()
    assert promoted(tmp_path / "own", "--check") == 1
    said = capsys.readouterr().out
    assert f"mini/spider json: acme-tests 1.0, {FILE}, interaction 0: it does not show:\n" in said
    assert "    an answer with text\n" in said
    assert "interaction 1: there is no such recording of this API and mode\n0 references right, 2 wrong" in said


def test_a_named_recording_is_checked_whatever_the_manifest_says_of_its_api(
    tmp_path: Path, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_corpus.scenario(tmp_path / "own")
    record(package, PLAIN, STREAM)
    promoted(tmp_path / "own", "--write")
    manifest._read.cache_clear()
    record(tiny_corpus.use(tmp_path, monkeypatch, "groq:chat"), PLAIN, STREAM)
    assert promoted(tmp_path / "own", "--check") == 0


def test_a_reference_that_is_lost_is_told(tmp_path: Path, package: Package, capsys: pytest.CaptureFixture[str]) -> None:
    path = tiny_corpus.scenario(tmp_path / "own")
    record(package, PLAIN, STREAM)
    promoted(tmp_path / "own", "--write")
    record(package, replaced(PLAIN, [("Eight.", "")]))
    promoted(tmp_path / "own", "--write")
    assert "mini/spider: shown by no recording any more; look at its grounds" in capsys.readouterr().out
    assert "shown_by" not in path.read_text("utf-8")


def test_a_reference_stays_whatever_the_manifest_says_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tiny_corpus.use(tmp_path, monkeypatch, api="openai:chat")
    references = {mode: f"acme-tests 1.0, {FILE}, interaction {at}" for at, mode in enumerate(("json", "stream"))}
    path = tiny_corpus.scenario(tmp_path / "own", metadata={**METADATA, "grounds": "recording", "shown_by": references})
    record(package, PLAIN, STREAM)
    assert promoted(tmp_path / "own", "--write", "--provider=deepseek") == 0
    assert cassette.load(path).metadata["shown_by"] == references
    assert "no recording any more" not in capsys.readouterr().out


def test_probes_and_failing_connections_are_left_out(
    tmp_path: Path, package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny_corpus.scenario(tmp_path / "own", metadata={**METADATA, "grounds": "probe"})
    record(package, PLAIN, STREAM)
    promoted(tmp_path / "own")
    said = capsys.readouterr().out
    assert "0 of 0 scenarios shown" in said
    assert "1 scenario left out: a probe: no provider is known to send it" in said


@pytest.mark.usefixtures("package")
def test_a_package_that_is_not_here_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny_corpus.scenario(tmp_path / "own")
    assert promoted(tmp_path / "own") == 2
    assert "not fetched: acme-tests; `llm-conformance corpus fetch`" in capsys.readouterr().err


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        (f"acme-test 1.0, {FILE}, interaction 0", "has no package acme-test; did you mean acme-tests?"),
        (
            f"acme-tests 1.1, {FILE}, interaction 0",
            "has acme-tests 1.0, not 1.1; run `python -m tools.promote --write`",
        ),
        ("acme-tests 1.0, setup.py, interaction 0", "lists no file setup.py of acme-tests"),
        ("acme-tests 1.0", "json: must be PACKAGE VERSION, PATH, interaction INDEX"),
    ],
)
def test_the_lint_compares_references_with_the_manifest(tmp_path: Path, reference: str, problem: str) -> None:
    metadata = {**METADATA, "grounds": "recording", "shown_by": {"json": reference}}
    path = tiny_corpus.scenario(tmp_path, metadata=metadata)
    (found,) = miniature.problems(tmp_path)
    assert found.startswith(f"{path.name}:7: ")
    assert "shown_by" in found
    assert problem in found


@pytest.mark.usefixtures("package")
def test_references_belong_to_modes_and_to_recordings(tmp_path: Path) -> None:
    metadata = {**METADATA, "shown_by": {"stream": f"acme-tests 1.0, {FILE}, interaction 0"}}
    tiny_corpus.scenario(tmp_path / "sdk", metadata=metadata)
    assert any("grounds" in each for each in miniature.problems(tmp_path / "sdk"))
    plain = miniature.SCENARIO.replace("{json: 0, stream: 1, same_content: true}", "{json: 0}")
    tiny_corpus.scenario(tmp_path / "plain", plain, {**metadata, "grounds": "recording"})
    assert miniature.problems(tmp_path / "plain") == ["spider.yaml:7: shown_by: the scenario has no stream recording"]


def test_the_page_of_grounds_links_public_recordings(
    tmp_path: Path, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_corpus.scenario(tmp_path / "own")
    record(package, PLAIN, STREAM)
    promoted(tmp_path / "own", "--write")
    monkeypatch.setattr(grounds, "CASSETTES", tmp_path / "own")
    page = grounds.page()
    assert "| API | public recording | recording |" in page
    assert "| `deepseek:chat` | 1 |  |" in page
    cited = f"[acme-tests 1.0](https://pypi.org/project/acme-tests/1.0/), `{FILE}`, interaction"
    assert f"json: {cited} 0, stream: {cited} 1; <https://example.com/docs> |" in page


CITED: dict[str, object] = {
    "type": "text",
    "text": "Eight.",
    "citations": [{"type": "char_location", "cited_text": "8", "start_char_index": 1}],
}
THOUGHT: dict[str, object] = {"type": "thinking", "thinking": "Not six.", "signature": "c2ln"}
SEARCH: dict[str, object] = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
OTHERS: dict[str, tuple[list[dict[str, object]], bool]] = {
    "the same": ([THOUGHT, CITED], True),
    "something between": ([THOUGHT, SEARCH, CITED], True),
    "another order": ([CITED, THOUGHT], False),
    "another type of citation": ([THOUGHT, {**CITED, "citations": [{"type": "page_location"}]}], False),
    "no signature": ([{**THOUGHT, "signature": ""}, CITED], False),
    "fewer blocks": ([CITED], False),
}


@pytest.mark.parametrize("name", OTHERS)
def test_blocks_have_to_be_of_the_same_types_in_the_same_order(name: str) -> None:
    api = table.table()["anthropic", "messages"]

    def answer(content: list[dict[str, object]]) -> Interaction:
        body = {"type": "message", "content": content, "stop_reason": "end_turn", "usage": {"output_tokens": 1}}
        headers = {"content-type": "application/json"}
        return Interaction(api.base_urls[0] + api.path, {}, 200, headers, json.dumps(body).encode())

    content, is_shown = OTHERS[name]
    claimed = claims.of_scenario(answer([THOUGHT, CITED]), api, "m", "off", None)
    wanted = point(claimed, "Thinking before a cited text", "", [])
    shown = claims.of_recording(answer(content), api, "m", "off", "raw")
    assert (shown.missing(wanted) == []) is is_shown


def test_what_a_recorder_has_written_anew_does_not_show_how_it_was_written() -> None:
    api = table.table()["deepseek", "chat"]
    padded = replace(PLAIN, body=b"\n         \n" + PLAIN.body)
    wanted = point(claims.of_scenario(padded, api, "m", "off", None), "", "", [])
    stated = next(iter(api.varies.get("before a document", ())), "none")
    lacking = [] if stated == "blank lines" else ["before a document: blank lines"]
    assert claims.of_recording(padded, api, "m", "off", "raw").missing(wanted) == []
    assert claims.of_recording(padded, api, "m", "off", "json-asciified").missing(wanted) == lacking
