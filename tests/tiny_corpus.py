"""A public corpus of one package with recordings of DeepSeek, in a cache of the test's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.corpus import manifest, places
from llm_conformance.corpus.manifest import Package, Part
from llm_conformance.scenarios import cassette
from llm_conformance.scenarios.bare import Recorder
from llm_conformance.scenarios.checks import references
from llm_conformance.wire.interaction import Interaction
from tests import loopback_index, miniature

FILE = "tests/cassettes/spider.yaml"
METADATA = {"provenance": "synthetic", "grounds": "documentation", "source": "https://example.com/docs"}


def use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str = "deepseek:chat") -> Package:
    """Replace the suite's manifest by one with a package of recordings of `api`, which are not in the cache yet."""
    part = Part(("tests/cassettes/*",), 1, (api,), Recorder("raw"))
    package = loopback_index.package(b"x", parts=(part,))
    path = tmp_path / "public.toml"
    path.write_text(loopback_index.manifest(package), "utf-8")
    monkeypatch.setattr(manifest, "MANIFEST", path)
    monkeypatch.setattr(references, "PUBLIC", path)
    references.packages.cache_clear()
    monkeypatch.setenv(places.CACHE, str(tmp_path / "cache"))
    return package


def record(package: Package, *interactions: Interaction) -> None:
    """Put the package's only recording into the cache, in place of the one before."""
    path = places.folder(package) / FILE
    path.unlink(missing_ok=True)
    cassette.save(path, {}, interactions)


def scenario(directory: Path, text: str = miniature.SCENARIO, metadata: Mapping[str, Any] = METADATA) -> Path:
    """Write the scenario `mini/spider` below a directory; return its cassette."""
    path = directory / "mini" / "spider.yaml"
    cassette.save(path, metadata, miniature.interactions())
    path.with_name("spider.scenario.yaml").write_text(text, "utf-8")
    return path


def replaced(interaction: Interaction, changes: Iterable[tuple[str, str]]) -> Interaction:
    """Return an interaction with texts of its body replaced; each has to occur."""
    body = interaction.body.decode()
    for old, new in changes:
        assert old in body
        body = body.replace(old, new)
    return replace(interaction, body=body.encode())
