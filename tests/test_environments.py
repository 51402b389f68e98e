"""The environments of the libraries: what is installed there is found first."""

from __future__ import annotations

from pathlib import Path

import pytest

from peers.environments import Environment, NotInstalledError


def test_a_command_and_what_it_starts_are_those_of_the_environment(tmp_path: Path) -> None:
    """A run of the suite starts `node`, which has to be the one of the environment if it has one."""
    environment = Environment(tmp_path / "env", tmp_path / "log")
    (environment.folder / "bin").mkdir(parents=True)
    for name, text in (("suite", "node"), ("node", "echo own")):
        program = environment.folder / "bin" / name
        program.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        program.chmod(0o755)
    assert environment.run("suite") == 0
    assert environment.log.read_text("utf-8") == "own\n"


@pytest.mark.parametrize("error", [FileNotFoundError, PermissionError])
def test_a_command_that_is_nowhere_is_named(
    error: type[OSError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **_options: object) -> None:
        raise error(1, "not here", command[0])

    monkeypatch.setattr("subprocess.run", run)
    with pytest.raises(NotInstalledError, match="there is no no-such-command"):
        Environment(tmp_path / "env", tmp_path / "log").run("no-such-command")
