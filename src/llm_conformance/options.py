"""The options of a run: `--conformance-NAME` for pytest, `--NAME` for `llm-conformance run`.

pytest imports this module in every project that has the suite installed, so it imports nothing heavy.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llm_conformance.editions import CURRENT, FIRST
from llm_conformance.locations import STARTED_AS

TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        name: The name without a prefix.
        help: What the option does; `arguments` adds whether it is repeatable.
        kind: A function that converts the value. It raises ValueError for a bad one.
        is_flag: Whether the option takes no value.
    """

    name: str
    help: str
    metavar: str | None = None
    repeatable: bool = False
    default: str | float | None = None
    choices: tuple[str, ...] = ()
    kind: Callable[[str], str | float] = str
    is_flag: bool = False

    @property
    def long_name(self) -> str:
        """The option for pytest."""
        return f"--conformance-{self.name}"

    @property
    def short_name(self) -> str:
        """The option for `llm-conformance run`."""
        return f"--{self.name}"

    @property
    def dest(self) -> str:
        """The attribute that holds the value, for both parsers."""
        return self.long_name.removeprefix("--").replace("-", "_")

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments for `argparse.ArgumentParser.add_argument` and `pytest.Parser.addoption`."""
        shared: dict[str, Any] = {"dest": self.dest}
        if self.is_flag:
            return {**shared, "action": "store_true", "help": self.help}
        if self.choices:
            shared["choices"] = self.choices
        else:
            shared |= {"metavar": self.metavar, "type": self.kind}
        if self.repeatable:
            return {**shared, "action": "append", "default": [], "help": f"{self.help}; repeatable"}
        return {**shared, "default": self.default, "help": self.help}


ADAPTER = Option(
    "adapter",
    "adapter under test: package, package:attribute, file.py, an entry point, cmd:PROGRAM, gateway:FILE.toml, a "
    "library that `llm-conformance list --libraries` lists, or `adapters`",
    metavar="SPEC",
    repeatable=True,
)

OPTIONS = (
    ADAPTER,
    Option("provider", "run only the scenarios of this provider", metavar="P[:API]", repeatable=True),
    Option("scenario", "run only the scenarios whose id (provider/name) matches", metavar="GLOB", repeatable=True),
    Option("rule", "apply only the rules whose id matches", metavar="GLOB", repeatable=True),
    Option(
        "method",
        "call only this method of the adapter",
        repeatable=True,
        choices=("complete", "stream", "parse", "parse_stream"),
    ),
    Option(
        "cuts",
        "the only way in which rules that try many ways to cut a stream cut it: at these byte offsets (12,57), after "
        "every so many bytes (/3), or `none`; the command that reproduces such a failure has it",
        metavar="N,N",
        default="",
    ),
    Option(
        "cassettes",
        "directory of further scenarios and recordings, in addition to the suite's own",
        metavar="DIR",
        repeatable=True,
    ),
    Option(
        "corpus",
        "recordings to judge by, in addition: `public`, those that `llm-conformance corpus fetch` has fetched, of the "
        "providers that an adapter lists; or a directory, as with `cassettes`",
        metavar="public|DIR",
        repeatable=True,
    ),
    Option(
        "transport",
        "how recordings are replayed: `server` (the default), a server on the loopback interface; or `vcr`, within the "
        "process, for libraries that do not let users set the URL",
        default="server",
        choices=("server", "vcr"),
    ),
    Option(
        "isolation",
        "where the adapter runs: `namespace`, in a process with a network of its own, which the Linux kernel guards; "
        "`process`, in a process of its own; `none`, in this process, for debuggers and coverage; or `auto` (the "
        "default), the first of these that is possible here",
        default="auto",
        choices=("auto", "namespace", "process", "none"),
    ),
    Option(
        "arrival",
        "how streams arrive: `frames` (the default), one frame at a time; or `recorded`, in the pieces and at the pace "
        "of the recording, where these are known",
        default="frames",
        choices=("frames", "recorded"),
    ),
    Option(
        "examples",
        "how many generated inputs are tried for each API, method and kind of input: `quick` (25, the default) or `ci` "
        "(100, for gates), which are the same in every run; `deep` (5,000, for a night) or a number, which are others "
        "in every run; or 0 for none",
        metavar="N",
        default="quick",
    ),
    Option(
        "probes",
        "scenarios that no provider is known to send: `apart` (the default), a failing one does not fail the run; or "
        "`judge`, they are judged as all others",
        default="apart",
        choices=("apart", "judge"),
    ),
    Option(
        "edition",
        f"an edition of the suite, such as {FIRST}; what is newer is judged and shown as `new`, and does not fail the "
        "run (default: the newest)",
        metavar="X.Y",
        default=CURRENT,
    ),
    Option("deviations", "TOML file of known deviations, the cells that may fail", metavar="FILE", repeatable=True),
    Option(
        "write-deviations",
        "write the failures of this run to a new file of known deviations, without their reasons",
        metavar="FILE",
    ),
    Option("report", "write a report; the suffix is .json, .html, .md or .svg", metavar="FILE", repeatable=True),
    Option(
        "timeout",
        f"seconds that one call of the adapter may take (default {TIMEOUT_S:g})",
        metavar="SECONDS",
        default=TIMEOUT_S,
        kind=float,
    ),
)

RECORD_OPTIONS = (
    Option(
        "record",
        "do not judge; record this scenario again, as `llm-conformance record` does",
        metavar="SCENARIO",
        repeatable=True,
    ),
    Option("record-yes", "with --conformance-record: do not ask before spending money", is_flag=True),
)
"""The options that only pytest has."""

DEFAULTS = {option.name: option.default for option in OPTIONS}


def as_typed(name: str) -> str:
    """Return an option as the user types it: short if `llm-conformance run` started pytest, else long."""
    return f"--{name}" if STARTED_AS in os.environ else f"--conformance-{name}"
