"""`llm-conformance accept`: replace recordings with the proposed ones."""

from __future__ import annotations

from llm_conformance.cli.cassette_dir import add_cassette_dir, cassette_dir_of, proposals_in
from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.recording import proposals
from llm_conformance.yaml_files import BadFileError


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = "Replace recordings and scenario files by the proposed ones, or add new ones: all or none."
    parser.add_argument("targets", nargs="*", metavar="SCENARIO", help="ids, or globs of ids; default: all proposals")
    parser.add_argument("--yes", action="store_true", help="do not ask: the expected values were read and are right")
    parser.add_argument("--errors", action="store_true", help="accept error responses where an answer was wanted")
    add_cassette_dir(parser)


def run(options: Options) -> int:
    """Accept proposals after the user has confirmed their expected values."""
    cassette_dir = cassette_dir_of(options)
    found = proposals_in(cassette_dir, options.targets)
    if not found:
        print("there are no proposed recordings to accept")
        return 0
    failed = [each.id for each in found if each.notes.get("failed")]
    if failed and not options.errors:
        raise UsageError(
            f"{', '.join(failed)}: the provider answered with an error; reject the proposal, or use --errors if the "
            "scenario is about that error"
        )
    if not options.yes:
        _confirm(len(found))
    try:
        proposals.accept(cassette_dir, found)
    except BadFileError as bad:
        raise UsageError(f"{bad}\nnothing was accepted; correct the proposed scenario files, or reject them") from bad
    for each in found:
        print(f"accepted {each.id}")
    return 0


def _confirm(count: int) -> None:
    """Ask whether the expected values are right. Raises UsageError unless the user says yes."""
    whose = "this recording" if count == 1 else f"these {count} recordings"
    try:
        answer = input(f"The expected values of {whose} were derived from the bytes. Are they right? [y/N] ")
    except EOFError:
        raise UsageError("cannot ask without a terminal; use --yes if you have read the expected values") from None
    if answer.strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was accepted")
