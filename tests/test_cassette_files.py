"""Files of scenarios and cassettes: what is read, what is refused, and what is written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import vcr

from llm_conformance import limits, yaml_files
from llm_conformance.scenarios import cassette
from llm_conformance.scenarios.cassette import save
from llm_conformance.yaml_files import BadFileError
from tests import miniature


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: !!python/name:os.system", "only !!binary is allowed"),
        ("a: !custom 1", "only !!binary is allowed"),
        ("a: &x [1]\nb: *x", "anchors and aliases are refused"),
        ("a: 1\na: 2", "'a' occurs twice"),
        ("a: [1", "not valid YAML"),
        ("[" * 100, "nested deeper than 64 levels"),
    ],
)
def test_dangerous_or_broken_yaml_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.yaml"
    with pytest.raises(BadFileError) as caught:
        yaml_files.parse(path, text)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}:")


def test_dates_are_text_and_binary_is_bytes(tmp_path: Path) -> None:
    assert yaml_files.parse(tmp_path, "a: 2025-01-21\nb: !!binary aGk=") == {"a": "2025-01-21", "b": b"hi"}


def test_an_oversize_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a" * 100)
    monkeypatch.setattr(limits, "BYTES", 99)
    with pytest.raises(BadFileError, match="larger than"):
        yaml_files.read_text(path)


def test_a_cassette_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        save(path, {"provenance": "synthetic", "grounds": "probe", "source": "the tests"}, miniature.interactions())
    assert path.read_text("utf-8") == "mine"


@pytest.mark.parametrize("character", "\x85\u2028\u2029\ufeff\U0001f980 ")
def test_every_character_survives_a_cassette(tmp_path: Path, character: str) -> None:
    text = f'data: {{"a": "x{character}y"}}{character}\n\n'.encode()
    path = tmp_path / "x.yaml"
    made = replace(miniature.interactions()[1], body=text)
    save(path, {"provenance": "synthetic", "grounds": "probe", "source": "the tests"}, [made])
    assert cassette.load(path).interactions == (made,)


def test_vcrpy_reads_a_written_cassette(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    written = [*miniature.interactions(), replace(miniature.interactions()[0], body=b"\xff")]
    save(path, {"provenance": "synthetic", "grounds": "probe", "source": "the tests"}, written)
    with vcr.use_cassette(str(path), record_mode="none") as recorded:
        assert [(request.uri, json.loads(request.body)) for request in recorded.requests] == [
            (interaction.uri, interaction.request) for interaction in written
        ]
        assert [response["body"]["string"] for response in recorded.responses] == [each.body for each in written]
        assert [response["status"]["code"] for response in recorded.responses] == [200, 200, 200]
