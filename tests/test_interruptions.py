"""`record`, `accept`, `reject` and `import` are killed, or find the disk full, at each change of the file system.

The next command has to end with the files that there are without the interruption, and nothing else. Of the changes of
`accept` every fourth is tried: `tests/test_proposals.py` tries each of them within one process.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from llm_conformance.cli import main
from llm_conformance.locations import CASSETTES
from llm_conformance.recording import swap
from llm_conformance.scenarios import cassette, lint, load
from llm_conformance.wire.interaction import Interaction
from llm_conformance.wire.providers.table import table
from tests import standin, test_importing
from tests.kill_points import KILLED, TRACEBACK, end, fill_disk, kill, limit_files, start
from tests.standin import StandIn
from tests.test_proposals import propose
from tests.test_scrubbing import PLAIN

ANSWER = {**test_importing.ANSWER, "model": "some-model"}
ACCEPT_STEP = 4
_TIMES = re.compile(r'"recorded": "[^"]*"|date: .*|milliseconds:\n( *- *\d+\n)+')


@pytest.fixture
def provider(impatient: None) -> Iterator[StandIn]:
    answer = replace(PLAIN, body=json.dumps(ANSWER).encode())
    with standin.standing_in(table()["openai", "chat"], {"json": answer, "stream": answer}) as running:
        yield running


@dataclass(frozen=True)
class Place:
    """A directory for one try: the cassettes in it, and its own directory for temporary files."""

    root: Path
    command: Callable[[Path], list[str]]

    def run(self, *more: str) -> int:
        """Run the command in this process."""
        return main.main([*self.command(self.root), *more])

    def start(self, interrupt: Callable[[Path, int], None] | None = None, step: int = 0) -> int:
        """Run the command in a process of its own, which is interrupted."""

        def prepare() -> None:
            tempfile.tempdir = str(self.root / "tmp")
            if interrupt is not None:
                interrupt(self.root, step)

        return start(lambda: self.run(), prepare)

    def files(self) -> dict[str, str]:
        """Return the contents of all files without times, and the names of folders that are hidden or in `tmp`."""
        found = sorted(self.root.rglob("*"))
        texts = {path: _TIMES.sub("", path.read_text("utf-8")) if path.is_file() else "" for path in found}
        names = {path: str(path.relative_to(self.root)) for path in found}
        return {
            names[path]: text
            for path, text in texts.items()
            if path.is_file() or "/." in names[path] or path.parent.name == "tmp"
        }


Prepared = Callable[[str], Place]


@pytest.fixture
def prepared(tmp_path: Path, provider: StandIn) -> Prepared:
    """Return a function that makes a directory for one of the commands."""
    numbers = itertools.count()

    def prepare(name: str) -> Place:
        root = tmp_path / f"{next(numbers)}"
        folder = root / "cassettes" / "llamacpp"
        folder.mkdir(parents=True)
        (root / "tmp").mkdir()
        draft = standin.draft(root, provider.api, modes=["json"])
        recorded = [f"--base-url={provider.url}", "--yes"]
        if name in ("accept", "reject"):
            for path in (CASSETTES / "llamacpp").glob("chat-plain.*yaml"):
                shutil.copy(path, folder)
            for target in ("chat-plain", "chat-new"):
                propose(folder / f"{target}{load.SUFFIX}", folder / f"chat-plain{load.SUFFIX}")
        if name == "record again":
            assert main.main(["record", str(draft), *recorded, f"--cassettes={root / 'cassettes'}"]) == 0
        test_importing.cassette_file(root, test_importing.pair())
        arguments = {
            "accept": ["--yes"],
            "reject": ["llamacpp/chat-new"],
            "import": [str(root / "test_legs.yaml"), f"--into={root / 'cassettes'}"],
        }.get(name, [str(draft), *recorded])
        where = [] if name == "import" else [f"--cassettes={root / 'cassettes'}"]
        return Place(root, lambda _root: [name.split()[0], *arguments, *where])

    return prepare


COMMANDS = ["record", "record again", "accept", "reject", "import"]
DONE = {"reject": (0, 4), "import": (0, 1)}
"""The exit codes of the next command: there may be nothing left to reject, or it was imported before."""


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_loses_nothing_and_leaves_nothing(
    name: str, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = prepared(name)
    assert end(whole.start()) == 0
    wanted = whole.files()
    for step in itertools.count(0, ACCEPT_STEP if name == "accept" else 1):
        place = prepared(name)
        monkeypatch.setattr(tempfile, "tempdir", str(place.root / "tmp"))
        code = end(place.start(kill, step))
        assert code in (0, KILLED)
        if name == "record again":
            assert main.main(["review", f"--cassettes={place.root / 'cassettes'}"]) == 0
            assert (place.root / "cassettes/openai/answer.proposed/answer.yaml").is_file(), "the paid answer is lost"
        assert place.run() in DONE.get(name, (0,))
        assert place.files() == wanted, f"killed before change {step}"
        if code == 0:
            break
    assert step > 4


@pytest.mark.weekly(but_one_in=3)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("full", [fill_disk, limit_files])
def test_on_a_full_disk_a_command_ends_with_a_message_and_loses_nothing(
    name: str, full: Callable[[Path, int], None], prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = prepared(name)
    assert end(whole.start()) == 0
    wanted = whole.files()
    steps = range(0, 60, 5 if name == "accept" else 3) if full is fill_disk else (0, 600, 2000, 2**20 + 1)
    for step in steps:
        place = prepared(name)
        monkeypatch.setattr(tempfile, "tempdir", str(place.root / "tmp"))
        before = place.files()
        code = end(place.start(full, step))
        assert code != TRACEBACK
        if name != "import" and code:
            assert {key: text for key, text in place.files().items() if key in before} == before, f"full at {step}"
        assert place.run() in DONE.get(name, (0,))
        assert place.files() == wanted, f"full at {step}"
        if code == 0 and full is fill_disk:
            break
    assert code == 0 or name == "accept"


@pytest.mark.parametrize("name", ["record", "import"])
def test_two_commands_at_once_end_as_one(name: str, prepared: Prepared) -> None:
    whole = prepared(name)
    assert end(whole.start()) == 0
    place = prepared(name)
    codes = [end(process) for process in (place.start(), place.start())]
    assert set(codes) <= {0, *DONE.get(name, ())}
    assert 0 in codes
    assert place.files() == whole.files()


def test_two_acceptances_at_once_end_as_one(prepared: Prepared) -> None:
    whole = prepared("accept")
    assert end(whole.start()) == 0
    place = prepared("accept")
    codes = [end(process) for process in (place.start(), place.start())]
    assert set(codes) <= {0, 4}
    assert 0 in codes
    assert place.files() == whole.files()


def test_a_review_does_not_delete_what_record_is_writing(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = prepared("record")
    save = cassette.save

    def reviewed_meanwhile(*arguments: object) -> None:
        assert main.main(["review", f"--cassettes={place.root / 'cassettes'}"]) == 4
        save(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(cassette, "save", reviewed_meanwhile)
    assert place.run() == 0
    assert "another command is changing this directory" in capsys.readouterr().err
    assert (place.root / "cassettes/openai/answer.proposed/answer.yaml").is_file()


def test_record_waits_to_write_while_another_command_changes_the_directory(
    prepared: Prepared, provider: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = prepared("record")
    other = swap.locked(place.root / "cassettes")
    flock, waits = fcntl.flock, []

    def released_for_whom_waits(handle: int, operation: int) -> None:
        if provider.requests and not operation & fcntl.LOCK_NB:
            waits.append(handle)
            other.__exit__(None, None, None)
        flock(handle, operation)

    def locked_meanwhile(answer: Interaction) -> Interaction:
        other.__enter__()
        return answer

    provider.change = locked_meanwhile
    monkeypatch.setattr(fcntl, "flock", released_for_whom_waits)
    assert place.run() == 0
    assert len(waits) == 1
    assert (place.root / "cassettes/openai/answer.proposed/answer.yaml").is_file()


@pytest.mark.parametrize("name", ["record", "import"])
def test_a_command_waits_to_recover_while_another_one_changes_the_directory(
    name: str, prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without waiting, one of two commands that start at the same time refuses to run."""
    place = prepared(name)
    other = swap.locked(place.root / "cassettes")
    other.__enter__()
    flock = fcntl.flock

    def released_for_whom_waits(handle: int, operation: int) -> None:
        if not operation & fcntl.LOCK_NB:
            other.__exit__(None, None, None)
        flock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", released_for_whom_waits)
    assert place.run() == 0


@pytest.mark.parametrize(
    ("name", "is_stale"),
    [
        (".answer.yaml-abcd_123.part", True),
        ("..accepting.json-abcd_123.part", True),
        (".answer.yaml.part", False),
        (".download-abcd_123.part", False),
        ("answer.yaml-abcd_123.part", False),
    ],
)
def test_only_unfinished_files_of_the_suite_are_removed(
    name: str, is_stale: bool, prepared: Prepared, provider: StandIn
) -> None:
    place = prepared("accept")
    path = place.root / "cassettes" / "llamacpp" / name
    path.write_text("mine")
    with swap.locked(place.root / "cassettes"):
        assert place.run() == 4
    assert path.exists()  # it may belong to the command that is running
    assert place.run() == 0
    assert path.exists() is not is_stale
    assert len(lint.load_all([place.root / "cassettes"])) == 2
