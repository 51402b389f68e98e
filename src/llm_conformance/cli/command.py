"""The commands of `llm-conformance`, one module each: `add_to` describes it to argparse, and names what runs it."""

from __future__ import annotations

import argparse
from typing import Any

Options = argparse.Namespace
Commands = Any
"""What `ArgumentParser.add_subparsers` returns; its class has no public name."""


class UsageError(Exception):
    """What the user has to change; the message says so."""
