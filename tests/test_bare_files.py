"""Bare cassettes in the forms and under the names that recorders give them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_conformance import limits
from llm_conformance.scenarios import bare, load
from llm_conformance.scenarios.bare import BareFile, NotJudged, Recorder
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.yaml_files import BadFileError
from tests.bare_cassettes import CITED, scenario, write

INPUT = {"model": "gpt-4.1", "input": "Hi"}
ANSWER = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "gpt-4.1",
    "output": [
        {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}
    ],
}


def packed(path: Path) -> Path:
    """Compress a file, as LangChain's serialiser does."""
    target = path.with_name(f"{path.name}.gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return target


def apart(path: Path) -> Path:
    """Write a cassette's requests and responses apart, with the URL removed, as LangChain's serialiser does."""
    document = yaml.safe_load(path.read_text("utf-8"))
    pairs = document.pop("interactions")
    document |= {"requests": [each["request"] for each in pairs], "responses": [each["response"] for each in pairs]}
    for request in document["requests"]:
        request |= {"uri": "**REDACTED**", "headers": {"accept": ["**REDACTED**"]}}
    for response in document["responses"]:
        response["headers"] = {"content-type": "**REDACTED**"}
    path.write_text(yaml.safe_dump(document), "utf-8")
    return path


@pytest.mark.parametrize("name", ["one.yaml", "one.yml", "one.yaml.gz", "one.yml.gz"])
def test_a_cassette_may_be_compressed_and_have_either_ending(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, CITED).rename(tmp_path / "openai" / name.removesuffix(".gz"))
    path = packed(path) if name.endswith(".gz") else path
    assert load.find(tmp_path) == ([], [path])
    found = scenario(path)
    id = f"openai/{name.removesuffix('.gz').removesuffix('.yaml')}" if ".yaml" in name else f"openai/{name}"
    assert (found.id, found.expected["json"].ids) == (id, ("chatcmpl-1",))


def test_a_cassette_that_is_too_large_when_decompressed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(write(tmp_path, CITED))
    monkeypatch.setattr(limits, "BYTES", 500)
    assert path.stat().st_size < 1000
    with pytest.raises(BadFileError, match="larger than"):
        scenario(path)


@pytest.mark.parametrize("damage", [lambda text: text[:-20], lambda text: b"no gzip"])
def test_a_damaged_compressed_cassette_is_refused(tmp_path: Path, damage: Any) -> None:
    path = packed(write(tmp_path, CITED))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(BadFileError, match=r"one\.yaml\.gz:1: not compressed with gzip"):
        scenario(path)


def test_requests_and_responses_may_be_apart(tmp_path: Path) -> None:
    path = apart(write(tmp_path, CITED))
    (found,) = bare.recordings(path)
    assert isinstance(found, NotJudged)  # nothing says where the request was sent
    assert found.unknown_at
    document = yaml.safe_load(path.read_text("utf-8"))
    document["responses"] = []
    path.write_text(yaml.safe_dump(document), "utf-8")
    with pytest.raises(BadFileError, match="`interactions` is missing"):
        list(bare.recordings(path))


@pytest.mark.parametrize(("request_", "answer", "api"), [(None, CITED, "chat"), (INPUT, ANSWER, "responses")])
def test_what_is_known_of_the_recorder_tells_where_requests_were_sent(
    tmp_path: Path, request_: Any, answer: Any, api: str
) -> None:
    path = apart(write(tmp_path, answer, request={"body": json.dumps(request_)} if request_ else {}))
    recorder = Recorder(apis=("openai:responses", "openai:chat"))
    (found,) = bare.recordings_of(BareFile(path, tmp_path, "pack/one", recorder))
    assert isinstance(found, Scenario)
    assert (found.id, str(found.api), found.cannot_be_asked) == ("pack/one", f"openai:{api}", "")


def test_the_recorder_of_a_package_decides_what_is_expected(tmp_path: Path) -> None:
    path = write(tmp_path, CITED)

    def stated(fidelity: str | None) -> Any:
        (found,) = bare.recordings_of(BareFile(path, tmp_path, "pack/one", Recorder(fidelity)))
        assert isinstance(found, Scenario)
        return found.expected["json"].stated, found.provenance

    assert stated("json-reserialised") == stated(None)
    assert stated(None)[0] - stated("json-asciified")[0] == {"message", "annotations", "segments"}
    assert (stated(None)[1], stated("json-asciified")[1]) == ("recorded", "edited")
