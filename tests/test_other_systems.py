"""What a user runs needs nothing that only POSIX has, and not the encoding of the system.

Windows itself is not tested here, but simulated.
"""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.shell import ROOT, sh

WITHOUT_POSIX = """\
import os, signal, socket, sys

for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
absent = {
    os: ("fork", "killpg", "mkfifo", "set_blocking", "setsid", "statvfs", "sysconf"),
    signal: ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGUSR1", "alarm", "setitimer"),
    socket: ("recv_fds", "send_fds"),
}
for module, names in absent.items():
    for name in names:
        delattr(module, name)
"""
"""Python imports it at its start. Functions that other packages want on Linux at their import are left."""
PART = ("--provider=groq", "--rule=MSG-2", "--rule=STR-4", "--examples=0", "-q")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the processes of a test believe that they run on a system without POSIX; return their directory."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_POSIX, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def suite(directory: Path, *arguments: str, **environment: str) -> CompletedProcess[str]:
    return sh(sys.executable, "-m", "llm_conformance", *arguments, cwd=directory, **environment)


def test_an_adapter_in_python_is_judged_in_the_process_of_the_suite(elsewhere: Path) -> None:
    run = suite(elsewhere, "run", "--adapter=adapters", *PART)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "; in the process of the suite\n" in run.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--adapter=cmd:node adapter.mjs"],
            "cmd:node adapter.mjs: programs, gateways and libraries",
        ),
        (["--adapter=gateway:a.toml"], "gateway:a.toml: programs, gateways and libraries"),
        (
            ["--adapter=adapters", "--isolation=process"],
            "--isolation=process: an adapter cannot have a process",
        ),
        (["--adapter=adapters", "--isolation=namespace"], "--isolation=namespace: an adapter cannot have a process"),
    ],
)
def test_what_needs_a_process_of_its_own_says_where_it_runs(elsewhere: Path, options: list[str], message: str) -> None:
    run = suite(elsewhere, "run", *options)
    assert run.returncode == 4
    assert message in run.stderr
    assert "on Windows" in run.stderr
    assert "Traceback" not in run.stderr


def test_no_file_is_read_in_the_encoding_of_the_system(tmp_path: Path) -> None:
    options = (
        "--isolation=none",
        "--report=a.json",
        "--report=a.html",
        "--report=a.md",
        "-W",
        "error::EncodingWarning",
    )
    run = suite(tmp_path, "run", "--adapter=adapters", *PART, *options, PYTHONWARNDEFAULTENCODING="1")
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_terminal_that_lacks_characters_shows_their_numbers(tmp_path: Path) -> None:
    shown = suite(tmp_path, "explain", "RSN-1", PYTHONIOENCODING="ascii")
    assert shown.returncode == 0, shown.stderr
    assert r"La frase est\xe1 en la segunda parte" in shown.stdout


def test_git_changes_no_line_ends() -> None:
    looked_up = sh("git", "check-attr", "text", "cassettes/lint.sha256", "src/llm_conformance/__init__.py", cwd=ROOT)
    assert looked_up.stdout.count("text: unset") == 2


def test_the_names_of_files_are_names_on_windows_and_macos() -> None:
    names = sh("git", "ls-files", cwd=ROOT).stdout.splitlines()
    assert len({name.casefold() for name in names}) == len(names)
    assert not [name for name in names if set(name) & set('<>:"|?*\\') or len(name) > 150]
