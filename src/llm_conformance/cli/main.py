"""The command `llm-conformance`: everything around a run. The run itself is pytest's."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from llm_conformance import __version__
from llm_conformance.cli import age, explain, import_cassettes, init, list_scenarios, record, report, review, run, smoke
from llm_conformance.cli.command import UsageError

USAGE_ERROR = 4
_COMMANDS = (init, smoke, run, list_scenarios, explain, report, record, review, age, import_cassettes)


class _Parser(argparse.ArgumentParser):
    """Ends with the contract's exit code for misuse."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE_ERROR, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    parser = _Parser("llm-conformance", description="A conformance test suite for LLM response adapters.")
    parser.add_argument("--version", action="version", version=f"llm-conformance {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for each in _COMMANDS:
        each.add_to(commands)
    options, rest = parser.parse_known_args(arguments)
    if rest and not options.passes_on:
        parser.error(f"unknown arguments: {' '.join(rest)}")
    try:
        code: int = options.command(options, rest)
    except UsageError as misuse:
        print(f"llm-conformance: {misuse}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print("\nllm-conformance: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # somebody has seen enough: `llm-conformance list | head`
        sys.stderr.close()
        return 0
    return code
