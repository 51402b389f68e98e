"""Packages of the public corpus are fetched as a whole or not at all, through the index that pip is set up for."""

from __future__ import annotations

import base64
import errno
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_conformance import corpus
from llm_conformance.cli import main
from llm_conformance.corpus import fetch, manifest, places, unpack
from llm_conformance.corpus.download import Index
from llm_conformance.corpus.fetch import FetchError
from llm_conformance.corpus.pip_settings import PipSettings
from llm_conformance.yaml_files import BadFileError
from tests import loopback_index
from tests.loopback_index import ARCHIVE, package, recorded, serving

CONTENT = recorded(one={"interactions": []}, two={"interactions": []})
ENTRY = package(CONTENT, 2)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the user's cache and pip's configuration out; the manifest has one package."""
    path = tmp_path / "public.toml"
    path.write_text(loopback_index.manifest(ENTRY), "utf-8")
    monkeypatch.setattr(manifest, "MANIFEST", path)
    monkeypatch.setenv(places.CACHE, str(tmp_path / "cache"))
    for name in [each for each in os.environ if each.startswith("PIP_") or each.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")  # no test asks any other
    return tmp_path / "cache"


def fetched() -> list[str]:
    """Return what is in the cache, below the package's folder; nothing else may be there."""
    found = sorted(path for path in places.root().rglob("*") if path.is_file())
    return [path.relative_to(places.folder(ENTRY)).as_posix() for path in found]


BOTH = ["tests/cassettes/one.yaml", "tests/cassettes/two.yaml"]


def run(*arguments: str) -> int:
    return main.main(["corpus", *arguments])


def test_a_package_is_fetched_once_and_is_there_offline(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cache: Path
) -> None:
    with serving({ARCHIVE: CONTENT}) as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        assert run("status") == 1
        assert run("fetch") == 0
    assert fetched() == BOTH
    assert list(cache.rglob(f"{places.UNFINISHED}*")) == []
    assert run("fetch") == 0
    assert run("status") == 0
    assert run("list") == 0
    said = capsys.readouterr().out
    assert "missing: acme-tests 1.0 (2 recordings)" in said
    assert "`llm-conformance corpus fetch` downloads what is missing" in said
    assert "1 package fetched, 0 were here, 0 not fetched" in said
    assert "0 packages fetched, 1 were here, 0 not fetched" in said
    assert "acme-tests 1.0: 2 recordings, 0.0 MiB, fetched\n    MIT; openai" in said
    assert run("clear") == 0
    assert fetched() == []


def test_clearing_leaves_what_is_not_of_the_corpus(cache: Path) -> None:
    mine = cache / "public-corpus" / "notes.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    places.folder(ENTRY).mkdir(parents=True)
    assert run("clear") == 0
    assert mine.exists()
    assert not places.folder(ENTRY).exists()


@pytest.mark.parametrize(
    ("served", "behaviour", "why"),
    [
        ({ARCHIVE: CONTENT[:-8] + b"\0" * 8}, {}, "its sha256 is not"),
        ({ARCHIVE: CONTENT + b"more"}, {}, "its sha256 is not"),
        ({ARCHIVE: CONTENT[:50]}, {}, "cut off at 50 of"),
        ({ARCHIVE: CONTENT}, {"cut_off": 50}, "the download was cut off"),
        ({ARCHIVE: CONTENT}, {"status": 503}, f"the server answered 503 when asked for {ARCHIVE}"),
        ({ARCHIVE: CONTENT}, {"status": 404}, "the server answered 404"),
        ({"acme_tests-2.0.tar.gz": CONTENT}, {}, f"no index has {ARCHIVE} (asked http://127.0.0.1:"),
        ({}, {}, f"no index has {ARCHIVE}"),
        ({ARCHIVE: CONTENT}, {"page": b"[1"}, "the index cannot be asked for the index page of acme-tests"),
        ({ARCHIVE: CONTENT}, {"user": "eDp5"}, "Client Error(401)"),
    ],
)
def test_what_cannot_be_had_says_why_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], served: Any, behaviour: Any, why: str
) -> None:
    with serving(served, **behaviour) as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        assert run("fetch") == (1 if "sha256" in why else 5)
    said = capsys.readouterr().out
    assert "acme-tests 1.0: not fetched: " in said
    assert why in said
    assert fetched() == []
    assert not any(places.root().glob("*/.*"))


def test_without_an_index_the_message_names_the_settings_of_pip(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fetch") == 5
    assert "the index cannot be reached" in capsys.readouterr().out
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert run("fetch") == 5
    assert f"no index has {ARCHIVE} (asked nothing: pip is set to no-index)" in capsys.readouterr().out


def test_a_hostile_archive_is_refused_even_if_its_digest_is_right(tmp_path: Path) -> None:
    evil = loopback_index.archive(
        loopback_index.member(f"{loopback_index.TOP}/tests/cassettes/one.yaml"),
        loopback_index.member("../../../../evil.yaml"),
    )
    with pytest.raises(FetchError, match=rf"{ARCHIVE} is refused: the name .*evil\.yaml' is not safe"):
        _fetch(package(evil, 1), {ARCHIVE: evil})
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "public.toml"] == []


def test_an_archive_that_has_not_what_the_manifest_says_is_refused() -> None:
    with pytest.raises(FetchError, match=r"has 2 files like tests/cassettes/\*, and the manifest says 3"):
        _fetch(package(CONTENT, 3), {ARCHIVE: CONTENT})
    assert fetched() == []


def test_files_come_from_further_indexes_and_folders_too(tmp_path: Path) -> None:
    with serving({}) as main_url, serving({ARCHIVE: CONTENT}) as url:
        _fetch_with(ENTRY, PipSettings(index_url=main_url, extra_index_urls=(url,)))
    assert fetched() == BOTH
    assert run("clear") == 0
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / ARCHIVE).write_bytes(CONTENT)
    _fetch_with(ENTRY, PipSettings(no_index=True, find_links=(str(tmp_path / "links"), "/not/there")))
    assert fetched() == BOTH


def test_the_index_may_ask_for_a_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user = base64.b64encode(b"me:secret").decode()
    with serving({ARCHIVE: CONTENT}, user=user) as url:
        _fetch_with(ENTRY, PipSettings(index_url=url.replace("//", "//me:secret@")))
        assert fetched() == BOTH
        assert run("clear") == 0
        (tmp_path / "netrc").write_text("machine 127.0.0.1\nlogin me\npassword secret\n")
        (tmp_path / "netrc").chmod(0o600)
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        _fetch_with(ENTRY, PipSettings(index_url=url))
    assert fetched() == BOTH


def test_a_password_is_not_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({}) as url:
        monkeypatch.setenv("PIP_INDEX_URL", url.replace("//", "//me:hunter2@"))
        assert run("fetch") == 5
    said = capsys.readouterr()
    assert "asked http://127.0.0.1" in said.out
    assert "hunter2" not in said.out + said.err


def test_what_is_damaged_is_fetched_again() -> None:
    _fetch(ENTRY, {ARCHIVE: CONTENT})
    (places.folder(ENTRY) / BOTH[0]).unlink()
    assert not places.is_fetched(ENTRY)
    _fetch(ENTRY, {ARCHIVE: CONTENT})
    assert fetched() == BOTH


def test_another_archive_of_the_package_has_another_folder(capsys: pytest.CaptureFixture[str]) -> None:
    old = places.root() / "acme-tests" / "0.9-0123456789ab"
    old.mkdir(parents=True)
    _fetch(ENTRY, {ARCHIVE: CONTENT})
    assert run("status") == 0
    assert f"not used any more: {old}" in capsys.readouterr().out
    assert run("clear") == 0
    assert not old.exists()


def test_a_fetch_that_ends_while_another_looks_at_it_does_no_harm(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "unfinished", lambda: iter([cache / "public-corpus" / "gone"]))
    _fetch(ENTRY, {ARCHIVE: CONTENT})
    assert fetched() == BOTH


def test_processes_that_fetch_the_same_do_no_harm() -> None:
    results: list[Any] = []

    def attempt() -> None:
        try:
            _fetch(ENTRY, {ARCHIVE: CONTENT})
            results.append(None)
        except Exception as error:
            results.append(error)

    threads = [threading.Thread(target=attempt) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert results == [None] * 6
    assert not any(places.root().glob("*/.*"))
    assert fetched() == BOTH


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no space left in .*; set LLM_CONFORMANCE_CACHE"),
        (PermissionError(errno.EACCES, "Permission denied"), "cannot be written: Permission denied"),
    ],
)
def test_a_full_disk_has_a_message_of_its_own(monkeypatch: pytest.MonkeyPatch, error: OSError, why: str) -> None:
    def fails(*_: object) -> int:
        raise error

    monkeypatch.setattr(unpack, "unpack", fails)
    with pytest.raises(FetchError, match=why):
        _fetch(ENTRY, {ARCHIVE: CONTENT})
    assert fetched() == []
    assert not any(places.root().glob("*/.*"))


def test_an_interrupted_fetch_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(unpack, "unpack", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _fetch(ENTRY, {ARCHIVE: CONTENT})
    assert fetched() == []
    assert not any(places.root().glob("*/.*"))


def test_what_a_killed_process_left_is_deleted_after_a_day() -> None:
    left = [places.root() / "acme-tests" / f"{places.UNFINISHED}{name}" for name in ("old", "new")]
    for path in left:
        path.mkdir(parents=True)
    os.utime(left[0], (0, 0))
    _fetch(ENTRY, {ARCHIVE: CONTENT})
    assert [path.exists() for path in left] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["fetch", "acme-test"], "acme-test: no such package; did you mean acme-tests?"),
        (["fetch", "--provider=opena"], "opena: no such provider; did you mean openai?"),
        (["fetch", "--provider=groq"], "no package of the public corpus has recordings of groq"),
    ],
)
def test_an_unknown_name_has_a_suggestion(capsys: pytest.CaptureFixture[str], arguments: list[str], why: str) -> None:
    assert run(*arguments) == main.USAGE_ERROR
    assert why in capsys.readouterr().err


def test_without_the_extra_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "unearth", None)
    monkeypatch.delitem(sys.modules, "llm_conformance.corpus.download")
    monkeypatch.delattr(corpus, "download")
    assert run("fetch") == main.USAGE_ERROR
    assert "pip install 'llm-conformance[corpus]'" in capsys.readouterr().err
    assert run("list") == 0


def _fetch(entry: manifest.Package, served: dict[str, bytes]) -> None:
    with serving(served) as url:
        _fetch_with(entry, PipSettings(index_url=url))


def _fetch_with(entry: manifest.Package, settings: PipSettings) -> None:
    nothing: Callable[[int], object] = lambda _: None  # noqa: E731
    with Index(settings) as index:
        fetch.fetch(entry, index, nothing)


CONFIGURED = """
[global]
index-url = https://me:x@mirror.test/simple
extra_index_url = https://one.test/simple
    https://two.test/simple
timeout = 7
[install]
index-url = https://not.this.test
[download]
trusted-host = mirror.test
"""


def test_the_configuration_of_pip_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from llm_conformance.corpus import pip_settings

    path = tmp_path / "pip.conf"
    path.write_text(CONFIGURED)
    monkeypatch.delenv("PIP_INDEX_URL")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(path))
    monkeypatch.setenv("PIP_TIMEOUT", "9")
    monkeypatch.setenv("PIP_CERT", "/certs.pem")
    assert pip_settings.read() == PipSettings(
        index_url="https://me:x@mirror.test/simple",
        extra_index_urls=("https://one.test/simple", "https://two.test/simple"),
        cert="/certs.pem",
        trusted_hosts=("mirror.test",),
        timeout_s=9.0,
    )
    path.write_text("no section")
    assert run("fetch") == main.USAGE_ERROR
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert pip_settings.read().index_url is None


def test_the_manifest_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    text = loopback_index.manifest(ENTRY, ENTRY).replace('"raw"', '"row"').replace("openai:chat", "openai:chit")
    path.write_text(text, "utf-8")
    with pytest.raises(BadFileError) as caught:
        manifest.packages(path)
    said = str(caught.value)
    assert "acme-tests is listed twice" in said
    assert "row: no such fidelity; did you mean raw?" in said
    assert "openai:chit: no such API; did you mean openai:chat" in said
    path.write_text(text.replace("[[package]]", '[[package]]\ncolour = "red"', 1), "utf-8")
    with pytest.raises(BadFileError, match=r"bad\.toml:2: package\.0\.colour: no such key"):
        manifest.packages(path)


def test_the_public_manifest_is_right() -> None:
    from llm_conformance.locations import CASSETTES

    found = manifest.packages(CASSETTES / "public.toml")
    assert len(found) >= 30
    assert sum(each.count for each in found) >= 2000
    for each in found:
        assert each.archive.endswith(f"-{each.version}.tar.gz")
