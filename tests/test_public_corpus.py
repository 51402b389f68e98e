"""`python -m tools.public_corpus` makes and updates the entries of the manifest."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from llm_conformance.corpus import manifest
from llm_conformance.corpus.manifest import Part
from llm_conformance.scenarios.bare import Recorder
from tests.bare_cassettes import CITED, write
from tests.loopback_index import TOP, archive, member, serving
from tools import public_corpus

GROQ = "https://api.groq.com/openai/v1/chat/completions"
METADATA = b"Metadata-Version: 2.1\nName: acme-tests\nClassifier: License :: OSI Approved :: MIT License\n\nText\n"


def content(tmp_path: Path, *names: str) -> bytes:
    """Return a source archive with recordings of Groq under these names."""
    text = write(tmp_path / "made", CITED, request={"uri": GROQ}).read_bytes()
    recordings = (member(f"{TOP}/tests/cassettes/{name}.yaml", text) for name in names)
    return archive(member(f"{TOP}/PKG-INFO", METADATA), member(f"{TOP}/a.yaml", b"a: 1"), *recordings)


def test_an_entry_is_made_and_updated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "public.toml"
    old, new = content(tmp_path, "one"), content(tmp_path, "one", "two", "deep/three")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with serving(
        {"acme_tests-1.9.tar.gz": old, "acme_tests-1.10.tar.gz": new, "acme_tests-2-py3-none-any.whl": b""}
    ) as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
            monkeypatch.delenv(name, raising=False)

        def made(*arguments: str) -> manifest.Package:
            monkeypatch.setattr(sys, "argv", ["public_corpus", f"--manifest={path}", *arguments])
            public_corpus.main()
            manifest._read.cache_clear()
            (found,) = manifest.packages(path)
            return found

        first = made("acme-tests==1.9")
        assert (first.version, first.size, first.licence) == ("1.9", len(old), "MIT")
        assert first.parts == (Part(("tests/cassettes/*",), 1, ("groq:chat",), Recorder("raw")),)

        path.write_text(
            path.read_text("utf-8").replace("raw", "json-asciified").replace("/*", "/[a-z]*e.yaml"), "utf-8"
        )
        second = made("--all")
        assert (second.version, second.size) == ("1.10", len(new))
        part = Part(("tests/cassettes/[a-z]*e.yaml",), 2, ("groq:chat",), Recorder("json-asciified"))
        assert second.parts == (part,)
        assert "acme-tests: in no part: tests/cassettes/two.yaml" in capsys.readouterr().err
        with pytest.raises(SystemExit, match=r"acme-tests: no index has a source archive \(\.tar\.gz\) 7"):
            made("acme-tests==7")


def test_what_is_left_out_is_counted_and_in_no_part(tmp_path: Path) -> None:
    left_out = manifest.LeftOut(("*two*",), 1, "why")
    package = manifest.Package("a", "1", "a-1.tar.gz", 1, "", "MIT", (Part(("*",), 1, (), Recorder()),), (left_out,))
    assert package.part_of("tests/two.yaml") is None
    assert package.part_of("tests/one.yaml") is package.parts[0]
