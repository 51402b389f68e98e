"""`llm-conformance server`: judge a server that claims to speak a provider's wire format."""

from __future__ import annotations

from pathlib import Path

from llm_conformance import editions
from llm_conformance.cli.command import Once, Options, Parser
from llm_conformance.cli.server import deviations, reports
from llm_conformance.cli.server.asking import ask, check_effort, check_keep
from llm_conformance.cli.server.shown import command_of, show, show_bytes
from llm_conformance.cli.server.target import chosen_by, free_capabilities, rules_of, target_of
from llm_conformance.server import plan
from llm_conformance.server import run as server_run
from llm_conformance.server.apis.known import APIS
from llm_conformance.server.judge import judge
from llm_conformance.server.reports import terminal
from llm_conformance.server.reports.result import Result, document
from llm_conformance.wire.interaction import MODES


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = (
        "Ask a server a set of conversations, plain and streamed, and judge the bytes of its answers by the "
        "documentation of the wire format that it claims to speak. What the model says is not judged."
    )
    parser.add_argument("url", nargs="?", metavar="URL", help="the base URL, such as http://localhost:8080/v1")
    parser.add_argument("--api", choices=list(APIS), default="chat", help="the wire format")
    parser.add_argument("--model", action=Once, metavar="NAME", help="the name of the model in requests")
    parser.add_argument("--key-env", action=Once, metavar="VAR", help="the environment variable that has the key")
    parser.add_argument(
        "--capabilities",
        nargs="*",
        default=[],
        metavar="NAME",
        help=f"what the server claims besides the format itself: {', '.join(free_capabilities())}; `all` for all",
    )
    parser.add_argument(
        "--context", type=int, default=0, metavar="TOKENS", help="the context of the model: ask for more"
    )
    parser.add_argument("--max-calls", type=int, default=100, metavar="N", help="refuse to send more requests (100)")
    parser.add_argument("--max-tokens", type=int, default=256, metavar="N", help="the limit of each answer (256)")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="for each answer, in seconds (60)")
    parser.add_argument(
        "--token-limit",
        choices=("max_tokens", "max_completion_tokens"),
        default="",
        help="the field of a chat request that has the limit (max_tokens)",
    )
    parser.add_argument(
        "--header", action="append", default=[], metavar="NAME=VALUE", help="a further header, no secret; repeatable"
    )
    parser.add_argument("--params", default="{}", metavar="JSON", help="further fields of every request")
    parser.add_argument(
        "--reasoning-params", default="{}", metavar="JSON", help="further fields of requests that ask for reasoning"
    )
    parser.add_argument("--conversation", action="append", default=[], metavar="GLOB", help="only these; repeatable")
    parser.add_argument("--mode", choices=MODES, help="only plain (json) or streamed answers")
    parser.add_argument("--rule", action="append", default=[], metavar="ID", help="only these rules; repeatable")
    parser.add_argument(
        "--edition",
        choices=editions.EDITIONS,
        default=editions.CURRENT,
        help="what is newer is judged and shown as `new`, and does not fail the run (default: the newest)",
    )
    parser.add_argument("--deviations", type=Path, metavar="FILE", help="a file of known deviations")
    parser.add_argument(
        "--write-deviations",
        type=Path,
        metavar="FILE",
        help="write the failures to a new file of known deviations, without their reasons",
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the answers, without keys, in a new directory")
    parser.add_argument("--replay", type=Path, metavar="DIR", help="judge kept answers, without the server")
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FILE",
        help="write a report; the suffix is .json, .html, .md or .svg; repeatable",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the requests without sending them")
    parser.add_argument("--yes", action="store_true", help="do not ask before sending requests to another machine")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the bytes of failing answers")


def run(options: Options) -> int:
    """Judge a server.

    | code | meaning |
    |---|---|
    | 0 | nothing fails |
    | 1 | a rule fails, a known deviation is stale, or answers could not be judged and no failure says why |
    | 4 | the command or a file is wrong, or there is no such server |
    | 5 | nothing was judged |
    """
    target = target_of(options)
    chosen = chosen_by(target, options.conversation)
    rules = rules_of(options.rule)
    known = deviations.known(options.deviations, target)
    check_keep(options)
    deviations.check(options.write_deviations)
    paths = reports.checked(options.report)
    if options.replay is not None:
        kept = server_run.recordings_of(options.replay, target)
    else:
        requests = list(plan.requests(target, plan.with_companions(target.api, chosen)))
        if options.dry_run:
            show(target, requests, bool(options.key_env))
            return 0
        check_effort(requests, options)
        reports.remove_badges(paths)
        kept = ask(target, requests, options)
    modes = (options.mode,) if options.mode else MODES
    judgement = judge(target, chosen, kept, rules, known, modes, options.edition)
    result = Result(target, judgement, tuple(command_of(options, target)), kept)
    for line in terminal.text(result):
        print(line)
    if options.verbose:
        show_bytes(result, kept)
    if options.write_deviations is not None:
        print(deviations.written(options.write_deviations, target, judgement))
    reports.write(paths, document(result))
    return result.exit_code
