"""A program that breaks does not look like one that shows its fault."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from peers import programs

PYTHON = {
    "import sys; print('seen'); sys.exit(1)": 1,
    "import sys; print('seen'); sys.exit(0)": 0,
    "import no_such_package": 2,
    "raise ValueError('of the program')": 2,
}
NODE = {
    "console.log('seen'); process.exitCode = 1;": 1,
    "console.log('seen'); process.exitCode = 0;": 0,
    "import { none } from 'no-such-package';": 2,
    "await Promise.reject(new Error('of the program'));": 2,
}


def exit_code(program: Path, text: str, *, is_node: bool) -> int:
    """Write a program and run it."""
    program.write_text(text, "utf-8")
    name, *rest = map(str, programs.command(program, is_node=is_node))
    found = shutil.which(name) if is_node else sys.executable
    return subprocess.run([str(found), *rest], check=False, capture_output=True).returncode


@pytest.mark.parametrize(("text", "code"), PYTHON.items())
def test_an_exception_of_a_python_program_is_not_its_fault(tmp_path: Path, text: str, code: int) -> None:
    assert exit_code(tmp_path / "program.py", text, is_node=False) == code


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node")
@pytest.mark.parametrize(("text", "code"), NODE.items())
def test_an_exception_of_a_node_program_is_not_its_fault(tmp_path: Path, text: str, code: int) -> None:
    assert exit_code(tmp_path / "program.mjs", text, is_node=True) == code
