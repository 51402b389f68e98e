"""Fixtures that several modules share: the installed wheel, and a provider on the loopback interface."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import venv
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from llm_conformance.locations import CASSETTES
from llm_conformance.recording import client
from llm_conformance.scenarios import lint
from llm_conformance.scenarios.scenario import Scenario
from llm_conformance.themes.draw import without_local_constants
from llm_conformance.wire.providers.table import table
from tests import standin
from tests.shell import ROOT, sh
from tests.standin import StandIn

WITH_CACHE = "-p no:respx -p no:anyio --assert=plain"
LIGHT = f"{WITH_CACHE} -p no:cacheprovider"
"""Options of the runs that tests start: what these do not need takes a third of the time of a short run."""


WEEKLY = "--weekly"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the tests that run once a week."""
    parser.addoption(WEEKLY, action="store_true", help="also run the tests that are marked `weekly`")


@pytest.hookimpl(trylast=True)  # after -k: the first case that a filter leaves is always run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are marked `weekly`, unless the option asks for them."""
    if config.getoption(WEEKLY):
        return
    cases: Counter[tuple[Path, str]] = Counter()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        mark = item.get_closest_marker("weekly")
        if mark is None:
            kept.append(item)
            continue
        case = item.path, getattr(item, "originalname", None) or item.name
        one_in = mark.kwargs.get("but_one_in")
        (left_out if one_in is None or cases[case] % one_in else kept).append(item)
        cases[case] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_configure(config: pytest.Config) -> None:
    """Make an error of each warning in the project's own tests, and start other runs of pytest with few plugins."""
    config.addinivalue_line("filterwarnings", "error")
    config.addinivalue_line(
        "markers",
        "weekly(but_one_in=N): run only with --weekly. With `but_one_in`, one in N of the cases of a parametrised test "
        "runs always. Choose an odd number, because cases often alternate between plain answers and streams.",
    )
    has_workers = bool(config.getoption("numprocesses", 0)) and not hasattr(config, "workerinput")
    if not has_workers:  # the workers of pytest-xdist run our own tests, and would take the options for theirs
        os.environ["PYTEST_ADDOPTS"] = LIGHT


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Set the options above again, which pytest's fixture of this name removes from the environment."""
    monkeypatch.setenv("PYTEST_ADDOPTS", LIGHT)
    return pytester


@pytest.fixture
def with_cache(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the runs that a test starts use the cache of pytest, which also keeps counterexamples."""
    monkeypatch.setenv("PYTEST_ADDOPTS", WITH_CACHE)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a directory that one process makes for all processes of pytest-xdist; the others wait for it."""
    own = factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / f"{name}.made").exists():
            make(shared / name)
            (shared / f"{name}.made").touch()
    return shared / name


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""

    def build(target: Path) -> None:
        target.mkdir(exist_ok=True)  # an attempt before this one may have failed
        built = sh(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", target, ROOT, cwd=target)
        assert built.returncode == 0, built.stdout + built.stderr

    (path,) = made_once(tmp_path_factory, "dist", build).glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a fresh environment and return the directory of its commands."""

    def install(environment: Path) -> None:
        # Without a pip of its own, which would take three of eleven seconds.
        venv.EnvBuilder(clear=True, symlinks=True).create(environment)
        pip = (sys.executable, "-m", "pip", f"--python={environment / 'bin' / 'python'}")
        done = sh(*pip, "install", "-q", wheel, "pytest-xdist", "pytest-split", cwd=environment)
        assert done.returncode == 0, done.stderr

    return made_once(tmp_path_factory, "environment", install) / "bin"


@pytest.fixture(scope="session")
def scenarios() -> list[Scenario]:
    """Return all scenarios of the suite. Loading them takes some seconds."""
    return lint.load_all([CASSETTES])


@pytest.fixture(scope="module")
def same_draw() -> Iterator[None]:
    """Draw the same for a seed in every run. Otherwise what is drawn depends on which tests have run before."""
    with without_local_constants():
        yield


@pytest.fixture(scope="module")
def interruptible() -> Iterator[None]:
    """Let Ctrl-C reach the processes that a test starts; a shell makes those in its background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def write_project(directory: Path) -> None:
    """Write the adapter of docs/start.md."""
    page = (ROOT / "docs" / "start.md").read_text("utf-8")
    (directory / "mypkg.py").write_text(page.split("```python\n")[1].split("```")[0])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a directory that holds only the adapter of docs/start.md."""
    write_project(tmp_path)
    return tmp_path


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait between attempts, and set the keys and the account variables of all providers."""
    monkeypatch.setattr(client, "LONGEST_WAIT_S", 0)
    for api in table().values():
        for name in api.key_variables:
            monkeypatch.setenv(name, standin.KEY)
        for name in api.url_variables.values():
            monkeypatch.setenv(name, "f" * 32)


def _ends_outside_in_utf16(message: str, start: int | None, end: int | None) -> bool:
    """Return True if a citation would end behind the text if its offsets counted UTF-16 units."""
    if start is None or end is None or start == end or "<" in message:  # the review reads a text without think tags
        return False
    shift = sum(each > "\uffff" for each in message[:start])
    return shift > 0 and end + shift > len(message)


@pytest.fixture(scope="session")
def chat() -> Scenario:
    """Return a scenario with a citation after a character that takes two UTF-16 code units."""
    api = table()["openai", "chat"]

    def cited(scenario: Scenario) -> bool:
        expected = scenario.expected["json"]
        return standin.has_counted_text(scenario) and any(
            _ends_outside_in_utf16(expected.message, each.start, each.end) for each in expected.annotations
        )

    return standin.written(api, cited, "citations")


@pytest.fixture
def provider(chat: Scenario, impatient: None) -> Iterator[StandIn]:
    with standin.standing_in(chat.api, chat.interactions) as running:
        yield running


@pytest.fixture
def cassette_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "cassettes"
    folder.mkdir()
    return folder
