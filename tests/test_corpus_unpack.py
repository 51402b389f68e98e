"""Archives are untrusted: what is not safe is refused as a whole, and what is not wanted is never written."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.corpus import unpack
from llm_conformance.corpus.unpack import UnsafeArchiveError
from tests.loopback_index import TOP, archive, member

IN = f"{TOP}/tests/cassettes"


def unpacked(tmp_path: Path, content: bytes) -> list[str]:
    """Unpack the cassettes of an archive; return what was written, anywhere below `tmp_path`."""
    path, target = tmp_path / "archive", tmp_path / "outer" / "inner" / "files"
    target.mkdir(parents=True)
    path.write_bytes(content)
    try:
        count = unpack.unpack(path, target, lambda name: "cassettes/" in name)
    finally:
        path.unlink()
    written = sorted(each.relative_to(target).as_posix() for each in target.rglob("*") if not each.is_dir())
    assert count == len(written)
    return written


def test_only_wanted_regular_files_are_written(tmp_path: Path) -> None:
    content = archive(
        member(TOP, b"", type=tarfile.DIRTYPE),
        member(f"{TOP}/setup.py", b"raise SystemExit"),
        member(f"{IN}", b"", type=tarfile.DIRTYPE),
        member(f"{IN}/one.yaml", b"a", mode=0o4777),
        member(f"{IN}/deep/two[x-y].yaml", b"b"),
        member(f"{TOP}/docs/link", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        member(f"{TOP}/device", b"", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
    )
    assert unpacked(tmp_path, content) == ["tests/cassettes/deep/two[x-y].yaml", "tests/cassettes/one.yaml"]
    one = next(tmp_path.rglob("one.yaml"))
    assert (one.read_bytes(), one.stat().st_mode & 0o7111) == (b"a", 0)


ESCAPES = [
    f"{TOP}/tests/cassettes/../../../../evil.yaml",
    "../cassettes/evil.yaml",
    "/cassettes/evil.yaml",
    f"{TOP}/cassettes/..",
    f"{TOP}/tests\\cassettes/..\\evil.yaml",
    f"{TOP}/C:/cassettes/evil.yaml",
    f"{IN}/a\nb.yaml",
    f"{IN}/a\x1b[2J.yaml",
    f"{IN}/\udcff.yaml",
    f"{IN}/{'x' * 300}.yaml",
]


@pytest.mark.parametrize("name", ESCAPES, ids=ascii)
def test_a_name_that_is_not_safe_is_refused(tmp_path: Path, name: str) -> None:
    info, content = member("name", b"evil")
    info.name = name
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        tar.addfile(info, io.BytesIO(content))
    with pytest.raises(UnsafeArchiveError, match="is not safe"):
        unpacked(tmp_path, gzip.compress(out.getvalue()))
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


@pytest.mark.parametrize(
    "changes",
    [
        {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
        {"type": tarfile.SYMTYPE, "linkname": "../../../../../evil"},
        {"type": tarfile.LNKTYPE, "linkname": f"{TOP}/setup.py"},
        {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"},
        {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 5},
        {"type": tarfile.BLKTYPE, "devmajor": 8, "devminor": 0},
        {"type": tarfile.FIFOTYPE},
        {"type": tarfile.CONTTYPE},
    ],
    ids=str,
)
def test_a_recording_that_is_no_regular_file_is_refused(tmp_path: Path, changes: Any) -> None:
    content = archive(member(f"{TOP}/setup.py"), member(f"{IN}/one.yaml", b"", **changes))
    with pytest.raises(UnsafeArchiveError, match=r"tests/cassettes/one\.yaml is no regular file"):
        unpacked(tmp_path, content)
    assert not any(each.is_symlink() or each.is_file() for each in tmp_path.rglob("*"))


def test_a_file_through_a_linked_folder_stays_in_the_folder(tmp_path: Path) -> None:
    content = archive(
        member(f"{TOP}/linked", b"", type=tarfile.SYMTYPE, linkname=str(tmp_path)),
        member(f"{TOP}/linked/cassettes/one.yaml", b"a"),
    )
    assert unpacked(tmp_path, content) == ["linked/cassettes/one.yaml"]
    assert not (tmp_path / "cassettes").exists()


def test_a_sparse_file_is_refused(tmp_path: Path) -> None:
    info, content = member(f"{IN}/one.yaml", b"1\n0\n1\n" + b"\0" * 506 + b"a")
    info.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": f"{IN}/one.yaml",
        "GNU.sparse.realsize": str(10**12),
    }
    with pytest.raises(UnsafeArchiveError, match="is no regular file"):
        unpacked(tmp_path, archive((info, content)))


@pytest.mark.parametrize(("first", "second"), [("One", "one"), ("stra\u00dfe", "STRASSE"), ("e\u0301", "\u00e9")])
def test_names_that_are_the_same_on_some_systems_are_refused(tmp_path: Path, first: str, second: str) -> None:
    content = archive(member(f"{IN}/{first}.yaml"), member(f"{IN}/{second}.yaml"))
    with pytest.raises(UnsafeArchiveError, match="are the same file on some systems"):
        unpacked(tmp_path, content)


def test_the_same_name_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsafeArchiveError, match="are the same file"):
        unpacked(tmp_path, archive(member(f"{IN}/one.yaml"), member(f"{IN}/./one.yaml")))


@pytest.mark.parametrize(
    ("limit", "most", "why"),
    [
        ("MAX_BYTES", 1000, r"one\.yaml has 2000 bytes; at most 1000 are allowed"),
        ("MAX_TOTAL", 3000, "more than 3000 bytes"),
        ("MAX_FILES", 1, "more than 1 recordings"),
        ("MAX_MEMBERS", 2, "more than 2 members"),
    ],
)
def test_more_than_a_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, why: str
) -> None:
    noise = os.urandom(2000)
    content = archive(member(f"{TOP}/setup.py"), *(member(f"{IN}/{name}.yaml", noise) for name in ("one", "two")))
    assert len(unpacked(tmp_path, content)) == 2
    monkeypatch.setattr(unpack, limit, most)
    with pytest.raises(UnsafeArchiveError, match=why):
        unpacked(tmp_path / "again", content)


@pytest.mark.parametrize("name", [f"{IN}/one.yaml", f"{TOP}/not-wanted", f"{TOP}/{'x' * 5_000_000}"])
def test_a_bomb_is_not_decompressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(unpack, "_FREE", 2**20)
    content = archive(member(name, b"\0" * 5_000_000))
    assert len(content) < 20_000
    with pytest.raises(UnsafeArchiveError, match="many times its size"):
        unpacked(tmp_path, content)


@pytest.mark.parametrize(
    "damage",
    [lambda whole: whole[: len(whole) // 2], lambda _: b"PK\x03\x04", lambda _: gzip.compress(b"no tar" * 200)],
    ids=["cut off", "no gzip", "no tar"],
)
def test_a_damaged_archive_is_refused(tmp_path: Path, damage: Any) -> None:
    content = archive(member(f"{IN}/one.yaml", os.urandom(50_000)))
    with pytest.raises(UnsafeArchiveError, match="no tar archive, or a damaged one"):
        unpacked(tmp_path, damage(content))
