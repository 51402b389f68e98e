"""An end of the adapter's process is one failure of one call, and an end of the run is the end of all its processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_conformance.reports import files
from tests import miniature

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

MARK = "LLM_CONFORMANCE_TEST_MARK"
GONE_WITHIN_S = 60
"""No limit of what is tested: on a busy machine even a kill takes its time."""
ADAPTER = """\
import ctypes, os, re, subprocess, time
from pathlib import Path
from tests.hostile.healthy import answer


class Adapter:
    name = "ending"
    providers = ["deepseek"]
    capabilities = ["reasoning"]

    def parse(self, http, call):
        return getattr(self, call.correlation_id.split("/")[2], answer)()

    def regex(self):
        subprocess.Popen(["sleep", "3600"])
        Path("hangs").touch()
        re.match(r"(a+)+$", "a" * 40 + "b")

    def exit(self):
        os._exit(0)

    def segfault(self):
        ctypes.string_at(0)

    def bomb(self):
        held = []
        while True:
            held.append(b"x" * 10_000_000)
            time.sleep(0.001)


conformance_adapter = Adapter
"""
LESS_MEMORY = """\
from llm_conformance.calling import program

program.MOST_MEMORY = 300_000_000
"""
SAYS = {
    "mini/regex": "ending.py:17 in regex",
    "mini/exit": "ended with exit code 0",
    "mini/segfault": "ended by the signal SIGSEGV",
    "mini/bomb": "was ended, because it had 0.",
}
WAYS = {
    "run": [sys.executable, "-m", "llm_conformance", "run"],
    "pytest": [sys.executable, "-m", "pytest", str(miniature.RULES)],
}


def started(
    directory: Path, way: str, isolation: str, *options: str, limit_s: int = 1, scenario: str = "*"
) -> subprocess.Popen[bytes]:
    """Start a run in a directory, in a group of processes of its own."""
    (directory / "ending.py").write_text(ADAPTER, "utf-8")
    (directory / "less_memory.py").write_text(LESS_MEMORY, "utf-8")
    for name in ("healthy", *(each.removeprefix("mini/") for each in SAYS)):
        miniature.write(directory / "more", name)
    prefix = "" if way == "run" else "conformance-"
    ours = {"isolation": isolation, "cassettes": "more", "method": "parse", "examples": "0", "timeout": str(limit_s)}
    ours |= {"scenario": f"mini/{scenario}", "report": "report.json"}
    command = [*WAYS[way], "--adapter=ending.py", "-p", "less_memory", *options]
    path = os.pathsep.join([str(directory), str(miniature.RULES.parent)])
    return subprocess.Popen(
        [*command, *(f"--{prefix}{name}={value}" for name, value in ours.items())],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": path, MARK: str(directory)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def marked(directory: Path) -> Iterator[str]:
    """Yield the command line of each process that a run has left behind."""
    mark = f"{MARK}={directory}\0".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes() and process.name != str(os.getpid()):
                yield (process / "cmdline").read_text("utf-8").replace("\0", " ")
        except OSError:
            continue


def left_behind(directory: Path) -> list[str]:
    """Return what is still there of a run, after all had the time to end."""
    until = time.monotonic() + GONE_WITHIN_S
    while found := list(marked(directory)):
        if time.monotonic() > until:
            return found
        time.sleep(0.05)
    return []


@pytest.mark.weekly(but_one_in=5)
@pytest.mark.parametrize(
    ("way", "options", "isolation"),
    [
        ("run", (), "namespace"),
        ("pytest", (), "process"),
        ("pytest", ("-n", "2"), "namespace"),
        ("pytest", ("-n", "2"), "process"),
    ],
)
def test_each_end_fails_its_own_call_and_leaves_no_process(
    way: str, options: tuple[str, ...], isolation: str, tmp_path: Path
) -> None:
    # The limit leaves a busy machine the time to get to the regular expression.
    assert started(tmp_path, way, isolation, *options, limit_s=4).wait() == 1
    results = files.read(tmp_path / "report.json")["results"]
    failed = {each["scenario"]: each for each in results if each["status"] == "fail"}
    assert {name: each["rule"] for name, each in failed.items()} == dict.fromkeys(SAYS, "SHP-1")
    assert [name for name, part in SAYS.items() if part not in failed[name]["message"]] == []
    healthy = {each["status"] for each in results if each["scenario"] == "mini/healthy"}
    assert "pass" in healthy
    assert not healthy & {"fail", "blocked", "error"}
    assert left_behind(tmp_path) == []


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("way", "isolation", "ended_by"),
    [
        ("pytest", "namespace", signal.SIGKILL),
        ("pytest", "process", signal.SIGKILL),
        ("pytest", "process", signal.SIGTERM),
        ("pytest", "process", signal.SIGINT),
        ("run", "namespace", signal.SIGKILL),
        ("run", "namespace", signal.SIGTERM),
        ("run", "namespace", signal.SIGINT),
    ],
)
def test_a_run_that_is_ended_in_a_call_that_hangs_leaves_no_process(
    way: str, isolation: str, ended_by: signal.Signals, tmp_path: Path
) -> None:
    process = started(tmp_path, way, isolation, limit_s=600, scenario="regex")
    while not (tmp_path / "hangs").exists():
        assert process.poll() is None
        time.sleep(0.05)
    assert len(list(marked(tmp_path))) >= 3
    if ended_by == signal.SIGINT:  # the terminal sends it to the whole group
        os.killpg(process.pid, ended_by)
    else:
        process.send_signal(ended_by)
    assert process.wait() != 0
    assert left_behind(tmp_path) == []
