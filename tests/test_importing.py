"""Importing cassettes of other projects."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_conformance.cli import main
from llm_conformance.locations import CASSETTES
from llm_conformance.recording import credentials
from llm_conformance.scenarios import cassette, lint, load

URL = "https://api.deepseek.com/chat/completions"
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1763000000,
    "model": "deepseek-chat",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Acht."}}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
}
REQUEST = {"model": "deepseek-chat", "messages": [{"role": "user", "content": "Wie viele Beine?"}], "temperature": 0}


def cassette_file(directory: Path, *pairs: dict[str, object], name: str = "test_legs.yaml", **more: object) -> Path:
    path = directory / name
    path.write_text(json.dumps({"version": 1, "interactions": list(pairs), **more}), encoding="utf-8")
    return path


def pair(response: dict[str, object] | None = None, url: str = URL, **asked: Any) -> dict[str, object]:
    headers = {"authorization": ["Bearer sk-live-0123456789abcdefghijkl"], "content-type": ["application/json"]}
    request = {"method": "POST", "uri": url, "body": json.dumps({**REQUEST, **asked}), "headers": headers}
    head = {"status": {"code": 200, "message": "OK"}, "headers": {"content-type": ["application/json"]}}
    return {"request": request, "response": response or {**head, "body": {"string": json.dumps(ANSWER)}}}


def streamed() -> dict[str, object]:
    def chunk(delta: dict[str, object], **more: object) -> dict[str, object]:
        choice = {"index": 0, "delta": delta, "finish_reason": more.pop("finish", None)}
        return {**ANSWER, "object": "chat.completion.chunk", "usage": None, "choices": [choice], **more}

    chunks = [chunk({"role": "assistant", "content": "Ac"}), chunk({"content": "ht."}), chunk({}, finish="stop")]
    chunks.append({**chunk({}), "choices": [], "usage": ANSWER["usage"]})
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"
    head = {"status": {"code": 200, "message": "OK"}, "headers": {"content-type": ["text/event-stream"]}}
    options: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    return pair({**head, "body": {"string": body}}, **options)


def run(*arguments: str | Path) -> int:
    return main.main(["import", *map(str, arguments)])


def test_plain_and_streamed_become_one_scenario_with_expected_values(tmp_path: Path) -> None:
    file = cassette_file(tmp_path, pair(), streamed())
    into = tmp_path / "ours"
    assert run(file, f"--into={into}", "--source=https://example.com/repo at 1234567", "--licence=MIT") == 0
    (imported,) = lint.load_all([into])
    assert imported.id == "deepseek/test-legs"
    assert imported.modes == ("json", "stream")
    assert imported.same_content
    assert imported.params["json"] == {"temperature": 0}
    assert imported.params["stream"] == {"temperature": 0, "stream_options": {"include_usage": True}}
    assert {expected.message for expected in imported.expected.values()} == {"Acht."}
    assert [each.type for each in imported.expected["stream"].segments] == ["text"]
    metadata = cassette.load(into / "deepseek/test-legs.yaml").metadata
    assert (metadata["provenance"], metadata["licence"]) == ("transcribed", "MIT")
    assert metadata["source"] == "https://example.com/repo at 1234567"
    assert "sk-live" not in (into / "deepseek/test-legs.yaml").read_text("utf-8")


def test_a_cassette_is_imported_once_and_a_used_name_gets_a_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = tmp_path / "ours"
    assert run(cassette_file(tmp_path, pair()), f"--into={into}") == 0
    assert run(cassette_file(tmp_path, pair()), f"--into={into}") == 1
    assert "it was imported before as" in capsys.readouterr().out
    other = tmp_path / "other"
    other.mkdir()
    changed = json.loads(json.dumps(pair()).replace("Acht.", "Neun."))
    assert run(cassette_file(other, changed), f"--into={into}") == 0
    assert sorted(path.name for path in (into / "deepseek").glob("*.scenario.yaml")) == [
        "test-legs-2.scenario.yaml",
        "test-legs.scenario.yaml",
    ]


def test_reserialised_bodies_are_imported_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = {"status": {"code": 200, "message": "OK"}, "headers": {"content-type": ["application/json"]}}
    parsed = pair({**head, "parsed_body": ANSWER})
    parsed["request"] = {"method": "POST", "uri": URL, "headers": {}, "parsed_body": REQUEST}
    file = tmp_path / "test_parsed.yaml"
    file.write_text(yaml.safe_dump({"interactions": [parsed], "version": 1}))
    assert run(file, f"--into={tmp_path / 'ours'}") == 0
    assert "the recorder replaces typographic characters" in capsys.readouterr().out
    metadata = cassette.load(tmp_path / "ours/deepseek/test-parsed.yaml").metadata
    assert (metadata["provenance"], metadata["fidelity"]) == ("edited", "json-asciified")


def test_gzipped_cassettes_and_folders_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "theirs" / "deep"
    folder.mkdir(parents=True)
    packed = folder / "test_packed.yaml.gz"
    packed.write_bytes(gzip.compress(cassette_file(tmp_path, pair()).read_bytes()))
    assert run(tmp_path / "theirs", f"--into={tmp_path / 'ours'}") == 0
    assert [each.id for each in lint.load_all([tmp_path / "ours"])] == ["deepseek/test-packed"]


def test_the_reason_for_not_importing_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = json.loads(json.dumps(pair()).replace("finish_reason", "finishing"))
    (tmp_path / "broken.yml").write_text("interactions: [")
    file = cassette_file(tmp_path, pair(url="https://api.nobody.example/v1/chat"), odd, {"request": {}})
    assert run(file, tmp_path / "broken.yml", f"--into={tmp_path / 'ours'}") == 1
    output = capsys.readouterr().out
    assert "not imported: test_legs.yaml#0: the provider table has no API at api.nobody.example" in output
    assert "`finish_reason` is missing" in output
    assert re.search(rf"not imported: {tmp_path / 'broken.yml'}:\d: not valid YAML", output)
    assert not (tmp_path / "ours").exists()


def test_secrets_in_imported_cassettes_are_masked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(pair()).replace("Acht.", "Ask somebody@company.de or org-0123456789abcdefgh")
    assert run(cassette_file(tmp_path, json.loads(text)), f"--into={tmp_path / 'ours'}") == 0
    written = (tmp_path / "ours/deepseek/test-legs.yaml").read_text("utf-8")
    assert "somebody@company" not in written
    assert "org-0123" not in written
    assert "an e-mail address was in the response and was masked" in capsys.readouterr().out
    assert not list(lint.lint(load.read(tmp_path / "ours/deepseek/test-legs.scenario.yaml")))


OWN = "quiet-river-27-evening"
"""A key that does not look like one."""


@pytest.mark.parametrize(
    "sent",
    [
        {"headers": {"Authorization": [f"Bearer {OWN}"]}},
        {"headers": {"X-Goog-Api-Key": OWN}},
        {"headers": [{"name": "Cookie", "value": f"session={OWN}; theme=dark"}]},
        {"uri": f"{URL}?key={OWN}"},
        {"body": json.dumps({**REQUEST, "metadata": {"api_key": OWN}})},
    ],
)
def test_the_key_of_a_cassette_is_masked_where_the_answer_repeats_it(tmp_path: Path, sent: dict[str, object]) -> None:
    repeating = json.loads(json.dumps(pair()).replace("Acht.", f"The key {OWN} is wrong."))
    repeating["request"] |= {"headers": {}, **sent}
    assert run(cassette_file(tmp_path, repeating), f"--into={tmp_path / 'ours'}", "--provider=deepseek:chat") == 0
    written = [path.read_text("utf-8") for path in sorted((tmp_path / "ours/deepseek").iterdir())]
    assert len(written) == 2
    assert not any(OWN in text for text in written)
    assert any("is wrong." in text for text in written)


def test_user_and_password_of_a_url_are_credentials(tmp_path: Path) -> None:
    asked = pair(url=URL.replace("://", "://somebody-1:quiet%20river%2027@"))
    asked["request"] |= {"headers": {}}  # type: ignore[operator]
    assert credentials.sent(cassette_file(tmp_path, asked)) == {"somebody-1", "quiet river 27"}


@pytest.mark.parametrize("header", ["REDACTED", "Bearer dummy-key", "Bearer test"])
def test_a_word_in_place_of_a_key_is_left_in_answers(tmp_path: Path, header: str) -> None:
    repeating = json.loads(json.dumps(pair()).replace("Acht.", f"No {header}."))
    repeating["request"]["headers"] = {"Authorization": header}
    assert run(cassette_file(tmp_path, repeating), f"--into={tmp_path / 'ours'}") == 0
    assert f"No {header}." in (tmp_path / "ours/deepseek/test-legs.yaml").read_text("utf-8")


def test_a_cassette_of_the_suite_is_imported_with_its_expected_values(tmp_path: Path) -> None:
    into = tmp_path / "ours"
    assert run(CASSETTES / "llamacpp" / "chat-tool-call.yaml", f"--into={into}") == 0
    (imported,) = lint.load_all([into])
    (ours,) = lint.load_all([CASSETTES], lambda path: path.name == "chat-tool-call.scenario.yaml")
    for mode in ours.modes:
        assert imported.expected[mode].tool_calls == ours.expected[mode].tool_calls
        assert imported.expected[mode].usage == ours.expected[mode].usage
