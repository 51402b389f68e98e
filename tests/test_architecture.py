"""The import order of the packages, as `lint-imports` checks it by the contracts in pyproject.toml."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell import ROOT, sh

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")
PACKAGE = ROOT / "src" / "llm_conformance"
FORBIDDEN = "from llm_conformance.judging.status import Status"
AT_TOP = f"\n{FORBIDDEN}\n"
IN_A_FUNCTION = f"\ndef hidden():\n    {FORBIDDEN}\n"
FOR_TYPES_ONLY = f"\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {FORBIDDEN}\n"


def lint_imports(directory: Path) -> subprocess.CompletedProcess[str]:
    """Check the packages in a directory; it comes first on the import path."""
    config = ROOT / "pyproject.toml"
    return sh(LINT_IMPORTS, "--no-cache", "--config", config, cwd=directory, PYTHONPATH=str(directory))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a directory with a copy of the Python files of the three packages."""
    for source in (PACKAGE, ROOT / "adapters", ROOT / "conformance"):
        for path in source.rglob("*.py"):
            target = tmp_path / source.name / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return tmp_path


def test_packages_are_imported_in_one_direction() -> None:
    checked = lint_imports(ROOT)

    assert checked.returncode == 0, checked.stdout
    assert "Contracts: 4 kept, 0 broken." in checked.stdout


@pytest.mark.parametrize("addition", [AT_TOP, IN_A_FUNCTION, FOR_TYPES_ONLY])
def test_an_import_from_a_higher_package_is_found(copied: Path, addition: str) -> None:
    with (copied / "llm_conformance" / "wire" / "interaction.py").open("a") as file:
        file.write(addition)

    checked = lint_imports(copied)

    assert checked.returncode == 1
    assert "llm_conformance.wire is not allowed to import llm_conformance.judging" in checked.stdout
    assert "llm_conformance.wire.interaction -> llm_conformance.judging.status" in checked.stdout


def test_few_modules_are_outside_the_packages() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 13


def test_no_package_has_many_modules() -> None:
    packages = [path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE]
    sizes = {package.name: len(list(package.glob("*.py"))) - 1 for package in packages}

    assert {name: size for name, size in sizes.items() if size > 15} == {}
