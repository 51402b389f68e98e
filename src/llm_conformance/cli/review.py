"""`llm-conformance review`, `accept` and `reject`: what becomes of recordings that were proposed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from llm_conformance.cli.cassette_dir import add_cassette_dir, cassette_dir_of, proposals_in
from llm_conformance.cli.command import Commands, Options, UsageError
from llm_conformance.recording import proposals
from llm_conformance.recording import review as reviewing
from llm_conformance.recording.review import Review
from llm_conformance.yaml_files import BadFileError


def add_to(commands: Commands) -> None:
    """Describe the commands."""
    for name, command, said in (
        ("review", review, "show what new recordings change: shape, truth, text"),
        ("accept", accept, "put new recordings in the place of the old ones, or where there were none"),
        ("reject", reject, "remove new recordings"),
    ):
        parser = commands.add_parser(name, help=said, description=f"{said[0].upper()}{said[1:]}.")
        parser.add_argument(
            "targets", nargs="*", metavar="SCENARIO", help="ids or globs of them; all, if there is none"
        )
        add_cassette_dir(parser)
        parser.set_defaults(command=command, passes_on=False)
        if name == "review":
            parser.add_argument("--markdown", action="store_true", help="for a step summary or a comment")
            parser.add_argument("--shape", action="store_true", help="the shape alone; exit code 1 if it has changed")
        if name == "accept":
            parser.add_argument("--yes", action="store_true", help="the truths have been looked at and are right")
            parser.add_argument("--errors", action="store_true", help="also errors that came instead of answers")


def review(options: Options, _rest: Sequence[str]) -> int:
    """Show what is proposed; return 1 if it cannot be accepted, or with `--shape`, if a shape has changed."""
    cassette_dir = cassette_dir_of(options)
    found = proposals_in(cassette_dir, options.targets)
    if not found:
        print("no recording waits for a review")
        return 0
    try:
        reviews = reviewing.review(cassette_dir, found, proposals.find(cassette_dir))
    except BadFileError as bad:
        raise UsageError(str(bad)) from bad
    for each in reviews:
        print("\n".join(_markdown(each, options.shape) if options.markdown else _plain(each, options.shape)))
    print(_counted(reviews))
    return int(any(each.shape or each.problems if options.shape else each.problems for each in reviews))


def accept(options: Options, _rest: Sequence[str]) -> int:
    """Put proposals in place, once the truths are confirmed."""
    cassette_dir = cassette_dir_of(options)
    found = proposals_in(cassette_dir, options.targets)
    if not found:
        print("no recording waits to be accepted")
        return 0
    failed = [each.id for each in found if each.notes.get("failed")]
    if failed and not options.errors:
        what = "an error came where an answer was wanted; reject it, or say --errors if that is what is to be shown"
        raise UsageError(f"{', '.join(failed)}: {what}")
    if not options.yes:
        _confirm(len(found))
    try:
        proposals.accept(cassette_dir, found)
    except BadFileError as bad:
        raise UsageError(f"{bad}\nnothing was accepted; mend the proposed scenario files, or reject them") from bad
    for each in found:
        print(f"accepted {each.id}")
    return 0


def reject(options: Options, _rest: Sequence[str]) -> int:
    """Remove proposals; the old recordings stay."""
    cassette_dir = cassette_dir_of(options)
    found = proposals_in(cassette_dir, options.targets)
    if not found:
        print("no recording waits to be rejected")
    for each in found:
        proposals.reject(each)
        print(f"rejected {each.id}")
    return 0


def _confirm(count: int) -> None:
    """Ask whether the truths are right. Raises Misuse unless they are."""
    what = "The truth of this recording was" if count == 1 else f"The truths of these {count} recordings were"
    try:
        answer = input(f"{what} derived from the bytes. Have you read it, and is it right? [y/N] ")
    except EOFError:
        raise UsageError("nobody is there to be asked; say --yes if the truths have been looked at") from None
    if answer.strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was accepted")


def _plain(each: Review, shape_only: bool) -> Iterator[str]:
    yield f"{each.id}{' (new)' if each.is_new else ''}"
    for title, lines in _parts(each):
        if lines and not (shape_only and title in ("text", "no longer stated")):
            yield f"  {title}"
            yield from (f"    {line}" for line in lines)
    if not each.is_new and not each.shape:
        yield "  the shape is as it was"
    yield ""


def _markdown(each: Review, shape_only: bool) -> Iterator[str]:
    yield f"### {each.id}{' (new)' if each.is_new else ''}"
    yield ""
    if not each.is_new and not each.shape:
        yield "The shape is as it was."
        yield ""
    for title, lines in _parts(each):
        if title == "text" and lines and not shape_only:
            fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
            yield from ("<details><summary>text</summary>", "", f"{fence}diff", *lines, fence, "", "</details>", "")
        elif title in ("text", "no longer stated") and shape_only:
            continue
        elif lines:
            yield f"**{title}**"
            yield ""
            yield from (f"* `{line.replace('`', chr(39))}`" for line in lines)
            yield ""


def _parts(each: Review) -> Iterator[tuple[str, Sequence[str]]]:
    yield "the recorder says", each.remarks
    yield "the shape has changed", each.shape
    yield "no longer stated", [f"{key}: write it by hand if the scenario is to show it" for key in each.dropped]
    yield "cannot be accepted", each.problems
    yield "the reference adapter disagrees", each.disagreements
    yield "text", each.text


def _counted(reviews: Sequence[Review]) -> str:
    changed = sum(bool(each.shape) for each in reviews)
    refused = sum(bool(each.problems) for each in reviews)
    return f"{len(reviews)} to review, {changed} of another shape, {refused} not acceptable"
