"""The command `llm-conformance`. Its verb `run` starts pytest."""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from llm_conformance import __version__
from llm_conformance.cli.command import UsageError
from llm_conformance.wording import did_you_mean
from llm_conformance.yaml_files import BadFileError

USAGE_ERROR = 4


class _Command(NamedTuple):
    module: str
    help: str

    def load(self) -> Any:
        """Import the command's module (see `cli.command`)."""
        return importlib.import_module(f"llm_conformance.cli.{self.module}")


# Only the module of the called command is imported, because to import all of them takes seconds.
_COMMANDS: Mapping[str, _Command] = {
    "init": _Command("init", "write an adapter to fill in, a workflow and a file of known deviations"),
    "smoke": _Command("smoke", "check in two seconds that an adapter can be called"),
    "run": _Command("run", "judge an adapter, or a library of the field: pytest with the suite's own configuration"),
    "list": _Command("list", "list rules, scenarios, providers, capabilities or libraries"),
    "explain": _Command("explain", "explain a rule, with an example of a failure, a scenario, or how an API answers"),
    "report": _Command("report", "merge, compare or convert reports"),
    "record": _Command("record", "send a scenario's requests again and propose the responses"),
    "review": _Command("review", "show what proposed recordings change"),
    "accept": _Command("accept", "replace recordings by the proposed ones"),
    "reject": _Command("reject", "delete proposed recordings"),
    "age": _Command("age", "list recordings by age"),
    "corpus": _Command("corpus", "fetch recordings of providers from the source packages of other projects"),
    "server": _Command("server", "judge a server that claims to speak a provider's wire format"),
    "import": _Command("import_cassettes", "make scenarios from VCR cassettes of other projects"),
}


class _Parser(argparse.ArgumentParser):
    """A parser that exits with `USAGE_ERROR`, and suggests known names for unknown ones."""

    def error(self, message: str) -> NoReturn:
        choice = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if choice:
            message += did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2]))
        self.print_usage(sys.stderr)
        self.exit(USAGE_ERROR, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # its encoding may lack characters, especially on Windows
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = _Parser("llm-conformance", description="A conformance test suite for LLM response adapters.")
    parser.add_argument("--version", action="version", version=f"llm-conformance {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in _COMMANDS.items():
        subparser = commands.add_parser(name, help=command.help, allow_abbrev=False)
        if name in arguments:
            command.load().add_options(subparser)
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "run":
        subparser = commands.choices[options.command]
        known = re.findall(r"--[\w-]+", subparser.format_help())
        hint = next(filter(None, (did_you_mean(each.partition("=")[0], known) for each in rest)), "")
        subparser.error(f"unknown arguments: {' '.join(rest)}{hint}")
    options.pytest_arguments = rest
    try:
        code: int = _COMMANDS[options.command].load().run(options)
    except (UsageError, BadFileError) as error:
        print(f"llm-conformance: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print("\nllm-conformance: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # as in `llm-conformance list | head`
        sys.stderr.close()
        return 0
    except OSError as error:
        if error.filename is None and error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"llm-conformance: {where}{error.strerror}", file=sys.stderr)
        return USAGE_ERROR
    return code
