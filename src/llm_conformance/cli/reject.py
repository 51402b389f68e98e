"""`llm-conformance reject`: delete proposed recordings."""

from __future__ import annotations

from llm_conformance.cli.cassette_dir import add_cassette_dir, cassette_dir_of, proposals_in
from llm_conformance.cli.command import Options, Parser
from llm_conformance.recording import proposals


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = "Delete proposed recordings. The present recordings stay."
    parser.add_argument("targets", nargs="*", metavar="SCENARIO", help="ids, or globs of ids; default: all proposals")
    add_cassette_dir(parser)


def run(options: Options) -> int:
    """Delete proposals."""
    cassette_dir = cassette_dir_of(options)
    found = proposals_in(cassette_dir, options.targets)
    if not found:
        print("there are no proposed recordings to reject")
    for each in found:
        proposals.reject(cassette_dir, each)
        print(f"rejected {each.id}")
    return 0
