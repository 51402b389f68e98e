"""`llm-conformance run`: judge adapters, or an installed library of the field (`library`)."""

from __future__ import annotations

import argparse

from llm_conformance.cli.command import Options, Parser
from llm_conformance.cli.run.start_pytest import start_pytest
from llm_conformance.locations import LIBRARIES
from llm_conformance.options import ADAPTER, OPTIONS


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "Judge adapters, or a library: `llm-conformance run litellm` (`llm-conformance list --libraries`). The options "
        "are those of pytest without the prefix `--conformance-`; all others are passed to pytest (-n 4, -x, "
        "--junitxml=FILE). In a GitHub workflow the result is added to the step summary."
    )
    for option in OPTIONS:
        # The `Reproduce` line of a failure has the long name of --adapter.
        names = [option.short_name, option.long_name] if option is ADAPTER else [option.short_name]
        parser.add_argument(*names, **{**option.arguments, "default": argparse.SUPPRESS})


def run(options: Options) -> int:
    """Run pytest; return its exit code. Raises UsageError."""
    adapters = getattr(options, ADAPTER.dest, None)
    here = {path.name for path in LIBRARIES.iterdir()}
    names = [each for each in options.pytest_arguments if each in here]
    if names or not adapters:
        from llm_conformance.cli.run import library  # slow: it loads what the files of libraries need

        if not adapters:
            return library.run_library(options)
        library.check_no_library(adapters, names)
    return start_pytest(options)
