"""The pytest plugin: the options, and the collection of the rules.

The plugin imports nothing heavy until an adapter is named, so that it costs nothing in projects that have the suite
installed but do not use it. It adds the short option `--adapter` only if that is on the command line and no conftest.py
defines it. The alias `--conformance-adapter` always works.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_conformance.locations import COMMAND, PACKAGED, ROOT, RULES, STARTED_AS
from llm_conformance.options import ADAPTER, OPTIONS, RECORD_OPTIONS
from llm_conformance.wording import did_you_mean


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options with the prefix `--conformance-`, which no other plugin has."""
    if STARTED_AS in os.environ:
        parser.prog = os.environ[STARTED_AS]  # the name of the program in pytest's usage errors
    group = parser.getgroup("conformance", "llm-conformance")
    for option in (*OPTIONS, *RECORD_OPTIONS):
        arguments = option.arguments
        if option is ADAPTER:
            arguments["help"] += f" (alias: {ADAPTER.short_name})"
        group.addoption(option.long_name, **arguments)


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Record scenarios instead of running tests, if `--conformance-record` is given."""
    wanted: list[str] = config.getoption("conformance_record")
    if not wanted:
        return None
    from llm_conformance.cli import main

    cassette_dirs: list[str] = config.getoption("conformance_cassettes")
    if len(cassette_dirs) > 1:
        raise pytest.UsageError(
            "--conformance-record: name one directory for the recordings, --conformance-cassettes=DIR"
        )
    arguments = [f"--cassettes={directory}" for directory in cassette_dirs]
    arguments += ["--yes"] * config.getoption("conformance_record_yes")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:
        capture.suspend_global_capture(in_=True)  # the command asks the user for consent before it spends money
    try:
        return main.main(["record", *wanted, *arguments])
    finally:
        if capture is not None:
            capture.resume_global_capture()


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> Generator[None, int, int]:
    """Return the number of workers for `-n auto`: 1.5 times as many as usual if an adapter is judged.

    A worker often waits for the process of its adapter, or for servers that fall silent. The number in pytest-xdist's
    environment variable takes precedence.
    """
    workers = yield
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or not config.getoption("conformance_adapter"):
        return workers
    return workers + (workers + 1) // 2


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser, args: list[str]) -> Generator[None, Any, Any]:
    """Add `--adapter` if the user gives it and no conftest.py defines it. Raises UsageError for misspelt options."""
    result = yield
    option = ADAPTER.short_name
    wanted = any(argument.partition("=")[0] == option for argument in args)
    if wanted and not _is_defined(parser, option):
        parser.getgroup("conformance").addoption(option, **ADAPTER.arguments)
    problems = list(_unknown_options(parser, args))
    if problems:
        raise pytest.UsageError("\n".join(problems))
    return result


def _unknown_options(parser: pytest.Parser, args: list[str]) -> Iterator[str]:
    """Yield a message for each unknown option that is similar to one of the suite's."""
    try:
        _, unknown = parser.parse_known_and_unknown_args(args)
    except (Exception, SystemExit):
        return  # pytest reports it later
    as_run = STARTED_AS in os.environ
    known = [option.short_name if as_run else option.long_name for option in OPTIONS]
    for argument in unknown:
        name = argument.partition("=")[0]
        hint = did_you_mean(name, known) if name.startswith("--") else ""
        if hint:
            yield f"no such option: {name}{hint}"


def _is_defined(parser: pytest.Parser, option: str) -> bool:
    probe = f"{option}=probe"
    try:
        _, unknown = parser.parse_known_and_unknown_args([probe])
    except (Exception, SystemExit):
        return True  # the option is defined, but `probe` is not a valid value of it
    return probe not in unknown


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugins that judge, if an adapter is named."""
    if config.getoption("conformance_adapter"):
        from llm_conformance.pytest_plugin.brief import BriefTerminal
        from llm_conformance.pytest_plugin.garbage import Garbage
        from llm_conformance.pytest_plugin.idle_hypothesis import IdleHypothesis
        from llm_conformance.pytest_plugin.junit import JUnitNames
        from llm_conformance.pytest_plugin.outcome import RunOutcome
        from llm_conformance.pytest_plugin.session import ConformanceSession

        config.pluginmanager.register(Garbage(), Garbage.NAME)
        session = ConformanceSession(config)
        config.pluginmanager.register(session, ConformanceSession.NAME)
        config.pluginmanager.register(RunOutcome(config, session.run), RunOutcome.NAME)
        config.pluginmanager.register(JUnitNames(config), JUnitNames.NAME)
        config.pluginmanager.register(BriefTerminal(), BriefTerminal.NAME)
        config.pluginmanager.register(IdleHypothesis(), IdleHypothesis.NAME)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Make `--pyargs llm_conformance` find a clone's rules. Raises UsageError if rules but no adapter are named."""
    config = session.config
    if config.getoption("pyargs"):
        config.args = [_rules_in_a_clone(argument) or argument for argument in config.args]
    if not config.getoption("conformance_adapter") and any(_names_the_rules(config, each) for each in config.args):
        raise pytest.UsageError(
            f"no adapter named; name yours with --adapter: {COMMAND} --adapter=mypkg. --adapter=adapters judges the "
            "reference adapters. If another plugin defines --adapter, use --conformance-adapter."
        )


def _rules_in_a_clone(argument: str) -> str | None:
    """Return the path of the rules that `llm_conformance` or `llm_conformance.conformance.MODULE` names in a clone.

    In a wheel the rules are part of the package, where pytest finds them by itself.
    """
    module, separator, test = argument.partition("::")
    package, *names = module.split(".")
    if PACKAGED or package != "llm_conformance" or names[:1] not in ([], [RULES.name]):
        return None
    path = RULES.joinpath(*names[1:])
    return f"{path.with_suffix('.py') if names[1:] else path}{separator}{test}"


def _names_the_rules(config: pytest.Config, argument: str) -> bool:
    name = argument.partition("::")[0]
    if config.getoption("pyargs") and name.partition(".")[0] == "llm_conformance":
        return True
    path = (config.invocation_params.dir / name).resolve()
    return path == RULES or path.parent == RULES


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """In an installed suite, collect only the rules, even if the project's own settings differ."""
    if not PACKAGED or not collection_path.is_relative_to(ROOT) or _is_rule_module(collection_path):
        return None
    return collection_path not in (ROOT, RULES)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect the modules of rules, even if the project's `python_files` does not match them."""
    collected = yield
    if not _is_rule_module(file_path):
        return collected
    session = parent.config.pluginmanager.get_plugin("conformance-session")
    return [] if session is None else [session.rule_module(file_path, parent)]


def _is_rule_module(path: Path) -> bool:
    return path.parent == RULES and path.suffix == ".py" and path.name.startswith("test_")
