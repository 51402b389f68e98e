"""The table of options, from which pytest and `llm-conformance run` have theirs."""

from __future__ import annotations

import argparse

import pytest

from llm_conformance.cli import run
from llm_conformance.cli.run.start_pytest import options_for_pytest
from llm_conformance.locations import STARTED_AS
from llm_conformance.options import ADAPTER, OPTIONS, Option, as_typed


def given(*arguments: str) -> list[str]:
    """Return what `llm-conformance run` passes to pytest."""
    parser = argparse.ArgumentParser()
    run.add_options(parser)
    return list(options_for_pytest(parser.parse_args(["--adapter=mypkg", *arguments])))


@pytest.mark.parametrize("option", [each for each in OPTIONS if each is not ADAPTER], ids=lambda option: option.name)
def test_the_command_passes_an_option_to_pytest_under_its_long_name(option: Option) -> None:
    value = option.choices[0] if option.choices else "2.5"
    times = 2 if option.repeatable else 1
    passed = [f"--conformance-{option.name}={value}"] * times
    assert given(*[f"--{option.name}={value}"] * times) == ["--conformance-adapter=mypkg", *passed]


def test_options_that_are_not_given_are_not_passed() -> None:
    assert given() == ["--conformance-adapter=mypkg"]


def test_an_option_is_named_as_the_user_typed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STARTED_AS, raising=False)
    assert as_typed("rule") == "--conformance-rule"
    monkeypatch.setenv(STARTED_AS, "llm-conformance run")
    assert as_typed("rule") == "--rule"
