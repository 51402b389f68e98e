"""Runs that judge by the public corpus, or by bare recordings of one's own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_conformance.corpus import manifest, places
from llm_conformance.corpus.manifest import Package, Part
from llm_conformance.reports import files
from llm_conformance.scenarios.bare import Recorder
from tests import inline, loopback_index, miniature
from tests.bare_cassettes import CITED, write
from tools.recordings import of_directory

GROQ = "https://api.groq.com/openai/v1/chat/completions"


@pytest.fixture
def fetched(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Put a package with recordings of two providers into the cache, and its manifest in the place of the suite's."""
    parts = (
        Part(("tests/openai/*",), 1, ("openai:chat",), Recorder("json-asciified")),
        Part(("tests/*",), 2, ("groq:chat", "openai:chat"), Recorder("raw")),
    )
    package = loopback_index.package(b"", parts=parts)
    (pytester.path / "public.toml").write_text(loopback_index.manifest(package).replace("size = 0", "size = 1"))
    pytester.makepyfile(
        here=f"""
        from pathlib import Path
        from llm_conformance.corpus import manifest

        manifest.MANIFEST = Path({str(pytester.path / "public.toml")!r})
        """
    )
    monkeypatch.setattr(manifest, "MANIFEST", pytester.path / "public.toml")
    monkeypatch.setenv(places.CACHE, str(pytester.path / "cache"))
    folder = places.folder(package)
    write(folder / "tests", CITED, "one")
    write(folder / "tests", CITED, "two", request={"uri": GROQ})
    (folder / "tests" / "openai" / "two.yaml").rename(folder / "tests" / "two.yml")
    document = yaml.safe_load((folder / "tests" / "two.yml").read_text("utf-8"))
    document["interactions"] *= 2
    (folder / "tests" / "three.yaml").write_text(json.dumps(document), "utf-8")
    return package


def run(pytester: pytest.Pytester, *arguments: str) -> tuple[pytest.RunResult, Mapping[str, Any]]:
    """Judge by the recordings of the corpus. With `-p here` the run has a process of its own: see `inline.run`."""
    report = pytester.path / "report.json"
    fixed = (str(miniature.RULES), f"--conformance-report={report}", "--conformance-examples=0")
    result = inline.run(pytester, *fixed, *arguments)
    return result, files.read(report) if report.exists() else {}


PUBLIC = ("--conformance-corpus=public", "--conformance-scenario=acme-tests/*")


@pytest.mark.usefixtures("fetched")
def test_an_adapter_is_judged_by_what_was_fetched(pytester: pytest.Pytester) -> None:
    result, report = run(pytester, "--adapter=adapters", "-v", *PUBLIC)
    assert result.ret == 0
    assert report["bare_recordings"]["seen"] == 4
    ids = {each["scenario"] for each in report["results"] if each["status"] == "pass"}
    assert ids == {
        "acme-tests/tests/openai/one",
        "acme-tests/tests/two.yml",
        "acme-tests/tests/three#0",
        "acme-tests/tests/three#1",
    }
    result.stdout.fnmatch_lines(["*bare::acme-tests/tests/three*"])


@pytest.mark.usefixtures("fetched")
def test_the_manifest_says_what_a_recorder_altered(pytester: pytest.Pytester) -> None:
    _, report = run(pytester, "--adapter=adapters", "--conformance-rule=MSG-2", *PUBLIC)
    passed = {each["scenario"] for each in report["results"] if each["status"] == "pass"}
    assert passed == {"acme-tests/tests/two.yml", "acme-tests/tests/three#0", "acme-tests/tests/three#1"}


@pytest.mark.usefixtures("fetched")
def test_only_parts_with_a_provider_of_the_adapter_are_read(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        of_groq="""
        from adapters import ReferenceAdapters

        class A:
            providers = ("groq",)

            def parse(self, http, call):
                return ReferenceAdapters().parse(http, call)
        """
    )
    result, report = run(pytester, "--adapter=of_groq.py:A", PUBLIC[0], "--conformance-scenario=*/*/*")
    assert result.ret == 0
    assert report["bare_recordings"]["seen"] == 3
    _, report = run(pytester, "--adapter=adapters", "--conformance-provider=groq", *PUBLIC)
    assert {each["provider"] for each in report["results"]} == {"groq"}


@pytest.mark.usefixtures("fetched")
def test_a_run_of_a_part_accepts_deviations_of_recordings_that_it_does_not_read(pytester: pytest.Pytester) -> None:
    path = pytester.path / "known.toml"
    because = 'reason = "because"\nlink = "https://example.com/1"\n'
    path.write_text(f'[[deviation]]\nrule = "MSG-2"\nscenario = "acme-tests/tests/openai/*"\n{because}')
    options = ("--adapter=adapters", f"--conformance-deviations={path}")
    result, _ = run(pytester, *options, "--conformance-provider=groq", *PUBLIC)
    assert result.ret == 0


def test_tools_read_what_the_manifest_lists(fetched: Package, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(manifest, "MANIFEST", places.root().parent.parent / "public.toml")
    part = places.folder(fetched) / "tests"
    (part.parent / "unlisted.yaml").write_text((part / "openai" / "one.yaml").read_text("utf-8"), "utf-8")
    text = (
        (part / "openai" / "one.yaml").read_text("utf-8").replace("https://api.openai.com/v1/chat/completions", "gone")
    )
    (part / "openai" / "one.yaml").write_text(text, "utf-8")
    skipped: Counter[str] = Counter()
    found = [(str(each.api), each.name.partition("/tests/")[2]) for each in of_directory(places.root(), skipped)]
    assert found == [("groq:chat", "three#0"), ("groq:chat", "three#1"), ("groq:chat", "two.yml")]
    assert skipped == {"no such API": 1}
    monkeypatch.setattr(manifest, "MANIFEST", tmp_path / "without-urls.toml")
    stated = (places.root().parent.parent / "public.toml").read_text("utf-8")
    (tmp_path / "without-urls.toml").write_text(stated.replace("fidelity", "without_urls = true\nfidelity"), "utf-8")
    assert {each.api.provider for each in of_directory(places.root(), skipped)} == {"groq", "openai"}


def test_what_was_not_fetched_is_a_usage_error(pytester: pytest.Pytester, fetched: Package) -> None:
    next(places.files(fetched)).unlink()
    result, report = run(pytester, "--adapter=adapters", "--conformance-corpus=public")
    assert result.ret == 4
    assert not report
    result.stderr.fnmatch_lines(
        [
            "*--conformance-corpus=public: 1 package with recordings is not in *",
            "  llm-conformance corpus fetch acme-tests",
        ]
    )


@pytest.mark.usefixtures("fetched")
def test_a_corpus_without_a_provider_of_the_run_is_a_usage_error(pytester: pytest.Pytester) -> None:
    result, _ = run(pytester, "--adapter=adapters", "--conformance-provider=cohere", "--conformance-corpus=public")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--conformance-corpus=public: has no recordings of the providers of this run*"])


@pytest.mark.usefixtures("fetched")
def test_the_reproduce_command_names_the_corpus(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(wrong="class A:\n    providers = ['openai']\n    parse = dict\nconformance_adapter = A")
    result, report = run(
        pytester, "-p", "here", "--adapter=wrong", "--tb=short", "--conformance-scenario=*/one", PUBLIC[0]
    )
    assert result.ret == 1
    assert {each["scenario"] for each in report["results"]} == {"acme-tests/tests/openai/one"}
    result.stdout.fnmatch_lines(
        ["Reproduce*--conformance-corpus=public*--conformance-scenario=acme-tests/tests/openai/one*"]
    )


def test_a_directory_of_ones_own_is_judged_as_cassettes_are(pytester: pytest.Pytester) -> None:
    write(pytester.path / "more", CITED)
    options = ("--adapter=adapters", "--conformance-scenario=openai/one", "--conformance-rule=MSG-2")
    _, by_corpus = run(pytester, *options, "--conformance-corpus=more")
    _, by_cassettes = run(pytester, *options, "--conformance-cassettes=more", "--conformance-corpus=more/openai")
    for report in (by_corpus, by_cassettes):
        assert report["bare_recordings"]["seen"] == 1
        assert {each["scenario"] for each in report["results"]} == {"openai/one"}
    result, _ = run(pytester, "--adapter=adapters", "--conformance-corpus=publik")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*--conformance-corpus={Path(pytester.path, 'publik')}: no such directory*"])
