"""Files of other recorders than vcrpy, and files that have no recordings."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.judging.tally import NO_RECORDING_BY_NAME
from llm_conformance.limits import BYTES as MAX_BYTES
from llm_conformance.scenarios import bare, cassette, load
from llm_conformance.scenarios.bare import NotJudged
from llm_conformance.scenarios.cassette import NO_RECORDER, NoRecordingsError
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.yaml_files import BadFileError
from tests.bare_cassettes import CITED
from tests.test_bare_runs import run

URL = "https://api.openai.com/v1/chat/completions"
ASKED = json.dumps({"model": "gpt-4o-search-preview", "messages": [{"role": "user", "content": "Grüß Gott"}]})
ANSWER = json.dumps(CITED, ensure_ascii=False)
PACKED = gzip.compress(ANSWER.encode())


def text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def har(content: Mapping[str, Any], *headers: Mapping[str, str]) -> str:
    request = {"method": "POST", "url": URL, "headers": [], "postData": {"mimeType": "application/json", "text": ASKED}}
    named = [{"name": "Content-Type", "value": "application/json"}, *headers]
    response = {"status": 200, "statusText": "OK", "headers": named, "content": content}
    return json.dumps({"log": {"version": "1.2", "entries": [{"request": request, "response": response}]}})


def ruby(body: str, head: str = "---") -> str:
    return f"""{head}
http_interactions:
- request:
    method: post
    uri: {URL}
    body:
      encoding: UTF-8
      string: '{ASKED}'
    headers:
      Content-Type:
      - application/json
  response:
    status:
      code: 200
      message: OK
    headers:
      Content-Type:
      - application/json
    body:
{body}
  recorded_at: Tue, 03 Nov 2026 09:12:40 GMT
recorded_with: VCR 6.3.1
"""


QUOTED = ANSWER.replace("'", "''")
R_1 = f"""http_interactions:
- request:
    method: post
    uri: {URL}
    body: {{encoding: '', string: '{ASKED}'}}
    headers: {{Content-Type: application/json}}
  response:
    status: {{status_code: 200, category: Success, reason: OK}}
    headers: {{content-type: application/json, x-limit: 5}}
    body: {{encoding: UTF-8, file: no, base64_string: {text(ANSWER.encode())}}}
  recorded_at: 2026-11-03 09:12:40 GMT
recorded_with: vcr/1.6.0
"""
R_2 = f"""http_interactions:
- request: {{method: POST, uri: '{URL}', body: {{string: '{ASKED}'}}}}
  response:
    status: 200
    headers: {{content-type: application/json}}
    body: {{raw_gzip: {text(zlib.compress(ANSWER.encode()))}}}
recorded_with: VCR-vcr/2.1.0
"""
GO = f"""---
version: 2
interactions:
    - id: 0
      request:
        host: api.openai.com
        body: '{ASKED}'
        form: {{}}
        headers: {{Content-Type: [application/json]}}
        url: {URL}
        method: POST
      response:
        body: '{QUOTED}'
        headers: {{Content-Type: [application/json]}}
        status: 200 OK
        code: 200
        duration: 1.2s
"""
VCRPY = json.dumps(
    {
        "version": 1,
        "interactions": [
            {
                "request": {"method": "POST", "uri": URL, "body": ASKED},
                "response": {"status": {"code": 200}, "headers": {}, "body": {"string": ANSWER}},
            }
        ],
    }
)
GZIPPED = {"name": "content-encoding", "value": "gzip"}
HALVES = (PACKED[:30], PACKED[30:])

FILES: dict[str, tuple[str, str | bytes]] = {
    "Ruby's VCR": ("one.yml", ruby(f"      encoding: UTF-8\n      string: '{QUOTED}'")),
    "Ruby's VCR, bytes": (
        "one.yml",
        ruby(f"      encoding: ASCII-8BIT\n      string: !binary |-\n        {text(ANSWER.encode())}"),
    ),
    "Ruby's VCR, a tag of Ruby's": (
        "one.yml",
        ruby(
            f"      encoding: !ruby/object:Encoding UTF-8\n      string: !ruby/string '{QUOTED}'", "--- !ruby/hash:VCR"
        ),
    ),
    "Ruby's VCR, exact bytes": (
        "one.yml",
        ruby(f"      encoding: UTF-8\n      base64_string: '{text(ANSWER.encode())}'"),
    ),
    "R's vcr": ("one.yml", R_1),
    "R's vcr 2": ("one.yml", R_2),
    "go-vcr": ("one.yaml", GO),
    "vcrpy, JSON": ("one.json", VCRPY),
    "vcrpy, packed": ("one.json.gz", gzip.compress(VCRPY.encode())),
    "a browser": ("one.har", har({"mimeType": "application/json", "text": ANSWER})),
    "a browser, base64": ("one.har", har({"text": text(ANSWER.encode()), "encoding": "base64"}, GZIPPED)),
    "Polly.js, base64": ("one.har", har({"text": json.dumps([*map(text, HALVES)]), "encoding": "base64"}, GZIPPED)),
    "Polly.js, hex": ("one.json", har({"text": json.dumps([each.hex() for each in HALVES])}, GZIPPED)),
}


def written(directory: Path, name: str, content: str | bytes) -> Path:
    path = directory / "openai" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("recorder", FILES)
def test_files_of_other_recorders_are_read(recorder: str, tmp_path: Path) -> None:
    name, content = FILES[recorder]
    path = written(tmp_path, name, content)
    assert load.find(tmp_path)[1] == [path]
    (found,) = bare.recordings(path, tmp_path)
    assert isinstance(found, Scenario), found.why
    assert found.id == ("openai/one" if name.endswith("yaml") else f"openai/{name}")
    (interaction,) = found.interactions.values()
    assert interaction.body == ANSWER.encode()
    assert interaction.request == json.loads(ASKED)
    assert found.model == "gpt-4o-search-preview"
    assert found.fidelity == "raw"
    assert found.expected["json"].message == "Grün 🦀 ([a](http://a.test))."


def test_files_of_one_name_are_several_recordings(tmp_path: Path) -> None:
    paths = [written(tmp_path, name, VCRPY) for name in ("one.yaml", "one.har", "one.json")]
    assert {bare.id_of(path, tmp_path) for path in paths} == {"openai/one", "openai/one.har", "openai/one.json"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("package.json", '{"name": "x", "version": "1"}'),
        ("tsconfig.json", "{// a comment\n}"),
        ("mkdocs.yml", "theme: !!python/name:os.system\n"),
        ("ci.yml", "steps: &steps [1]\nagain: *steps\n"),
        ("list.json", "[1, 2]"),
        ("log.json", '{"log": "text"}'),
    ],
)
def test_files_of_no_recorder_are_told_apart(name: str, content: str, tmp_path: Path) -> None:
    with pytest.raises(NoRecordingsError, match=NO_RECORDER):
        cassette.load_bare(written(tmp_path, name, content))


def test_a_cassette_without_interactions_has_no_recordings(tmp_path: Path) -> None:
    with pytest.raises(NoRecordingsError, match="they have no interactions"):
        cassette.load_bare(written(tmp_path, "one.yaml", "interactions: []\nversion: 1\n"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("one.yml", "http_interactions:\n- !!python/object/apply:os.system [true]\n", ":2: YAML tag"),
        ("one.yml", "http_interactions:\n- {a: !other b}\n", ":2: YAML tag '!other' refused"),
        ("one.json", '{\n"interactions": [}', ":2: not valid JSON: Expecting value"),
        ("one.json", '{"interactions": ' + "[" * 100_000, ":1: not valid JSON"),
        ("one.yaml.gz", b"no gzip", ":1: not compressed with gzip"),
        ("one.yaml.gz", gzip.compress(VCRPY.encode())[:-20], ":1: not compressed with gzip: the file is cut off"),
        ("one.yaml.gz", gzip.compress(bytes(MAX_BYTES + 1)), ":1: larger than 16 MiB"),
        ("one.har", '{"log": {"entries": 5}}', "must be a list, and is 5"),
        ("one.yaml", "a: 1\n", ":1: the file: `interactions` is missing"),
    ],
)
def test_bad_files_name_the_line(name: str, content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadFileError) as raised:
        cassette.load_bare(written(tmp_path, name, content))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("content", "headers", "why"),
    [
        ({"text": "AAAA=A", "encoding": "base64"}, [], "a body that is not base64"),
        ({"text": text(gzip.compress(bytes(MAX_BYTES + 1))), "encoding": "base64"}, [GZIPPED], "larger than 16 MiB"),
        (
            {"text": text(b"\xff\xfe\x00"), "encoding": "base64"},
            [{"name": "content-encoding", "value": "br"}],
            "a body compressed with 'br'",
        ),
        ({"text": 5}, [], "the body is neither text nor bytes"),
    ],
)
def test_bodies_that_cannot_be_read_are_out_of_scope(
    content: Mapping[str, Any], headers: list[Mapping[str, str]], why: str, tmp_path: Path
) -> None:
    (found,) = bare.recordings(written(tmp_path, "one.har", har(content, *headers)), tmp_path)
    assert isinstance(found, NotJudged)
    assert why in found.why


def test_what_has_no_recordings_is_counted(pytester: pytest.Pytester) -> None:
    for name, content in (("one.yml", GO), ("one-config.json", "{}"), ("LICENSE", ""), ("README.md", "Read me")):
        written(pytester.path / "more", name, content)
    result, report = run(pytester, "--adapter=adapters")
    assert result.ret == 0
    assert report["bare_recordings"]["seen"] == 1
    assert report["bare_recordings"]["other_files"] == {NO_RECORDER: 1, NO_RECORDING_BY_NAME: 2}
    result.stdout.fnmatch_lines(
        [f"no recordings: 2 files: {NO_RECORDING_BY_NAME}", f"no recordings: 1 file: {NO_RECORDER}"]
    )
