"""The pytest plugin: options, and collection of the rules. Everything heavy waits until an adapter is named.

Projects that have the suite installed and do not use it see nothing of it: `--adapter` is only added when it is on the
command line and nobody else has defined it; `--conformance-adapter` is the alias that always works.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.locations import COMMAND, PACKAGED, ROOT, RULES
from llm_conformance.options import TIMEOUT_S

_METHODS = ("complete", "stream", "parse", "parse_stream")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that cannot clash with anybody's."""
    group = parser.getgroup("conformance", "llm-conformance")
    group.addoption(
        "--conformance-adapter",
        dest="conformance_adapter",
        action="append",
        metavar="SPEC",
        help="adapter to be judged (alias --adapter): package, package:attribute, file.py, or `adapters`; repeatable",
    )
    group.addoption(
        "--conformance-provider",
        action="append",
        default=[],
        metavar="P[:API]",
        help="only scenarios of this provider; repeatable",
    )
    group.addoption(
        "--conformance-scenario",
        action="append",
        default=[],
        metavar="GLOB",
        help="only scenarios whose id (provider/name) matches; repeatable",
    )
    group.addoption(
        "--conformance-rule", action="append", default=[], metavar="ID", help="only this invariant; repeatable"
    )
    group.addoption(
        "--conformance-method",
        action="append",
        default=[],
        choices=_METHODS,
        help="only this method of the adapter; repeatable",
    )
    group.addoption(
        "--conformance-cassettes",
        action="append",
        default=[],
        metavar="DIR",
        help="more scenarios, beside the suite's own; repeatable",
    )
    group.addoption(
        "--conformance-transport",
        choices=("server", "vcr"),
        default="server",
        help="how recordings are replayed: by a server on the loopback (default), or in the process itself, for "
        "libraries that let nobody change their URL",
    )
    group.addoption(
        "--conformance-arrival",
        choices=("frames", "recorded"),
        default="frames",
        help="how streams are handed over: frame by frame (default), or in the pieces and at the pace in which they "
        "came when they were recorded, where that is known",
    )
    group.addoption(
        "--conformance-examples",
        default="quick",
        metavar="N",
        help="how many generated examples each property gets: a number, `quick` (the default), `ci` (the same ones in "
        "every run), `deep` (for a night); 0 for none",
    )
    group.addoption(
        "--conformance-deviations",
        action="append",
        default=[],
        metavar="FILE",
        help="known deviations (TOML): what they name may fail, with a reason; repeatable",
    )
    group.addoption(
        "--conformance-write-deviations",
        metavar="FILE",
        help="write what fails in this run as a file of known deviations, its reasons to be filled in",
    )
    group.addoption(
        "--conformance-report",
        action="append",
        default=[],
        metavar="FILE",
        help="write a report; the suffix decides (.json, .html, .md, .svg); repeatable",
    )
    group.addoption(
        "--conformance-record",
        action="append",
        default=[],
        metavar="SCENARIO",
        help="judge nobody: ask the provider again for these scenarios, as `llm-conformance record` does; repeatable",
    )
    group.addoption(
        "--conformance-record-yes", action="store_true", help="with --conformance-record: do not ask before spending"
    )
    group.addoption(
        "--conformance-timeout",
        type=float,
        default=TIMEOUT_S,
        metavar="SECONDS",
        help=f"how long one call of the adapter may take (default {TIMEOUT_S:g})",
    )


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Record instead of running tests, if that is asked for."""
    wanted: list[str] = config.getoption("conformance_record")
    if not wanted:
        return None
    from llm_conformance.cli import main

    where: list[str] = config.getoption("conformance_cassettes")
    if len(where) > 1:
        raise pytest.UsageError("--conformance-record: say in one --conformance-cassettes where the recordings go")
    options = [f"--cassettes={directory}" for directory in where]
    options += ["--yes"] * config.getoption("conformance_record_yes")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)  # somebody is asked before money is spent
    try:
        return main.main(["record", *wanted, *options])
    finally:
        if capture is not None:
            capture.resume_global_capture()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser, args: list[str]) -> Generator[None, Any, Any]:
    """Add `--adapter`, once it is known that the user asks for it and that no conftest has one of its own."""
    result = yield
    wanted = any(argument == "--adapter" or argument.startswith("--adapter=") for argument in args)
    if wanted and _is_free(parser, "--adapter"):
        parser.getgroup("conformance").addoption("--adapter", dest="conformance_adapter", action="append")
    return result


def _is_free(parser: pytest.Parser, option: str) -> bool:
    """Whether nobody has defined the option; a project's own keeps its meaning."""
    probe = f"{option}=probe"
    try:
        _, unknown = parser.parse_known_and_unknown_args([probe])
    except (Exception, SystemExit):
        return False  # defined, and choosy about its value
    return probe in unknown


def pytest_configure(config: pytest.Config) -> None:
    """Load the machinery if an adapter is named."""
    if config.getoption("conformance_adapter"):
        from llm_conformance.pytest_plugin.session import ConformanceSession

        config.pluginmanager.register(ConformanceSession(config), ConformanceSession.NAME)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Refuse to judge nobody."""
    config = session.config
    if _wants_a_wheel(config):
        raise pytest.UsageError(f"llm_conformance runs from a clone here; its rules are `{COMMAND}` in {ROOT}")
    if not config.getoption("conformance_adapter") and any(_names_the_rules(config, arg) for arg in config.args):
        raise pytest.UsageError(
            f"no adapter named; say which: {COMMAND} --adapter=mypkg (the reference adapters are --adapter=adapters; "
            "where --adapter is taken, --conformance-adapter says the same)"
        )


def _wants_a_wheel(config: pytest.Config) -> bool:
    return not PACKAGED and bool(config.getoption("pyargs")) and "llm_conformance" in config.args


def _names_the_rules(config: pytest.Config, argument: str) -> bool:
    name = argument.partition("::")[0]
    if config.getoption("pyargs") and name.partition(".")[0] == "llm_conformance":
        return True
    path = (config.invocation_params.dir / name).resolve()
    return path == RULES or path.parent == RULES


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of the installed package, collect the rules and nothing else, whatever the project's own settings say."""
    if not PACKAGED or not collection_path.is_relative_to(ROOT) or _is_rule_module(collection_path):
        return None
    return collection_path not in (ROOT, RULES)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect a rule module our own way, even where `python_files` would not find it."""
    collected = yield
    if not _is_rule_module(file_path):
        return collected
    session = parent.config.pluginmanager.get_plugin("conformance-session")
    return [] if session is None else [session.rule_module(file_path, parent)]


def _is_rule_module(path: Path) -> bool:
    return path.parent == RULES and path.suffix == ".py" and path.name.startswith("test_")
