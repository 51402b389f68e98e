"""Fixtures that several modules share: the wheel, installed as a user would."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest

from tests.shell import ROOT, sh


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""
    target = tmp_path_factory.mktemp("dist")
    built = sh(sys.executable, "-m", "build", "--wheel", "--outdir", target, ROOT, cwd=target)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = target.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a fresh environment and return the directory of its commands."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=True)
    done = sh(environment / "bin" / "pip", "install", "-q", wheel, "pytest-xdist", "pytest-split", cwd=environment)
    assert done.returncode == 0, done.stderr
    return environment / "bin"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a directory with nothing but the README's adapter in it."""
    readme = (ROOT / "README.md").read_text("utf-8")
    (tmp_path / "mypkg.py").write_text(readme.split("```python\n")[1].split("```")[0])
    return tmp_path
