"""What the modules of the commands share.

Each module has `add_options(parser)`, which adds the command's description and options, and `run(options)`, which runs
the command and returns the exit code.
"""

from __future__ import annotations

import argparse
from typing import Any

Options = argparse.Namespace
Parser = argparse.ArgumentParser


class Once(argparse.Action):
    """The action of an option that may be given only once. By default, argparse silently keeps the last value."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the value. Exits with a usage error if there is one already."""
        if getattr(namespace, self.dest) is not None:
            parser.error(f"argument {option_string}: is given twice; give it once")
        setattr(namespace, self.dest, values)


class UsageError(Exception):
    """The user has to change the command or a file; the message says what."""
