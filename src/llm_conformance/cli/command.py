"""What the modules of the commands share.

A module has `add_options(parser)`, which adds its description and its options, and `run(options)`, which returns the
exit code.
"""

from __future__ import annotations

import argparse

Options = argparse.Namespace
Parser = argparse.ArgumentParser


class UsageError(Exception):
    """The user has to change the command or a file; the message says what."""
