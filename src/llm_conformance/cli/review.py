"""`llm-conformance review`: show what proposed recordings change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from llm_conformance.cli.cassette_dir import add_cassette_dir, cassette_dir_of, proposals_in
from llm_conformance.cli.command import Options, Parser, UsageError
from llm_conformance.recording import proposals
from llm_conformance.recording.review import Review, review
from llm_conformance.yaml_files import BadFileError

_DIFFERENCE, _DROPPED = "the text", "no longer stated"


def add_options(parser: Parser) -> None:
    """Describe the command."""
    parser.description = "Show what proposed recordings change: the shape of the responses, expected values, text."
    parser.add_argument("targets", nargs="*", metavar="SCENARIO", help="ids, or globs of ids; default: all proposals")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for a step summary or a comment")
    parser.add_argument("--shape", action="store_true", help="show the shape only; exit code 1 if one has changed")
    add_cassette_dir(parser)


def run(options: Options) -> int:
    """Print the reviews; return 1 if a proposal cannot be accepted or, with `--shape`, if a shape has changed."""
    cassette_dir = cassette_dir_of(options)
    found = proposals_in(cassette_dir, options.targets)
    if not found:
        print("there are no proposed recordings to review")
        return 0
    try:
        reviews = review(cassette_dir, found, proposals.find(cassette_dir))
    except BadFileError as bad:
        raise UsageError(str(bad)) from bad
    for each in reviews:
        print("\n".join(_markdown(each, options.shape) if options.markdown else _plain(each, options.shape)))
    changed = sum(bool(each.shape) for each in reviews)
    unacceptable = sum(bool(each.problems) for each in reviews)
    print(f"{len(reviews)} to review, {changed} with another shape, {unacceptable} that cannot be accepted")
    return int(bool(unacceptable or (options.shape and changed)))


def _plain(review: Review, shape_only: bool) -> Iterator[str]:
    yield _title(review)
    for title, lines in _parts(review, shape_only):
        yield f"  {title}"
        yield from (f"    {line}" for line in lines)
    if not review.is_new and not review.shape:
        yield "  the shape is unchanged"
    yield ""


def _markdown(review: Review, shape_only: bool) -> Iterator[str]:
    yield f"### {_title(review)}"
    yield ""
    if not review.is_new and not review.shape:
        yield "The shape is unchanged."
        yield ""
    for title, lines in _parts(review, shape_only):
        if title == _DIFFERENCE:
            fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
            yield from ("<details><summary>text</summary>", "", f"{fence}diff", *lines, fence, "", "</details>", "")
        else:
            yield f"**{title}**"
            yield ""
            yield from (f"* `{line.replace('`', chr(39))}`" for line in lines)
            yield ""


def _title(review: Review) -> str:
    return f"{review.id} (new)" if review.is_new else review.id


def _parts(review: Review, shape_only: bool) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the parts of a review that have something to show, each with a title."""
    parts = {
        "notes of the recorder": review.remarks,
        "the shape has changed": review.shape,
        _DROPPED: [f"{key}: write it by hand if the scenario needs it" for key in review.dropped],
        "cannot be accepted": review.problems,
        "the reference adapter disagrees": review.disagreements,
        _DIFFERENCE: review.text,
    }
    for title, lines in parts.items():
        if lines and not (shape_only and title in (_DIFFERENCE, _DROPPED)):
            yield title, lines
