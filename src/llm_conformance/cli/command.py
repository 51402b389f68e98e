"""What the modules of the commands share.

A module has `add_options(parser)`, which adds its description and its options, and `run(options)`, which returns the
exit code.
"""

from __future__ import annotations

import argparse
from typing import Any

Options = argparse.Namespace
Parser = argparse.ArgumentParser


class Once(argparse.Action):
    """The action of an option that may be given only once; argparse itself keeps the last value without a word."""

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
