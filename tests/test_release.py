"""A tag is released only if version and changelog are those of the tag. The package links its repository."""

from __future__ import annotations

import pytest
import yaml
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from llm_conformance import __version__
from tests.shell import ROOT
from tools import project_links, release

MODULE = '"""A module."""\n\n__version__ = "1.2.0"\n'
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-23\n\n- New.\n\n## [1.1.0] - 2026-01-02\n"


@pytest.mark.parametrize(
    ("tag", "changelog", "expected"),
    [
        ("v1.2.0", CHANGELOG, []),
        ("1.2.0", CHANGELOG, ["the tag is 1.2.0, and src/llm_conformance/__init__.py has the version 1.2.0"]),
        ("v1.3.0", CHANGELOG, ["the tag is v1.3.0, and"]),
        ("v1.2.0", CHANGELOG.replace("[1.2.0]", "[1.2.1]"), ["CHANGELOG.md has no section for 1.2.0"]),
        ("v1.2.0", CHANGELOG.replace(" - 2026-11-23", ""), ["CHANGELOG.md has no date for 1.2.0"]),
        ("v1.2.0", CHANGELOG.replace("2026-11-23", "soon"), ["CHANGELOG.md has no date for 1.2.0"]),
    ],
)
def test_a_tag_needs_its_version_and_a_dated_section(tag: str, changelog: str, expected: list[str]) -> None:
    found = list(release.problems(tag, MODULE, changelog))
    assert len(found) == len(expected)
    assert all(each.startswith(begin) for each, begin in zip(found, expected, strict=True))


def test_the_command_reads_the_files_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["v0.0.0"]) == 1
    assert f"has the version {__version__};" in capsys.readouterr().err


def test_the_changelog_has_a_section_for_what_comes_next() -> None:
    sections = [line for line in (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines() if line.startswith("## ")]
    assert sections[0].startswith(("## [Unreleased]", f"## [{__version__}]"))


def test_the_citation_names_the_version() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_a_released_package_links_its_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    build = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))["jobs"]["build"]
    (package,) = (step for step in build["steps"] if "tox -e package" in step.get("run", ""))
    assert package["env"] == {project_links.VARIABLE: "${{ github.server_url }}/${{ github.repository }}"}
    monkeypatch.setenv(project_links.VARIABLE, "https://github.com/Some-Owner/llm-conformance")
    assert ProjectMetadata(str(ROOT), PluginManager()).core.urls == {
        "Documentation": "https://some-owner.github.io/llm-conformance/",
        "Repository": "https://github.com/Some-Owner/llm-conformance",
        "Issues": "https://github.com/Some-Owner/llm-conformance/issues",
        "Changelog": "https://github.com/Some-Owner/llm-conformance/blob/main/CHANGELOG.md",
    }


def test_a_package_that_another_project_builds_does_not_link_that_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip install git+https://...` in a workflow of another repository builds the package there."""
    monkeypatch.delenv(project_links.VARIABLE, raising=False)
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "user/mypkg")
    assert ProjectMetadata(str(ROOT), PluginManager()).core.urls == {}
